"""PolyBench 2mm: D = alpha A B C + beta D."""

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
)
from polymat import Double, Matrix

NAME = "2mm"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    NI, NJ, NK, NL = sizes = parameters("NI NJ NK NL")
    alpha, beta = scalar_parameters()
    A, B = Matrix(Double, "A", [NI, NK]), Matrix(Double, "B", [NK, NJ])
    C, D = Matrix(Double, "C", [NJ, NL]), Matrix(Double, "D", [NI, NL])
    return Description((alpha * (A @ B) @ C + beta * D,), (A, B, C, D), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    NI, NJ, NK, NL = extents(sizes, "NI NJ NK NL")
    i, k = index_grid(NI, NK)
    A = (i * k + 1) % NI / NI
    k, j = index_grid(NK, NJ)
    B = k * (j + 1) % NJ / NJ
    j, m = index_grid(NJ, NL)
    C = (j * (m + 3) + 1) % NL / NL
    i, m = index_grid(NI, NL)
    D = i * (m + 2) % NK / NK
    return {"A": A, "B": B, "C": C, "D": D}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, B, C, D = arrays["A"], arrays["B"], arrays["C"], arrays["D"]
    return {"D": ALPHA * A @ B @ C + BETA * D}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    NI, NJ, NK, NL = extents(sizes, "NI NJ NK NL")
    return 2 * NI * NJ * (NK + NL) + NI * NJ + NI * NL


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    NI, NJ, NK, NL = extents(sizes, "NI NJ NK NL")
    return DOUBLE * (NI * NK + NK * NJ + NJ * NL + 2 * NI * NL)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "NI NJ NK NL",
        MINI=(16, 18, 22, 24),
        SMALL=(40, 50, 70, 80),
        MEDIUM=(180, 190, 210, 220),
        LARGE=(800, 900, 1100, 1200),
        EXTRALARGE=(1600, 1800, 2200, 2400),
    ),
    builds={"algebra": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: sizes["NK"] + sizes["NJ"] + 4,
    scalars={"alpha": ALPHA, "beta": BETA},
    inplace={"D": "D"},
)
