"""PolyBench symm: C = alpha S B + beta C, S symmetric and given by A's lower triangle."""

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
from polymat import Case, Condition, Double, Function, Matrix, Op, Reduce, Reduction, symm

NAME = "symm"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    M, N = sizes = parameters("M N")
    alpha, beta = scalar_parameters()
    A, B, C = Matrix(Double, "A", [M, M]), Matrix(Double, "B", [M, N]), Matrix(Double, "C", [M, N])
    return Description((symm(A, B, C, M, N, alpha, beta),), (A, B, C), sizes)


def build_loops() -> Description:
    """Describe the kernel as reductions and functions."""
    M, N = sizes = parameters("M N")
    alpha, beta = scalar_parameters()
    A, B, C = Matrix(Double, "A", [M, M]), Matrix(Double, "B", [M, N]), Matrix(Double, "C", [M, N])
    i, j, k = variables("i j k")
    S = Function(([i, k], [upto(M), upto(M)]), Double, "S")
    S.defn = [Case(Condition(k, "<=", i), A(i, k)), Case(Condition(k, ">", i), A(k, i))]
    SB = Reduction(([i, j], [upto(M), upto(N)]), ([i, j, k], [upto(M), upto(N), upto(M)]), Double, "SB")
    SB.defn = [Reduce(SB(i, j), S(i, k) * B(k, j), Op.Sum)]
    result = Function(([i, j], [upto(M), upto(N)]), Double, "result")
    result.defn = [alpha * SB(i, j) + beta * C(i, j)]
    return Description((result,), (A, B, C), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(M, N)
    B = (N + i - j) % 100 / M
    C = (i + j) % 100 / M
    i, j = index_grid(M, M)
    A = np.where(j <= i, (i + j) % 100 / M, -999.0)
    return {"A": A, "B": B, "C": C}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, B, C = arrays["A"], arrays["B"], arrays["C"]
    S = np.tril(A) + np.tril(A, -1).T
    return {"C": ALPHA * S @ B + BETA * C}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    M, N = extents(sizes, "M N")
    return 2 * M * M * N + 2 * M * N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (M * (M + 1) // 2 + 3 * M * N)


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
    unread={"A": 1},
)
