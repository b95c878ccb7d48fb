"""PolyBench trmm: B = alpha L' B, L unit lower triangular and given by A."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import (
    ALPHA,
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Double, Function, Int, Interval, Matrix, Op, Parameter, Reduce, Reduction, trmm

NAME = "trmm"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    M, N = sizes = parameters("M N")
    alpha = Parameter(Double, "alpha")
    A, B = Matrix(Double, "A", [M, M]), Matrix(Double, "B", [M, N])
    return Description((trmm(A, B, alpha),), (A, B), sizes)


def build_loops() -> Description:
    """Describe the kernel as reductions and functions."""
    M, N = sizes = parameters("M N")
    alpha = Parameter(Double, "alpha")
    A, B = Matrix(Double, "A", [M, M]), Matrix(Double, "B", [M, N])
    i, j, k = variables("i j k")
    below = Interval(Int, i + 1, M - 1)
    product = Reduction(([i, j], [upto(M), upto(N)]), ([i, j, k], [upto(M), upto(N), below]), Double, "LB")
    product.defn = [Reduce(product(i, j), A(k, i) * B(k, j), Op.Sum)]
    result = Function(([i, j], [upto(M), upto(N)]), Double, "result")
    result.defn = [alpha * (B(i, j) + product(i, j))]
    return Description((result,), (A, B), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(M, M)
    # The entries above the diagonal are never read; PolyBench leaves them uninitialised.
    A = np.where(j < i, (i + j) % M / M, np.where(j == i, 1.0, -999.0))
    i, j = index_grid(M, N)
    B = (N + i - j) % N / N
    return {"A": A, "B": B}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, B = arrays["A"], arrays["B"]
    return {"B": ALPHA * (B + np.tril(A, -1).T @ B)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    M, N = extents(sizes, "M N")
    return M * M * N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (M * (M - 1) // 2 + 2 * M * N)


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
    builds={"algebra": build, "loops": build_loops},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: sizes["M"] + 2,
    scalars={"alpha": ALPHA},
    inplace={"B": "B"},
    unread={"A": 0},
)
