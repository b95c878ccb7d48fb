"""PolyBench's fdtd-2d without its source: two electric fields and a magnetic one that need each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Arrays, Description, Sizes, parameters, size_table, variables
from polymat import Case, Condition, Double, Function, Interval, Matrix, iterate
from polymat import Int as Integer

NAME = "fdtd-2d"
STEPS = 48
SIZES = size_table(
    "M N", MINI=(20, 30), SMALL=(60, 80), MEDIUM=(200, 240), LARGE=(1000, 1200), EXTRALARGE=(2000, 2600)
)


def build() -> Description:
    """Describe the steps."""
    M, N = sizes = parameters("M N")
    i, j = variables("i j")
    domain = ([i, j], [Interval(Integer, 0, M - 1), Interval(Integer, 0, N - 1)])
    starts = tuple(Matrix(Double, f"{name}0", [M, N]) for name in ("ex", "ey", "hz"))

    def step(ex: Any, ey: Any, hz: Any) -> tuple[Function, ...]:
        fields = zip(("ex", "ey", "hz"), (ex, ey, hz), strict=True)
        x, y, z = (Function(domain, Double, name, default=old(i, j)) for name, old in fields)
        y.defn = [Case(Condition(i, ">=", 1), ey(i, j) - 0.5 * (hz(i, j) - hz(i - 1, j)))]
        x.defn = [Case(Condition(j, ">=", 1), ex(i, j) - 0.5 * (hz(i, j) - hz(i, j - 1)))]
        inner = Condition(i, "<=", M - 2) & Condition(j, "<=", N - 2)
        curl = x(i, j + 1) - x(i, j) + y(i + 1, j) - y(i, j)
        z.defn = [Case(inner, hz(i, j) - 0.7 * curl)]
        return x, y, z

    return Description(iterate(step, starts, steps=STEPS), starts, sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return the first fields."""
    return {name: rng.random((sizes["M"], sizes["N"])) for name in ("ex0", "ey0", "hz0")}


def reference(arrays: Arrays) -> Arrays:
    """Take the steps with NumPy."""
    ex, ey, hz = (array.copy() for array in arrays.values())
    for _ in range(STEPS):
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


def points(sizes: Sizes) -> int:
    """Count the elements that all steps compute, of three fields as one."""
    return STEPS * sizes["M"] * sizes["N"]


OPERATIONS = 11
