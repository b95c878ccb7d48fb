"""PolyBench's thirteen kernels: five that move a matrix, eight that multiply matrices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.cases import Case, kernel_case
from benchmarks.polybench import find_kernel
from benchmarks.polybench.kernel import DATASETS
from benchmarks.section import Section

MATRIX_VECTOR = ("atax", "bicg", "mvt", "gemver", "gesummv")
PRODUCTS = ("gemm", "2mm", "3mm", "symm", "syrk", "syr2k", "trmm", "doitgen")
ARRAY_LIBRARIES = ("NumPy", "Numba", "JAX", "torch", "torch.compile")
QUICK = ("MINI", "LARGE")


def cases(kernels: tuple[str, ...], quick: bool) -> Iterator[Case]:
    """Every kernel at every size."""
    for dataset in QUICK if quick else DATASETS:
        for kernel in kernels:
            yield kernel_case(find_kernel(kernel), dataset)


SECTIONS = (
    Section(
        name="blas2",
        title="Matrix-vector kernels of PolyBench, float64",
        cases=partial(cases, MATRIX_VECTOR),
        rivals={"polymat": ARRAY_LIBRARIES, "polymat from C": ("C", "C fast-math")},
        goals=(
            "atax, bicg, mvt at LARGE and EXTRALARGE: 1.6 times the best array library, 1.2 times plain C",
            "gemver there: 1.15 times the best of all; gesummv: level with it",
            "0.85 of the bandwidth of the level that holds the data, 0.75 for gemver",
            "geometric mean over NumPy: 3 at MINI, 1.8 at SMALL, 1.3 at MEDIUM; nowhere slower than the best",
        ),
    ),
    Section(
        name="products",
        title="Matrix products of PolyBench, float64",
        cases=partial(cases, PRODUCTS),
        rivals={
            "polymat": ARRAY_LIBRARIES,
            "polymat from C": ("OpenBLAS", "OpenBLAS, one thread", "MKL", "C", "C fast-math"),
        },
        goals=(
            "LARGE and EXTRALARGE: 0.97 of the same library called from C, kernel by kernel",
            "geometric mean over NumPy there: 1.35",
        ),
    ),
)
