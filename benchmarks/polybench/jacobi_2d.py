"""PolyBench jacobi-2d: means of five neighbours, of A into B and of B into A."""

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
from polymat import Case, Double, Function, Matrix, iterate

NAME = "jacobi-2d"


def build() -> Description:
    """Describe the steps; A and B keep their own boundaries."""
    T, N = sizes = parameters("T N")
    starts = tuple(Matrix(Double, name, [N, N]) for name in ("A", "B"))
    i, j = variables("i j")

    def mean(name: str, old: Any, of: Any) -> Function:
        after = Function(([i, j], [upto(N), upto(N)]), Double, name, default=old(i, j))
        near = of(i, j) + of(i, j - 1) + of(i, j + 1) + of(i + 1, j) + of(i - 1, j)
        after.defn = [Case(inside(N, i, j), 0.2 * near)]
        return after

    def step(A: Any, B: Any) -> tuple[Function, Function]:
        after = mean("B_after", B, A)
        return mean("A_after", A, after), after

    return Description(iterate(step, starts, steps=T)[:1], starts, sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    return {"A": (i * (j + 2) + 2) / N, "B": (i * (j + 3) + 3) / N}


def reference(arrays: Arrays, T: int) -> Arrays:
    """Take the steps with NumPy."""
    A, B = (array.copy() for array in arrays.values())
    for _ in range(T):
        for old, new in ((A, B), (B, A)):
            near = old[1:-1, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + old[2:, 1:-1] + old[:-2, 1:-1]
            new[1:-1, 1:-1] = 0.2 * near
    return {"A": A}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    T, N = extents(sizes, "T N")
    return 10 * T * (N - 2) ** 2


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    return DOUBLE * 2 * sizes["N"] ** 2 - 64


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "T N",
        MINI=(20, 30),
        SMALL=(40, 90),
        MEDIUM=(100, 250),
        LARGE=(500, 1300),
        EXTRALARGE=(1000, 2800),
    ),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 12 * sizes["T"] + 8,
    counts=("T",),
    summed=False,
)
