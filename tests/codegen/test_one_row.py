"""Products of one row with a large matrix, whose rows are added up in the order of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Matrix, Options, Parameter
from tests.codegen.products.test_resulttransposed import SMALL
from tests.hosts import compiling_for
from tests.idiom.recognise import K, M, N
from tests.tolerance import assert_close

# Rows in eights and what is left, columns in parts of 1024 and of vectors; and what is too small for it.
SHAPES = [(n, k) for n in (64, 127, 1023, 1024, 1025, 2100) for k in (0, 1, 7, 8, 9, 40)] + [
    (33, 900),
    (3, 5000),
]


@pytest.mark.covering
@pytest.mark.parametrize("turned", [False, True], ids=["in order", "transposed"])
@pytest.mark.parametrize("kind", [Double, Float])
def test_one_row(kind: Any, turned: bool) -> None:
    A, B = Matrix(kind, "A", [K, M] if turned else [M, K]), Matrix(kind, "B", [K, N])
    C, left = Matrix(kind, "C", [M, N]), A.T if turned else A
    alpha, beta = Parameter(kind, "alpha"), Parameter(kind, "beta")
    options = Options(blas="never", threads=2, parallel_threshold=0)
    with compiling_for(SMALL):
        plain: Any = pm.compile(left @ B, name="plain", inputs=[A, B], options=options)
        product = pm.gemm(left, B, C, alpha, beta)
        scaled: Any = pm.compile(product, name="scaled", inputs=[A, B, C], options=options)
    assert "_pm_one_row_" in plain.source
    rng = np.random.default_rng(4)
    for rows in (1, 2):
        for n, k in SHAPES:
            shapes = ((k, rows) if turned else (rows, k), (k, n), (rows, n))
            a, b, c = (rng.uniform(-1, 1, shape).astype(kind.dtype) for shape in shapes)
            magnitude = np.abs(a.T if turned else a) @ np.abs(b) + np.abs(c)
            assert_close(plain(a, b), plain.reference(a, b), roundings=k + 8, magnitude=magnitude)
            found, expected = (run(a, b, c, alpha=1.5, beta=-0.5) for run in (scaled, scaled.reference))
            assert_close(found, expected, roundings=k + 8, magnitude=2 * magnitude)


def test_what_is_not_finite_stays_in_its_column() -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    with compiling_for(SMALL):
        plain: Any = pm.compile(A @ B, name="plain", inputs=[A, B], options=Options(blas="never", threads=1))
    a, b = np.ones((1, 67)), np.ones((67, 131))
    b[66, 130], b[3, 0] = np.inf, np.nan
    expected = np.full((1, 131), 67.0)
    expected[0, 130], expected[0, 0] = np.inf, np.nan
    np.testing.assert_array_equal(plain(a, b), expected)
