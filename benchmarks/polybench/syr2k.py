"""PolyBench syr2k: lower triangle of C = alpha A B' + alpha B A' + beta C."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import (
    ALPHA,
    BETA,
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    parameters,
    scalar_parameters,
    size_table,
)
from polymat import Double, Matrix, syr2k

NAME = "syr2k"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    M, N = sizes = parameters("M N")
    alpha, beta = scalar_parameters()
    A, B, C = Matrix(Double, "A", [N, M]), Matrix(Double, "B", [N, M]), Matrix(Double, "C", [N, N])
    return Description((syr2k(A, B, C, alpha, beta),), (A, B, C), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(N, M)
    A = (i * j + 1) % N / N
    B = (i * j + 2) % M / M
    i, j = index_grid(N, N)
    C = (i * j + 3) % N / M
    return {"A": A, "B": B, "C": C}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, B, C = arrays["A"], arrays["B"], arrays["C"]
    half = A @ B.T
    return {"C": np.tril(ALPHA * (half + half.T) + BETA * C) + np.triu(C, 1)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    M, N = extents(sizes, "M N")
    return N * (N + 1) * (2 * M + 1)


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (2 * N * M + N * (N + 1))


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "M N",
        MINI=(20, 30),
        SMALL=(60, 80),
        MEDIUM=(200, 240),
        LARGE=(1000, 1200),
        EXTRALARGE=(2000, 2600),
    ),
    builds={"algebra": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 2 * sizes["M"] + 4,
    scalars={"alpha": ALPHA, "beta": BETA},
    inplace={"C": "C"},
)
