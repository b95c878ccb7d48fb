"""PolyBench bicg: s = A' r and q = A p."""

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

NAME = "bicg"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    M, N = sizes = parameters("M N")
    A, p, r = Matrix(Double, "A", [N, M]), Vector(Double, "p", [M]), Vector(Double, "r", [N])
    return Description((A.T @ r, A @ p), (A, p, r), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(N, M)
    return {"A": i * (j + 1) % N / N, "p": counter(M) / M, "r": counter(N) / N}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, p, r = arrays["A"], arrays["p"], arrays["r"]
    return {"s": A.T @ r, "q": A @ p}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    M, N = extents(sizes, "M N")
    return 4 * M * N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (M * N + 2 * M + 2 * N)


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
    roundings=lambda sizes: max(sizes["M"], sizes["N"]),
    compute_bound=False,
)
