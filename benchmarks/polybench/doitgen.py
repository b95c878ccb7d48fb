"""PolyBench doitgen: A_rqp = sum_s A_rqs C4_sp."""

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
    upto,
    variables,
)
from polymat import Double, Image, Matrix, Op, Reduce, Reduction

NAME = "doitgen"


def build() -> Description:
    """Describe the kernel as a reduction."""
    NR, NQ, NP = sizes = parameters("NR NQ NP")
    A, C4 = Image(Double, "A", [NR, NQ, NP]), Matrix(Double, "C4", [NP, NP])
    r, q, p, s = variables("r q p s")
    R, Q, P = upto(NR), upto(NQ), upto(NP)
    result = Reduction(([r, q, p], [R, Q, P]), ([r, q, p, s], [R, Q, P, P]), Double, "result")
    result.defn = [Reduce(result(r, q, p), A(r, q, s) * C4(s, p), Op.Sum)]
    return Description((result,), (A, C4), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    NR, NQ, NP = extents(sizes, "NR NQ NP")
    i, j, k = index_grid(NR, NQ, NP)
    A = (i * j + k) % NP / NP
    i, j = index_grid(NP, NP)
    return {"A": A, "C4": i * j % NP / NP}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    return {"A": arrays["A"] @ arrays["C4"]}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    NR, NQ, NP = extents(sizes, "NR NQ NP")
    return 2 * NR * NQ * NP * NP


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    NR, NQ, NP = extents(sizes, "NR NQ NP")
    return DOUBLE * (2 * NR * NQ * NP + NP * NP)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "NR NQ NP",
        MINI=(10, 8, 12),
        SMALL=(25, 20, 30),
        MEDIUM=(50, 40, 60),
        LARGE=(150, 140, 160),
        EXTRALARGE=(250, 220, 270),
    ),
    builds={"loops": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: sizes["NP"],
    inplace={"A": "A"},
)
