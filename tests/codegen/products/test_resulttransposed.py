"""Products with a few columns that are computed as their transpose: against the interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Matrix, Options, Parameter
from polymat.machine.known import GENERIC
from tests.hosts import compiling_for
from tests.idiom.recognise import K, M, N
from tests.tolerance import assert_close

# In blocks of 8 x 3 vectors: columns in one strip and two, parts of vectors, more rows than are kept at once.
SHAPES = [
    (m, n, k)
    for m, n in (
        (8, 1),
        (16, 3),
        (17, 8),
        (31, 9),
        (48, 24),
        (49, 24),
        (50, 25),
        (97, 16),
        (130, 2),
        (511, 5),
    )
    for k in (0, 1, 7, 63, 64, 65, 150)
] + [(m, 7, k) for m in (512, 513, 1030) for k in (1, 64, 131)]
SMALL = replace(GENERIC, vector_bits=512, vector_registers=32, l1_bytes=1 << 12, l2_bytes=1 << 16)


@pytest.mark.covering
@pytest.mark.parametrize("turned", [False, True], ids=["in order", "transposed"])
@pytest.mark.parametrize("kind", [Double, Float])
def test_few_columns(kind: Any, turned: bool) -> None:
    """Also of more rows and depth than the second level holds."""
    A, C = Matrix(kind, "A", [K, M]), Matrix(kind, "C", [M, N])
    B = Matrix(kind, "B", [N, K] if turned else [K, N])
    alpha, beta = Parameter(kind, "alpha"), Parameter(kind, "beta")
    options = Options(blas="never", threads=2, parallel_threshold=0)
    right = B.T if turned else B
    with compiling_for(SMALL):
        plain: Any = pm.compile(A.T @ right, name="plain", inputs=[A, B], options=options)
        product = pm.gemm(A.T, right, C, alpha, beta)
        scaled: Any = pm.compile(product, name="scaled", inputs=[A, B, C], options=options)
    assert "_pm_result_transposed_" in plain.source
    rng = np.random.default_rng(3)
    for m, n, k in SHAPES:
        shapes = ((k, m), (n, k) if turned else (k, n), (m, n))
        a, b, c = (rng.uniform(-1, 1, shape).astype(kind.dtype) for shape in shapes)
        wanted = a.T @ (b.T if turned else b)
        magnitude = np.abs(a.T) @ np.abs(b.T if turned else b) + np.abs(c)
        assert_close(plain(a, b), wanted, roundings=k + 8, magnitude=magnitude)
        found, expected = scaled(a, b, c, alpha=1.5, beta=-0.5), 1.5 * wanted - 0.5 * c
        assert_close(found, expected.astype(kind.dtype), roundings=k + 8, magnitude=2 * magnitude)


def test_what_is_not_finite_stays_in_its_row() -> None:
    A, B = Matrix(Double, "A", [K, M]), Matrix(Double, "B", [K, N])
    plain: Any = pm.compile(A.T @ B, name="plain", inputs=[A, B], options=Options(blas="never", threads=1))
    a, b = np.ones((66, 19)), np.ones((66, 2))
    a[65, 4], a[0, 18] = np.inf, np.nan
    b[65, 1] = -2.0
    expected = np.full((19, 2), [66.0, 63.0])
    expected[4], expected[18] = (np.inf, -np.inf), np.nan
    np.testing.assert_array_equal(plain(a, b), expected)
