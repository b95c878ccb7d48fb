"""PolyBench's heat-3d: second differences along three dimensions, with a fixed boundary."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Arrays, Description, Sizes, parameters, size_table, variables
from polymat import Case, Condition, Double, Function, Image, Interval, iterate
from polymat import Int as Integer

NAME = "heat-3d"
STEPS = 48
SIZES = size_table("N", MINI=(10,), SMALL=(20,), MEDIUM=(40,), LARGE=(120,), EXTRALARGE=(200,))


def build() -> Description:
    """Describe the steps."""
    (N,) = sizes = parameters("N")
    i, j, k = variables("i j k")
    whole = Interval(Integer, 0, N - 1)
    start = Image(Double, "start", [N, N, N])

    def step(u: Any) -> Function:
        after = Function(([i, j, k], [whole] * 3), Double, "u", default=u(i, j, k))
        inner = Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
        for index in (j, k):
            inner = inner & Condition(index, ">=", 1) & Condition(index, "<=", N - 2)
        here = u(i, j, k)
        along = u(i + 1, j, k) - 2.0 * here + u(i - 1, j, k)
        across = u(i, j + 1, k) - 2.0 * here + u(i, j - 1, k)
        inwards = u(i, j, k + 1) - 2.0 * here + u(i, j, k - 1)
        after.defn = [Case(inner, 0.125 * along + 0.125 * across + 0.125 * inwards + here)]
        return after

    return Description((iterate(step, start, steps=STEPS),), (start,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return the first state."""
    return {"start": rng.random((sizes["N"],) * 3)}


def reference(arrays: Arrays) -> Arrays:
    """Take the steps with NumPy."""
    u = arrays["start"].copy()
    for _ in range(STEPS):
        here = u[1:-1, 1:-1, 1:-1]
        along = u[2:, 1:-1, 1:-1] - 2.0 * here + u[:-2, 1:-1, 1:-1]
        across = u[1:-1, 2:, 1:-1] - 2.0 * here + u[1:-1, :-2, 1:-1]
        inwards = u[1:-1, 1:-1, 2:] - 2.0 * here + u[1:-1, 1:-1, :-2]
        u[1:-1, 1:-1, 1:-1] = 0.125 * along + 0.125 * across + 0.125 * inwards + here
    return {"last": u}


def points(sizes: Sizes) -> int:
    """Count the elements that all steps compute."""
    return STEPS * sizes["N"] ** 3


OPERATIONS = 15
