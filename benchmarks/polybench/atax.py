"""PolyBench atax: y = A' (A x)."""

from __future__ import annotations

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    counter,
    extents,
    index_grid,
    parameters,
    size_table,
)
from polymat import Double, Matrix, Vector

NAME = "atax"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    M, N = sizes = parameters("M N")
    A, x = Matrix(Double, "A", [M, N]), Vector(Double, "x", [N])
    return Description((A.T @ (A @ x),), (A, x), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(M, N)
    return {"A": (i + j) % N / (5 * M), "x": 1 + counter(N) / N}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, x = arrays["A"], arrays["x"]
    return {"y": A.T @ (A @ x)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    M, N = extents(sizes, "M N")
    return 4 * M * N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (M * N + 2 * N)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "M N",
        MINI=(38, 42),
        SMALL=(116, 124),
        MEDIUM=(390, 410),
        LARGE=(1900, 2100),
        EXTRALARGE=(1800, 2200),
    ),
    builds={"algebra": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: sizes["M"] + sizes["N"],
    compute_bound=False,
)
