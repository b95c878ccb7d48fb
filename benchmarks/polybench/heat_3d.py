"""PolyBench heat-3d: second differences along three dimensions, of A into B and of B into A."""

from __future__ import annotations

from typing import Any

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    inside,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Double, Function, Image, iterate

NAME = "heat-3d"


def build() -> Description:
    """Describe the steps; the boundary keeps its values."""
    T, N = sizes = parameters("T N")
    starts = tuple(Image(Double, name, [N, N, N]) for name in ("A", "B"))
    i, j, k = variables("i j k")

    def warmer(name: str, old: Any, of: Any) -> Function:
        after = Function(([i, j, k], [upto(N)] * 3), Double, name, default=old(i, j, k))
        here = of(i, j, k)
        along = of(i + 1, j, k) - 2.0 * here + of(i - 1, j, k)
        across = of(i, j + 1, k) - 2.0 * here + of(i, j - 1, k)
        inwards = of(i, j, k + 1) - 2.0 * here + of(i, j, k - 1)
        after.defn = [Case(inside(N, i, j, k), 0.125 * along + 0.125 * across + 0.125 * inwards + here)]
        return after

    def step(A: Any, B: Any) -> tuple[Function, Function]:
        after = warmer("B_after", B, A)
        return warmer("A_after", A, after), after

    return Description(iterate(step, starts, steps=T)[:1], starts, sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    i, j, k = index_grid(N, N, N)
    A = (i + j + (N - k)) * 10 / N
    return {"A": A, "B": A.copy()}


def reference(arrays: Arrays, T: int) -> Arrays:
    """Take the steps with NumPy."""
    A, B = (array.copy() for array in arrays.values())
    for _ in range(T):
        for old, new in ((A, B), (B, A)):
            here = old[1:-1, 1:-1, 1:-1]
            along = old[2:, 1:-1, 1:-1] - 2.0 * here + old[:-2, 1:-1, 1:-1]
            across = old[1:-1, 2:, 1:-1] - 2.0 * here + old[1:-1, :-2, 1:-1]
            inwards = old[1:-1, 1:-1, 2:] - 2.0 * here + old[1:-1, 1:-1, :-2]
            new[1:-1, 1:-1, 1:-1] = 0.125 * along + 0.125 * across + 0.125 * inwards + here
    return {"A": A}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    T, N = extents(sizes, "T N")
    return 30 * T * (N - 2) ** 3


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * (2 * (N - 2) ** 3 + 12 * (N - 2) ** 2)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "T N",
        MINI=(20, 10),
        SMALL=(40, 20),
        MEDIUM=(100, 40),
        LARGE=(500, 120),
        EXTRALARGE=(1000, 200),
    ),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 40 * sizes["T"] + 8,
    counts=("T",),
    summed=False,
)
