"""The tables: which cases of the papers, and what stands beside polymat in each.

The papers' own numbers are of other machines and are not repeated: each table is measured as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.cases import Case, kernel_case
from benchmarks.papers.fused import fused_cases, normalised_cases
from benchmarks.polybench import find_kernel
from benchmarks.section import Section
from benchmarks.sections import SECTIONS
from benchmarks.sections.convolutions import LAYERS, QUICK, convolution_case
from benchmarks.sections.polybench import MATRIX_VECTOR, PRODUCTS
from benchmarks.sections.products import SHAPES, THIN, product_case

OWN = ("naive, out=", "polymage, out=", "paper, out=", "library, out=", "tuned, out=")
"""Other ways of polymat itself: the thesis's "PolyMage" and "PolyMage-opt-BLAS" are the second and third."""
KERNELS = (
    *("gemm", "gemver", "gesummv", "symm", "syr2k", "syrk", "trmm", "2mm", "3mm", "atax", "bicg"),
    *("doitgen", "mvt"),
)
"""PolyBench's kernels in the order of the thesis's tables."""
DATASETS = {"5.3": "SMALL", "5.4": "EXTRALARGE", "5.5": "MINI", "5.6": "MEDIUM", "5.7": "LARGE"}
PATIENCE = 60.0
"""Seconds in which each way has to prepare a case and call it once; the page says where one was left out."""
NO_TUNED = {"POLYMAT_TUNED": "off"}
"""For all peers but the tuned one: what `tune` has found is a column of its own."""


def kernels(dataset: str, quick: bool) -> Iterator[Case]:
    """The kernels of PolyBench at the sizes of one data set."""
    assert {*KERNELS} == {*MATRIX_VECTOR, *PRODUCTS}
    for name in KERNELS[:2] if quick else KERNELS:
        yield kernel_case(find_kernel(name), dataset)


def shapes(quick: bool) -> Iterator[Case]:
    """Products of PolyDL's Table 1, C = αAB + βC."""
    for shape in SHAPES[:3] if quick else SHAPES:
        yield product_case(shape, np.float32, "shapes", scaled=True)


def small_products(quick: bool) -> Iterator[Case]:
    """Products of 8 to 50 rows by 128 x 128."""
    for rows in THIN[::14] if quick else THIN:
        yield product_case((rows, 128, 128), np.float32, "J = K = 128")


def layers(quick: bool) -> Iterator[Case]:
    """Convolutions alone."""
    for name in QUICK if quick else LAYERS:
        yield convolution_case(name, LAYERS[name])


TABLES: dict[str, Section] = {
    section.name: replace(section, patience=PATIENCE)
    for section in (
        *(
            Section(
                name=f"thesis-{number}",
                title=f"Table {number} of the PolyMage matrix thesis: PolyBench, {dataset}, float64",
                cases=partial(kernels, dataset),
                rivals={
                    "polymat, out=": OWN,
                    "polymat": ("NumPy", "Numba"),
                    "polymat from C": ("C", "C fast-math"),
                },
            )
            for number, dataset in DATASETS.items()
        ),
        Section(
            name="thesis-filters",
            title="Filter pipelines of the thesis (its Figure 5.3, and sub-band), float64",
            cases=SECTIONS["dsp"].cases,
            # Not the naive way, which calls no FFTW: transforms by definition take minutes at 2¹⁸ samples.
            rivals={"polymat, out=": OWN[1:], "polymat": ("SciPy, best",)},
        ),
        Section(
            name="thesis-images",
            title="Image pipelines of the thesis",
            cases=SECTIONS["images"].cases,
            rivals={"polymat, out=": (*OWN, "Halide"), "polymat": ("NumPy", "Numba, images", "OpenCV")},
        ),
        Section(
            name="polydl-products",
            title="Products of PolyDL's Table 1 (M x N x K), float32",
            cases=shapes,
            rivals={
                "polymat, out=": ("naive, out=", "working sets, out=", "model, out=", "tuned, out="),
                "polymat": ("NumPy", "torch"),
                "polymat from C": ("OpenBLAS", "MKL"),
            },
        ),
        Section(
            name="polydl-layers",
            title="Convolution layers as PolyDL measures them, beside oneDNN through PyTorch, float32",
            cases=layers,
            rivals={
                "polymat, out=": ("naive, out=", "model, out=", "tuned, out="),
                "polymat": ("torch conv2d", "torch.compile conv2d"),
            },
        ),
        Section(
            name="polydl-relu6",
            title="PolyDL's Figure 21: convolution and ReLU6 in one, float32",
            cases=fused_cases,
            rivals={"polymat, out=": ("stage by stage, out=",), "polymat": ("torch layers",)},
        ),
        Section(
            name="polydl-bnorm",
            title="PolyDL's Figure 20: batch normalisation and ReLU in one, float32",
            cases=normalised_cases,
            rivals={"polymat, out=": ("stage by stage, out=",), "polymat": ("NumPy", "torch layers")},
        ),
        Section(
            name="contractions-tccg",
            title="The contractions of the analytical model's Table 4, float64",
            cases=SECTIONS["contractions"].cases,
            rivals={
                "polymat, out=": ("naive, out=", "model, out=", "tuned, out="),
                "polymat": ("NumPy", "torch"),
            },
        ),
        Section(
            name="small-products",
            title="Small products of the structured search's Figure 4 (I x 128 x 128), float32",
            cases=small_products,
            rivals={
                "polymat, out=": ("naive, out=", "model, out=", "tuned, out="),
                "polymat": ("NumPy", "torch"),
                "polymat from C": ("OpenBLAS", "MKL"),
            },
        ),
    )
}
