"""Products with a few columns, along whose depth the lanes of a vector lie: against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Matrix, Options, Parameter
from tests.idiom.recognise import K, M, N
from tests.tolerance import assert_close

SHAPES = [
    (m, n, k)
    for n, k in ((1, 70), (2, 31), (2, 64), (3, 65), (4, 97), (5, 64), (2, 511), (3, 512), (4, 1025))
    for m in (7, 8, 11)
] + [(m, n, k) for n in (5, 6, 7, 8, 9) for m, k in ((18, 64), (31, 70), (33, 513), (65, 1030))]


@pytest.mark.covering
@pytest.mark.parametrize("kind", [Double, Float])
@pytest.mark.parametrize("threads", [1, 2])
def test_few_columns(kind: Any, threads: int) -> None:
    """Rows in fours and what is left, whole vectors of the depth and a part, several parts of the depth."""
    A, B, C = Matrix(kind, "A", [M, K]), Matrix(kind, "B", [K, N]), Matrix(kind, "C", [M, N])
    alpha, beta = Parameter(kind, "alpha"), Parameter(kind, "beta")
    options = Options(blas="never", threads=threads, parallel_threshold=0)
    plain: Any = pm.compile(A @ B, name="plain", inputs=[A, B], options=options)
    scaled: Any = pm.compile(pm.gemm(A, B, C, alpha, beta), name="scaled", inputs=[A, B, C], options=options)
    assert "_pm_lanes_over_depth_" in plain.source
    rng = np.random.default_rng(3)
    for m, n, k in SHAPES:
        a, b, c = (rng.uniform(-1, 1, shape).astype(kind.dtype) for shape in ((m, k), (k, n), (m, n)))
        magnitude = np.abs(a) @ np.abs(b) + np.abs(c)
        assert_close(plain(a, b), a @ b, roundings=k + 8, magnitude=magnitude)
        found, expected = scaled(a, b, c, alpha=1.5, beta=-0.5), 1.5 * (a @ b) - 0.5 * c
        assert_close(found, expected.astype(kind.dtype), roundings=k + 8, magnitude=2 * magnitude)


@pytest.mark.covering
@pytest.mark.parametrize("kind", [Double, Float])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_single_column_of_a_transposed_matrix(kind: Any, threads: int) -> None:
    """Contiguous along the depth, so read where it is: any number of rows, more than a part of the depth."""
    A, B, C = Matrix(kind, "A", [M, K]), Matrix(kind, "B", [N, K]), Matrix(kind, "C", [M, N])
    alpha, beta = Parameter(kind, "alpha"), Parameter(kind, "beta")
    options = Options(blas="never", threads=threads, parallel_threshold=0)
    plain: Any = pm.compile(A @ B.T, name="plain", inputs=[A, B], options=options)
    scaled: Any = pm.compile(
        pm.gemm(A, B.T, C, alpha, beta), name="scaled", inputs=[A, B, C], options=options
    )
    assert "_pm_lanes_over_depth_" in plain.source
    rng = np.random.default_rng(5)
    depths = (0, 1, 31, 32, 33, 63, 64, 65, 511, 4095, 4096, 4097, 8209)
    for m, n, k in [(m, 1, k) for m in (0, 1, 2, 3, 4, 5, 7, 8, 13) for k in depths] + [
        (9, 2, 70),
        (1, 3, 65),
        *((m, n, k) for m in (0, 3, 33) for n in (2, 4, 5, 7, 8, 9) for k in (0, 64, 517)),
    ]:
        a, b, c = (rng.uniform(-1, 1, shape).astype(kind.dtype) for shape in ((m, k), (n, k), (m, n)))
        magnitude = np.abs(a) @ np.abs(b.T) + np.abs(c)
        assert_close(plain(a, b), a @ b.T, roundings=k + 8, magnitude=magnitude)
        found, expected = scaled(a, b, c, alpha=1.5, beta=-0.5), 1.5 * (a @ b.T) - 0.5 * c
        assert_close(found, expected.astype(kind.dtype), roundings=k + 8, magnitude=2 * magnitude)


def test_what_is_not_finite_stays_in_its_row() -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    plain: Any = pm.compile(A @ B, name="plain", inputs=[A, B], options=Options(blas="never", threads=1))
    a, b = np.ones((9, 67)), np.ones((67, 2))
    a[4, 66], a[8, 0] = np.inf, np.nan
    b[66, 1] = -2.0
    expected = np.full((9, 2), [67.0, 64.0])
    expected[4], expected[8] = (np.inf, -np.inf), np.nan
    np.testing.assert_array_equal(plain(a, b), expected)
