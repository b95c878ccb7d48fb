"""Unsharp mask of a colour image: blurred down and across, and sharpened where that makes a difference."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between, photograph
from polymat import Abs, Condition, Float, Function, Image, Parameter, Select

WEIGHTS = (0.0625, 0.25, 0.375, 0.25, 0.0625)
BORDER = 2
ROUNDING = 1e-6


def build() -> Description:
    """Describe the pipeline; the image has two zeros on each side."""
    R, C = sizes = parameters("R C")
    threshold, weight = Parameter(Float, "threshold"), Parameter(Float, "weight")
    c, x, y = variables("c x y")
    image = Image(Float, "image", [3, R + 2 * BORDER, C + 2 * BORDER])
    planes, rows, columns = between(0, 2), between(2, R + 1), between(2, C + 1)

    down = Function(([c, x, y], [planes, rows, between(0, C + 3)]), Float, "down")
    down.defn = [sum(w * image(c, x + k - 2, y) for k, w in enumerate(WEIGHTS))]
    blur = Function(([c, x, y], [planes, rows, columns]), Float, "blur")
    blur.defn = [sum(w * down(c, x, y + k - 2) for k, w in enumerate(WEIGHTS))]
    sharp = Function(([c, x, y], [planes, rows, columns]), Float, "sharp")
    sharp.defn = [image(c, x, y) * (1 + weight) + blur(c, x, y) * -weight]
    mask = Function(([c, x, y], [planes, between(0, R - 1), between(0, C - 1)]), Float, "mask")
    here = image(c, x + 2, y + 2)
    alike = Condition(Abs(here - blur(c, x + 2, y + 2)), "<", threshold)
    mask.defn = [Select(alike, here, sharp(c, x + 2, y + 2))]
    return Description((mask,), (image,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a picture within its border."""
    picture = photograph((3, sizes["R"], sizes["C"]), rng)
    return {"image": np.pad(picture, ((0, 0), (BORDER, BORDER), (BORDER, BORDER)))}


def blurred(image: Array) -> Array:
    """Both blurs, where all five points of each are there."""
    rows, columns = image.shape[1] - 4, image.shape[2] - 4
    down = _weighted([image[:, k : k + rows] for k in range(5)])
    return _weighted([down[:, :, k : k + columns] for k in range(5)])


def _weighted(parts: list[Array]) -> Array:
    total: Array = parts[0] * np.float32(WEIGHTS[0])
    for weight, part in zip(WEIGHTS[1:], parts[1:], strict=True):
        total = total + part * np.float32(weight)
    return total


def reference(image: Array, threshold: float, weight: float) -> Arrays:
    """Solve with NumPy."""
    blur, here, w = blurred(image), image[:, 2:-2, 2:-2], np.float32(weight)
    sharp = here * (np.float32(1) + w) + blur * -w
    return {"mask": np.where(np.abs(here - blur) < np.float32(threshold), here, sharp)}


def undecided(image: Array, threshold: float, weight: float) -> Arrays:
    """What sharpening changes where rounding decides whether that is worth it."""
    change = np.abs(image[:, 2:-2, 2:-2] - blurred(image))
    close = np.abs(change - threshold) < ROUNDING
    return {"mask": np.where(close, weight * (threshold + ROUNDING), 0.0)}


PROGRAM = Program(
    name="unsharp",
    sizes=size_table("R C", MINI=(37, 53), SMALL=(256, 256), PAPER=(2048, 2048)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=60,
    traffic=24,
    tolerance=2e-6,
    scalars=MappingProxyType({"threshold": 0.001, "weight": 3.0}),
    undecided=undecided,
)
