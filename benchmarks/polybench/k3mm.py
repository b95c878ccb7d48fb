"""PolyBench 3mm: G = (A B) (C D)."""

from __future__ import annotations

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    parameters,
    size_table,
)
from polymat import Double, Matrix

NAME = "3mm"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    NI, NJ, NK, NL, NM = sizes = parameters("NI NJ NK NL NM")
    A, B = Matrix(Double, "A", [NI, NK]), Matrix(Double, "B", [NK, NJ])
    C, D = Matrix(Double, "C", [NJ, NM]), Matrix(Double, "D", [NM, NL])
    return Description(((A @ B) @ (C @ D),), (A, B, C, D), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    NI, NJ, NK, NL, NM = extents(sizes, "NI NJ NK NL NM")
    i, k = index_grid(NI, NK)
    A = (i * k + 1) % NI / (5 * NI)
    k, j = index_grid(NK, NJ)
    B = (k * (j + 1) + 2) % NJ / (5 * NJ)
    j, m = index_grid(NJ, NM)
    C = j * (m + 3) % NL / (5 * NL)
    m, n = index_grid(NM, NL)
    D = (m * (n + 2) + 2) % NK / (5 * NK)
    return {"A": A, "B": B, "C": C, "D": D}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    return {"G": (arrays["A"] @ arrays["B"]) @ (arrays["C"] @ arrays["D"])}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    NI, NJ, NK, NL, NM = extents(sizes, "NI NJ NK NL NM")
    return 2 * (NI * NJ * NK + NJ * NL * NM + NI * NJ * NL)


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    NI, NJ, NK, NL, NM = extents(sizes, "NI NJ NK NL NM")
    return DOUBLE * (NI * NK + NK * NJ + NJ * NM + NM * NL + NI * NL)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "NI NJ NK NL NM",
        MINI=(16, 18, 20, 22, 24),
        SMALL=(40, 50, 60, 70, 80),
        MEDIUM=(180, 190, 200, 210, 220),
        LARGE=(800, 900, 1000, 1100, 1200),
        EXTRALARGE=(1600, 1800, 2000, 2200, 2400),
    ),
    builds={"algebra": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: sizes["NK"] + sizes["NM"] + sizes["NJ"] + 3,
)
