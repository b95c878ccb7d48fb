"""PolyBench gemm: C = alpha A B + beta C."""

from __future__ import annotations

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
from polymat import Double, Function, Matrix, Op, Reduce, Reduction, gemm

NAME = "gemm"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    NI, NJ, NK = sizes = parameters("NI NJ NK")
    alpha, beta = scalar_parameters()
    A, B, C = Matrix(Double, "A", [NI, NK]), Matrix(Double, "B", [NK, NJ]), Matrix(Double, "C", [NI, NJ])
    return Description((gemm(A, B, C, alpha, beta),), (A, B, C), sizes)


def build_loops() -> Description:
    """Describe the kernel as reductions and functions."""
    NI, NJ, NK = sizes = parameters("NI NJ NK")
    alpha, beta = scalar_parameters()
    A, B, C = Matrix(Double, "A", [NI, NK]), Matrix(Double, "B", [NK, NJ]), Matrix(Double, "C", [NI, NJ])
    i, j, k = variables("i j k")
    AB = Reduction(([i, j], [upto(NI), upto(NJ)]), ([i, j, k], [upto(NI), upto(NJ), upto(NK)]), Double, "AB")
    AB.defn = [Reduce(AB(i, j), A(i, k) * B(k, j), Op.Sum)]
    result = Function(([i, j], [upto(NI), upto(NJ)]), Double, "result")
    result.defn = [alpha * AB(i, j) + beta * C(i, j)]
    return Description((result,), (A, B, C), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    NI, NJ, NK = extents(sizes, "NI NJ NK")
    i, k = index_grid(NI, NK)
    A = i * (k + 1) % NK / NK
    k, j = index_grid(NK, NJ)
    B = k * (j + 2) % NJ / NJ
    i, j = index_grid(NI, NJ)
    C = (i * j + 1) % NI / NI
    return {"A": A, "B": B, "C": C}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, B, C = arrays["A"], arrays["B"], arrays["C"]
    return {"C": ALPHA * A @ B + BETA * C}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    NI, NJ, NK = extents(sizes, "NI NJ NK")
    return 2 * NI * NJ * NK + 2 * NI * NJ


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    NI, NJ, NK = extents(sizes, "NI NJ NK")
    return DOUBLE * (NI * NK + NK * NJ + 2 * NI * NJ)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "NI NJ NK",
        MINI=(20, 25, 30),
        SMALL=(60, 70, 80),
        MEDIUM=(200, 220, 240),
        LARGE=(1000, 1100, 1200),
        EXTRALARGE=(2000, 2300, 2600),
    ),
    builds={"algebra": build, "loops": build_loops},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: sizes["NK"] + 3,
    scalars={"alpha": ALPHA, "beta": BETA},
    inplace={"C": "C"},
)
