"""NPBench vadv: vertical advection of a weather model, a tridiagonal system for every column of air.

Levels are the last index.  The wind between levels k - 1 and k couples them: half now, half a step later.
"""

from __future__ import annotations

from types import MappingProxyType

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
    variables,
)
from benchmarks.program import Program, between
from polymat import Case, Condition, Double, Function, Image, Parameter

NAMES = ("tendency", "now", "wind", "before", "forcing")


def build() -> Description:
    """Describe elimination down the levels and substitution back; two levels at least."""
    X, Y, K = sizes = parameters("X Y K")
    i, j, k = variables("i j k")
    shapes = {name: [X + 1 if name == "wind" else X, Y, K] for name in NAMES}
    tendency, now, wind, before, forcing = arrays = [Image(Double, *item) for item in shapes.items()]
    rate = Parameter(Double, "rate")  # one over the length of a step
    top, last = Condition(k, "==", 0), Condition(k, "==", K - 1)
    between_them = Condition(k, ">=", 1) & Condition(k, "<=", K - 2)

    at, whole = (i, j, k), (X, Y, K)
    half = mapped("half", at, (X, Y, between(1, K - 1)), 0.125 * (wind(i + 1, j, k) + wind(i, j, k)))
    above, below = -half(i, j, k), half(i, j, k + 1)  # the coefficients of the levels beside
    pull_above = half(i, j, k) * (now(i, j, k - 1) - now(i, j, k))
    pull_below = half(i, j, k + 1) * (now(i, j, k + 1) - now(i, j, k))
    given = mapped("given", at, whole, rate * before(*at) + forcing(*at) + tendency(*at))

    c = Function((list(at), [*(between(0, extent - 1) for extent in (X, Y)), between(0, K - 2)]), Double, "c")
    d = Function((list(at), [between(0, extent - 1) for extent in whole]), Double, "d")
    first = rate - below
    inner = rate - above - below - above * c(i, j, k - 1)
    lowest = rate - above - above * c(i, j, k - 1)
    c.defn = [Case(top, below / first), Case(Condition(k, ">=", 1), below / inner)]
    carried = above * d(i, j, k - 1)
    d.defn = [
        Case(top, (given(*at) - pull_below) / first),
        Case(between_them, (given(*at) + pull_above - pull_below - carried) / inner),
        Case(last, (given(*at) + pull_above - carried) / lowest),
    ]
    x = Function((list(at), [between(0, extent - 1) for extent in whole]), Double, "x")
    x.defn = [Case(last, d(*at)), Case(Condition(k, "<=", K - 2), d(*at) - c(*at) * x(i, j, k + 1))]
    out = mapped("out", at, whole, rate * (x(*at) - before(*at)))
    return Description((out,), tuple(arrays), sizes, (Condition(K, ">=", 2),))


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    X, Y, K = extents(sizes, "X Y K")
    return {name: rng.random((X + (name == "wind"), Y, K)) for name in NAMES}


def reference(tendency: Array, now: Array, wind: Array, before: Array, forcing: Array, rate: float) -> Arrays:
    """Solve with NumPy, level by level."""
    half = np.zeros((*now.shape[:2], now.shape[2] + 1))
    half[..., 1:-1] = 0.125 * (wind[1:, :, 1:] + wind[:-1, :, 1:])
    above, below = -half[..., :-1], half[..., 1:]
    pull = np.zeros_like(half)
    pull[..., 1:-1] = half[..., 1:-1] * np.diff(now)
    c, d, x = below.copy(), rate * before + forcing + tendency, np.empty_like(now)
    d -= pull[..., :-1] + pull[..., 1:]
    levels = now.shape[2]
    for k in range(levels):
        pivot = rate - above[..., k] - below[..., k]
        if k > 0:
            pivot -= above[..., k] * c[..., k - 1]
            d[..., k] -= above[..., k] * d[..., k - 1]
        c[..., k] /= pivot
        d[..., k] /= pivot
    x[..., -1] = d[..., -1]
    for k in range(levels - 2, -1, -1):
        x[..., k] = d[..., k] - c[..., k] * x[..., k + 1]
    return {"out": rate * (x - before)}


PROGRAM = Program(
    name="vadv",
    sizes=size_table("X Y K", S=(60, 60, 40), M=(112, 112, 80), L=(180, 180, 160), PAPER=(256, 256, 160)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=28,
    traffic=48,
    tolerance=1e-10,
    scalars=MappingProxyType({"rate": 3.0 / 20.0}),
    points=lambda sizes: sizes["X"] * sizes["Y"] * sizes["K"],
    relative=True,
)
