"""NPBench azimint_naive and azimint_hist: means of data at like radius, by comparing and by counting.

The first ones' rings begin at radius 0, the second ones' at the least radius that there is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.npbench.stages import mapped, summed
from benchmarks.polybench.kernel import (
    Array,
    Arrays,
    Description,
    Sizes,
    parameters,
    size_table,
    upto,
    variables,
)
from benchmarks.program import Program
from polymat import Cast, Clamp, Condition, Double, Int, Op, Reduce, Reduction, Select, Vector


def build() -> Description:
    """Describe a sum over all points for each ring; there is a point, and a ring."""
    N, B = sizes = parameters("N B")
    b, k = variables("b k")
    data, radius = Vector(Double, "data", [N]), Vector(Double, "radius", [N])
    top = summed("top", (), (), (k,), (N,), radius(k), op=Op.Max)
    low, high = (top() * Cast(Double, ring) / Cast(Double, B) for ring in (b, b + 1))
    within = Condition(low, "<=", radius(k)) & Condition(radius(k), "<", high)
    total = summed("total", (b,), (B,), (k,), (N,), Select(within, data(k), 0.0))
    count = summed("count", (b,), (B,), (k,), (N,), Select(within, 1.0, 0.0))
    mean = mapped("mean", (b,), (B,), total(b) / count(b))
    return Description((mean,), (data, radius), sizes, (Condition(N, ">=", 1), Condition(B, ">=", 1)))


def build_hist() -> Description:
    """Describe sums into computed places; there are two radii at least, and a ring."""
    N, B = sizes = parameters("N B")
    b, k = variables("b k")
    data, radius = Vector(Double, "data", [N]), Vector(Double, "radius", [N])
    top = summed("top", (), (), (k,), (N,), radius(k), op=Op.Max)
    least = summed("least", (), (), (k,), (N,), radius(k), op=Op.Min)
    share = (radius(k) - least()) / (top() - least())
    ring = Clamp(Cast(Int, share * Cast(Double, B)), 0, B - 1)

    def into(name: str, term: object) -> Reduction:
        made = Reduction(([b], [upto(B)]), ([k], [upto(N)]), Double, name)
        made.defn = [Reduce(made(ring), term, Op.Sum)]
        return made

    total, count = into("total", data(k)), into("count", 1.0)
    mean = mapped("mean", (b,), (B,), total(b) / count(b))
    return Description((mean,), (data, radius), sizes, (Condition(N, ">=", 2), Condition(B, ">=", 1)))


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    return {"data": rng.random(sizes["N"]), "radius": rng.random(sizes["N"])}


def reference(data: Array, radius: Array, B: int) -> Arrays:
    """Solve with NumPy, ring after ring; the mean of nothing is NaN."""
    mean, top = np.full(B, np.nan), radius.max()
    for b in range(B):
        within = (top * b / B <= radius) & (radius < top * (b + 1) / B)
        if within.any():
            mean[b] = data[within].mean()
    return {"mean": mean}


def reference_hist(data: Array, radius: Array, B: int) -> Arrays:
    """Solve with NumPy; the mean of nothing is NaN."""
    total, count = np.histogram(radius, B, weights=data)[0], np.histogram(radius, B)[0]
    with np.errstate(invalid="ignore"):
        return {"mean": total / count}


PROGRAM = Program(
    name="azimint_naive",
    sizes=size_table(
        "N B", S=(400_000, 1000), M=(4_000_000, 1000), L=(40_000_000, 1000), PAPER=(1_000_000, 1000)
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=4,
    traffic=0,
    tolerance=1e-12,
    points=lambda sizes: sizes["N"] * sizes["B"],
    counts=("B",),
)
HIST = replace(
    PROGRAM,
    name="azimint_hist",
    build=build_hist,
    reference=reference_hist,
    operations=5,
    traffic=16,
    points=lambda sizes: sizes["N"],
)
