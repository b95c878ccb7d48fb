"""Multiscale interpolation: pixels without alpha are filled in from coarser and coarser images."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between, photograph
from polymat import Case, Condition, Float, Function, Image

LEVELS = 10


def build() -> Description:
    """Describe the pipeline; planes 0 to 2 are colours, plane 3 is alpha, around all are zeros."""
    R, C = sizes = parameters("R C")
    c, x, y = variables("c x y")
    image = Image(Float, "image", [4, R + 2, C + 2])
    planes = between(0, 3)
    high, wide = [R // 2**k for k in range(LEVELS)], [C // 2**k for k in range(LEVELS)]

    def stage(name: str, rows: Any, columns: Any, value: Any) -> Function:
        """Values from 1 to rows and to columns, and zeros around them."""
        spans = [planes, between(0, rows + 1), between(0, columns + 1)]
        inside = Condition(x, ">=", 1) & Condition(x, "<=", rows)
        inside &= Condition(y, ">=", 1) & Condition(y, "<=", columns)
        found = Function(([c, x, y], spans), Float, name, default=0.0)
        found.defn = [Case(inside, value)]
        return found

    premultiplied = [planes, between(0, R + 1), between(0, C + 1)]
    fine = Function(([c, x, y], premultiplied), Float, "d0")
    fine.defn = [image(c, x, y) * image(3, x, y)]
    down = [fine]
    for k in range(1, LEVELS):
        d = down[-1]
        rows = (d(c, 2 * x - 2, y) + 2 * d(c, 2 * x - 1, y) + d(c, 2 * x, y)) * 0.25
        e = stage(f"e{k}", high[k], wide[k - 1], rows)
        columns = (e(c, x, 2 * y - 2) + 2 * e(c, x, 2 * y - 1) + e(c, x, 2 * y)) * 0.25
        down.append(stage(f"d{k}", high[k], wide[k], columns))
    filled = down[-1]
    for k in range(LEVELS - 2, -1, -1):
        d = down[k]
        rows = (filled(c, (x + 1) // 2, y) + filled(c, (x + 2) // 2, y)) / 2
        u = stage(f"u{k}", high[k], wide[k + 1], rows)
        coarse = (u(c, x, (y + 1) // 2) + u(c, x, (y + 2) // 2)) / 2
        filled = stage(f"i{k}", high[k], wide[k], d(c, x, y) + (1 - d(3, x, y)) * coarse)
    result = Function(
        ([c, x, y], [between(0, 2), between(0, R - 1), between(0, C - 1)]), Float, "interpolated"
    )
    result.defn = [filled(c, x + 1, y + 1) / filled(3, x + 1, y + 1)]
    return Description((result,), (image,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a picture whose alpha is 0 in a quarter of it, else 1 or something between, in zeros."""
    picture = photograph((4, sizes["R"], sizes["C"]), rng)
    kinds = rng.random(picture.shape[1:])
    picture[3] = np.where(kinds < 0.25, np.float32(0), np.where(kinds < 0.75, np.float32(1), picture[3]))
    return {"image": np.pad(picture, ((0, 0), (1, 1), (1, 1)))}


def reference(image: Array) -> Arrays:
    """Solve with NumPy."""
    down = [image * image[3]]
    for _ in range(1, LEVELS):
        e = _framed(_halved(down[-1][:, :, 1:-1]))
        down.append(_framed(_halved(e[:, 1:-1].swapaxes(1, 2)).swapaxes(1, 2)))
    filled = down[-1]
    for d in down[-2::-1]:
        rows, columns = d.shape[1] - 2, d.shape[2] - 2
        u = _framed(_doubled(filled[:, :, 1:-1], rows))
        coarse = _doubled(u[:, 1:-1].swapaxes(1, 2), columns).swapaxes(1, 2)
        here = d[:, 1:-1, 1:-1]
        filled = _framed(here + (np.float32(1) - here[3]) * coarse)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {"interpolated": filled[:3, 1:-1, 1:-1] / filled[3, 1:-1, 1:-1]}


def _framed(inner: Array) -> Array:
    return np.pad(inner, ((0, 0), (1, 1), (1, 1)))


def _halved(array: Array) -> Array:
    """Every second row, weighted with its neighbours; rows 0 and the last of the array are a frame."""
    count = (array.shape[1] - 2) // 2
    parts = [array[:, k : k + 2 * count : 2] for k in range(3)]
    found: Array = (parts[0] + np.float32(2) * parts[1] + parts[2]) * np.float32(0.25)
    return found


def _doubled(array: Array, count: int) -> Array:
    """Twice as many rows, each the mean of the nearest ones."""
    x = np.arange(1, count + 1)
    found: Array = (array[:, (x + 1) // 2] + array[:, (x + 2) // 2]) / np.float32(2)
    return found


PROGRAM = Program(
    name="interpolate",
    sizes=size_table("R C", MINI=(48, 80), SMALL=(256, 256), PAPER=(2560, 1536)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=55.0,
    traffic=28,
    tolerance=2e-6,
)
