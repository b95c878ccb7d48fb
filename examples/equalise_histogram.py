"""Histogram equalisation of an image: a histogram, its running sum, and a look-up of every pixel."""

import numpy as np

import polymat as pm
from polymat import (
    Case,
    Cast,
    Condition,
    Float,
    Function,
    Int,
    Interval,
    Op,
    Parameter,
    Reduce,
    Reduction,
    UChar,
    Variable,
)

R, C = Parameter(Int, "R"), Parameter(Int, "C")
image = pm.Image(UChar, "image", [R, C])
x, y, level = (Variable(Int, name) for name in ("x", "y", "level"))
rows, columns, levels = Interval(Int, 0, R - 1), Interval(Int, 0, C - 1), Interval(Int, 0, 255)

# How many pixels have each level: the place that one is added to is the pixel itself, 0 to 255.
counts = Reduction(([level], [levels]), ([x, y], [rows, columns]), Int, "counts")
counts.defn = [Reduce(counts(image(x, y)), 1, Op.Sum)]

# How many have that level or a lower one.
below = Function(([level], [levels]), Int, "below")
below.defn = [
    Case(Condition(level, "==", 0), counts(level)),
    Case(Condition(level, ">", 0), below(level - 1) + counts(level)),
]

# The share of them, as a level; and each pixel looked up in that.
curve = Function(([level], [levels]), UChar, "curve")
curve.defn = [Cast(UChar, Cast(Float, below(level)) * 255 / Cast(Float, R * C))]
equalised = Function(([x, y], [rows, columns]), UChar, "equalised")
equalised.defn = [curve(image(x, y))]

equalise = pm.compile(equalised, inputs=[image])


def equalise_numpy(image: np.ndarray) -> np.ndarray:
    """The same by NumPy."""
    below = np.cumsum(np.bincount(image.ravel(), minlength=256)).astype(np.float32)
    found: np.ndarray = (below * np.float32(255) / np.float32(image.size)).astype(np.uint8)[image]
    return found


rng = np.random.default_rng(0)
dark = np.clip(rng.normal(60, 12, (480, 640)), 0, 255).astype(np.uint8)
bright = equalise(dark)
assert np.array_equal(bright, equalise_numpy(dark))
for name, picture in (("before", dark), ("after", bright)):
    low, middle, high = np.percentile(picture, (5, 50, 95))
    print(f"{name:>6}: 5 % below {low:.0f}, half below {middle:.0f}, 95 % below {high:.0f}")
