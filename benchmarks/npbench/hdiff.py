"""NPBench hdiff: horizontal diffusion of a weather model, fluxes of a Laplacian that never run uphill."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import mapped
from benchmarks.polybench.kernel import (
    Array,
    Arrays,
    Description,
    Sizes,
    extents,
    parameters,
    size_table,
    upto,
    variables,
)
from benchmarks.program import Program, between
from polymat import Condition, Double, Function, Image, Select


def build() -> Description:
    """Describe the pipeline; the field has two points on each side."""
    X, Y, K = sizes = parameters("X Y K")
    i, j, k = variables("i j k")
    field, rate = Image(Double, "field", [X + 4, Y + 4, K]), Image(Double, "rate", [X, Y, K])
    near = field(i - 1, j, k) + field(i + 1, j, k) + field(i, j - 1, k) + field(i, j + 1, k)
    wide = [between(1, X + 2), between(1, Y + 2), upto(K)]
    lap = mapped("lap", (i, j, k), wide, 4.0 * field(i, j, k) - near)

    def flux(name: str, di: int, dj: int) -> Function:
        """From a point to the next; none where the field rises as the Laplacian does."""
        rise = lap(i + di, j + dj, k) - lap(i, j, k)
        uphill = Condition(rise * (field(i + di, j + dj, k) - field(i, j, k)), ">", 0.0)
        spans = [between(2 - di, X + 1), between(2 - dj, Y + 1), upto(K)]
        return mapped(name, (i, j, k), spans, Select(uphill, 0.0, rise))

    along_i, along_j = flux("along_i", 1, 0), flux("along_j", 0, 1)
    a, b = i + 2, j + 2
    leaving = along_i(a, b, k) - along_i(a - 1, b, k) + along_j(a, b, k) - along_j(a, b - 1, k)
    out = mapped("out", (i, j, k), (X, Y, K), field(a, b, k) - rate(i, j, k) * leaving)
    return Description((out,), (field, rate), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    X, Y, K = extents(sizes, "X Y K")
    return {"field": rng.random((X + 4, Y + 4, K)), "rate": rng.random((X, Y, K))}


def reference(field: Array, rate: Array) -> Arrays:
    """Solve with NumPy."""
    near = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
    lap = 4.0 * field[1:-1, 1:-1] - near
    rise = np.diff(lap[:, 1:-1], axis=0)
    along_i = np.where(rise * np.diff(field[1:-1, 2:-2], axis=0) > 0, 0, rise)
    rise = np.diff(lap[1:-1], axis=1)
    along_j = np.where(rise * np.diff(field[2:-2, 1:-1], axis=1) > 0, 0, rise)
    leaving = np.diff(along_i, axis=0) + np.diff(along_j, axis=1)
    return {"out": field[2:-2, 2:-2] - rate * leaving}


PROGRAM = Program(
    name="hdiff",
    sizes=size_table("X Y K", S=(64, 64, 60), M=(128, 128, 160), L=(384, 384, 160), PAPER=(256, 256, 160)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=20,
    traffic=24,
    tolerance=1e-14,
    points=lambda sizes: sizes["X"] * sizes["Y"] * sizes["K"],
    relative=True,
)
