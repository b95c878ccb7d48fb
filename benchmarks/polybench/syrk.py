"""PolyBench syrk: lower triangle of C = alpha A A' + beta C."""

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
    upto,
    variables,
)
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Op, Reduce, Reduction, syrk

NAME = "syrk"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    M, N = sizes = parameters("M N")
    alpha, beta = scalar_parameters()
    A, C = Matrix(Double, "A", [N, M]), Matrix(Double, "C", [N, N])
    return Description((syrk(A, C, alpha, beta),), (A, C), sizes)


def build_loops() -> Description:
    """Describe the kernel as reductions and functions."""
    M, N = sizes = parameters("M N")
    alpha, beta = scalar_parameters()
    A, C = Matrix(Double, "A", [N, M]), Matrix(Double, "C", [N, N])
    i, j, k = variables("i j k")
    lower = Interval(Int, 0, i)
    P = Reduction(([i, j], [upto(N), lower]), ([i, j, k], [upto(N), lower, upto(M)]), Double, "P")
    P.defn = [Reduce(P(i, j), A(i, k) * A(j, k), Op.Sum)]
    result = Function(([i, j], [upto(N), upto(N)]), Double, "result")
    result.defn = [
        Case(Condition(j, "<=", i), alpha * P(i, j) + beta * C(i, j)),
        Case(Condition(j, ">", i), C(i, j)),
    ]
    return Description((result,), (A, C), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(N, M)
    A = (i * j + 1) % N / N
    i, j = index_grid(N, N)
    C = (i * j + 2) % M / M
    return {"A": A, "C": C}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, C = arrays["A"], arrays["C"]
    # NumPy hands `A @ A.T` to the BLAS's symmetric product, which `ALPHA * A @ A.T` would not be.
    return {"C": np.tril(ALPHA * (A @ A.T) + BETA * C) + np.triu(C, 1)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    M, N = extents(sizes, "M N")
    return N * (N + 1) * (M + 1)


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (N * M + N * (N + 1))


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
    roundings=lambda sizes: sizes["M"] + 3,
    scalars={"alpha": ALPHA, "beta": BETA},
    inplace={"C": "C"},
)
