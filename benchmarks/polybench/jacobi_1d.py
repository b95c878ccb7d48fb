"""PolyBench jacobi-1d: means of three neighbours, of A into B and of B into A."""

from __future__ import annotations

from typing import Any

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    counter,
    extents,
    inside,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Double, Function, Vector, iterate

NAME = "jacobi-1d"
THIRD = 0.33333  # PolyBench's


def build() -> Description:
    """Describe the steps; A and B keep their own first and last elements."""
    T, N = sizes = parameters("T N")
    starts = tuple(Vector(Double, name, [N]) for name in ("A", "B"))
    (i,) = variables("i")

    def mean(name: str, old: Any, of: Any) -> Function:
        after = Function(([i], [upto(N)]), Double, name, default=old(i))
        after.defn = [Case(inside(N, i), THIRD * (of(i - 1) + of(i) + of(i + 1)))]
        return after

    def step(A: Any, B: Any) -> tuple[Function, Function]:
        after = mean("B_after", B, A)
        return mean("A_after", A, after), after

    return Description(iterate(step, starts, steps=T)[:1], starts, sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    return {"A": (counter(N) + 2) / N, "B": (counter(N) + 3) / N}


def reference(arrays: Arrays, T: int) -> Arrays:
    """Take the steps with NumPy."""
    A, B = (array.copy() for array in arrays.values())
    for _ in range(T):
        B[1:-1] = THIRD * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = THIRD * (B[:-2] + B[1:-1] + B[2:])
    return {"A": A}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    T, N = extents(sizes, "T N")
    return 6 * T * (N - 2)


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    return DOUBLE * 2 * sizes["N"]


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "T N",
        MINI=(20, 30),
        SMALL=(40, 120),
        MEDIUM=(100, 400),
        LARGE=(500, 2000),
        EXTRALARGE=(1000, 4000),
    ),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 8 * sizes["T"] + 8,
    counts=("T",),
    summed=False,
)
