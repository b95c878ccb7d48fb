"""PolyBench's jacobi-2d: means of five neighbours, with a fixed boundary."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Arrays, Description, Sizes, parameters, size_table, variables
from polymat import Case, Condition, Double, Function, Interval, Matrix, iterate
from polymat import Int as Integer

NAME = "jacobi-2d"
STEPS = 48
SIZES = size_table("N", MINI=(30,), SMALL=(90,), MEDIUM=(250,), LARGE=(1300,), EXTRALARGE=(2800,))


def build() -> Description:
    """Describe the steps."""
    (N,) = sizes = parameters("N")
    i, j = variables("i j")
    whole = Interval(Integer, 0, N - 1)
    start = Matrix(Double, "start", [N, N])

    def step(u: Any) -> Function:
        after = Function(([i, j], [whole, whole]), Double, "u", default=u(i, j))
        inner = Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
        inner = inner & Condition(j, ">=", 1) & Condition(j, "<=", N - 2)
        near = u(i, j) + u(i, j - 1) + u(i, j + 1) + u(i + 1, j) + u(i - 1, j)
        after.defn = [Case(inner, 0.2 * near)]
        return after

    return Description((iterate(step, start, steps=STEPS),), (start,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return the first state."""
    return {"start": rng.random((sizes["N"], sizes["N"]))}


def reference(arrays: Arrays) -> Arrays:
    """Take the steps with NumPy."""
    u = arrays["start"].copy()
    for _ in range(STEPS):
        u[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])
    return {"last": u}


def points(sizes: Sizes) -> int:
    """Count the elements that all steps compute."""
    return STEPS * sizes["N"] ** 2


OPERATIONS = 5
