"""The NumPy solutions against the signatures of PolyBench's own output, and the tables of counts."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.polybench import KERNELS, PRODUCTS
from benchmarks.polybench.kernel import DATASETS, Kernel
from benchmarks.polybench.signature import differences, lower_triangle, sign
from tests.polybench.golden import GOLDEN_DATASETS, assert_golden, golden_signatures

EACH_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
EACH_PRODUCT = pytest.mark.parametrize("kernel", PRODUCTS, ids=lambda kernel: kernel.name)
# Beyond the rank of PolyBench's matrix, gramschmidt's results are noise: tests/polybench/test_recurrences.py.
EACH_SOUND = pytest.mark.parametrize(
    "kernel", [k for k in KERNELS if k.name != "gramschmidt"], ids=lambda kernel: kernel.name
)

# Millions of operations and of bytes at LARGE, as published with the problem definitions.
LARGE_COUNTS = {
    "gemm": (2642.2, 37.76),
    "2mm": (3313.7, 38.96),
    "3mm": (5400.0, 39.84),
    "symm": (2402.4, 32.80),
    "syrk": (1442.6, 21.13),
    "syr2k": (2883.8, 30.73),
    "trmm": (1200.0, 23.20),
    "doitgen": (1075.2, 53.96),
    "gemver": (32.0, 32.14),
    "gesummv": (6.8, 27.06),
    "atax": (16.0, 31.95),
    "bicg": (16.0, 31.98),
    "mvt": (16.0, 32.10),
    "correlation": (2024.4, 24.96),
    "covariance": (2021.8, 24.96),
    "cholesky": (2668.7, 32.02),
    "durbin": (8.0, 0.03),
    "gramschmidt": (2881.2, 24.96),
    "lu": (5331.3, 64.00),
    "ludcmp": (5339.3, 32.03),
    "trisolv": (4.0, 16.04),
    "deriche": (265.4, 70.78),
    "floyd-warshall": (43904.0, 62.72),
    "nussinov": (5214.6, 25.01),
    "adi": (12948.1, 15.97),
    "fdtd-2d": (6591.2, 57.60),
    "heat-3d": (24645.5, 27.63),
    "jacobi-1d": (6.0, 0.03),
    "jacobi-2d": (8424.0, 27.04),
    "seidel-2d": (17964.0, 63.94),
}


@pytest.mark.parametrize("dataset", GOLDEN_DATASETS)
@EACH_SOUND
def test_reference_has_golden_signature(kernel: Kernel, dataset: str) -> None:
    sizes = kernel.sizes[dataset]
    results = kernel.printed(kernel.solve(kernel.inputs(sizes), sizes))
    assert_golden(results, kernel.name, dataset)


@EACH_SOUND
def test_reference_never_reads_unread_entries(kernel: Kernel) -> None:
    sizes = kernel.sizes["MINI"]
    arrays = kernel.inputs(sizes)
    found = kernel.printed(kernel.solve(kernel.poisoned(arrays), sizes))
    for name, values in kernel.printed(kernel.solve(arrays, sizes)).items():
        np.testing.assert_array_equal(found[name], values)


@EACH_KERNEL
def test_counts_are_the_published_ones(kernel: Kernel) -> None:
    sizes = kernel.sizes["LARGE"]
    found = (kernel.flops(sizes) / 1e6, kernel.traffic(sizes) / 1e6)
    assert found == pytest.approx(LARGE_COUNTS[kernel.name], abs=0.051, rel=1e-4)


@EACH_KERNEL
def test_sizes_are_given_for_every_dataset(kernel: Kernel) -> None:
    assert tuple(kernel.sizes) == DATASETS


@EACH_PRODUCT
def test_inputs_are_float64_and_contiguous(kernel: Kernel) -> None:
    for array in kernel.inputs(kernel.sizes["MINI"]).values():
        assert array.dtype == np.float64
        assert array.flags.c_contiguous


@EACH_PRODUCT
def test_signature_notices_one_changed_element(kernel: Kernel) -> None:
    for name, values in kernel.reference(kernel.inputs(kernel.sizes["MINI"])).items():
        changed = values.copy()
        changed.flat[changed.size // 3] *= 1 + 1e-3
        changed.flat[changed.size // 3] += 1e-3
        assert list(differences(sign(changed), golden_signatures(kernel.name, "MINI")[name]))


def test_signature_by_hand() -> None:
    found = sign(np.array([[1.0, -2.0], [3.0, -4.0]]))
    weights = np.cos(0.7368062997280773 * np.arange(4) + 0.1)
    assert (found.n, found.sum, found.abs) == (4, -2.0, 10.0)
    assert (found.first, found.mid, found.last) == (1.0, 3.0, -4.0)
    assert found.dot == pytest.approx(weights @ [1.0, -2.0, 3.0, -4.0], rel=1e-15)


def test_signature_of_float32_uses_printed_digits() -> None:
    assert sign(np.array([0.1], dtype=np.float32)).first == 0.100000001


def test_differences_reject_nan() -> None:
    found = sign(np.array([np.nan]))
    assert list(differences(found, {"n": 1, "sum": 0, "abs": 1, "dot": 0, "first": 0, "last": 0, "mid": 0}))


def test_lower_triangle_is_row_by_row() -> None:
    np.testing.assert_array_equal(lower_triangle(np.arange(9).reshape(3, 3)), [0, 3, 4, 6, 7, 8])
