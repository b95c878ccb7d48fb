"""PolyBench's seventeen other kernels: statistics, solvers, dynamic programming, stencils in time."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import Case, kernel_case
from benchmarks.polybench import RECURRENCES
from benchmarks.section import Section

MOST_FLOPS = 30e9
"""Of a case: more takes plain loops and NumPy minutes."""


def cases(quick: bool) -> Iterator[Case]:
    """Every kernel, at LARGE where that does not take too long."""
    for dataset in ("MEDIUM",) if quick else ("MEDIUM", "LARGE"):
        for kernel in RECURRENCES:
            if kernel.flops(kernel.sizes[dataset]) <= MOST_FLOPS:
                yield kernel_case(kernel, dataset, memory=True)


SECTIONS = (
    Section(
        name="recurrences",
        title="Solvers, dynamic programming and stencils of PolyBench",
        cases=cases,
        rivals={
            "polymat": ("NumPy", "Numba", "JAX", "polymat, one by one"),
            "polymat, out=": ("C", "C fast-math"),
        },
        told=("polymat",),
        goals=(
            "none slower than the best at MEDIUM or larger",
            "stencils in time twice as fast as the best of Numba and plain C at LARGE",
            "cholesky, lu level with LAPACK, which is what NumPy's column holds; five times Numba's loops",
        ),
    ),
)
