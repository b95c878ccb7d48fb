"""Sums of several rows in vectors: rows around whole vectors and blocks, and what is left to the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Options
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.lanesums import LANES, with_lane_sums
from tests.codegen.routines.test_calls import values
from tests.idiom.recognise import M, N, i, k, total, upto
from tests.tolerance import assert_close

LOOPS = Options(blas="never", kernels=False)
TYPES = {"double": Double, "float": Float}


def rows_times(kind: Any, term: Any) -> Any:
    """Sums along the rows of a matrix, by loops."""
    A, x = pm.Matrix(kind, "A", [M, N]), pm.Vector(kind, "x", [N])
    output = total("y", [(i, upto(M))], [(k, upto(N))], term(A, x), dtype=kind)
    return pm.compile(output, name="rows", inputs=[A, x], options=LOOPS)


@pytest.mark.parametrize("kind", TYPES)
def test_rows_of_any_length(kind: str) -> None:
    compiled = rows_times(TYPES[kind], lambda A, x: A(i, k) * x(k))
    assert f"{LANES}_7" in compiled.source
    dtype = TYPES[kind].dtype
    for rows in (0, 1, 7, 8, 9, 17, 24):
        for length in (0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 90):
            A, x = values([rows, length], dtype, rows + length), values([length], dtype, length)
            bound = np.abs(A) @ np.abs(x)
            assert_close(compiled(A, x), compiled.reference(A, x), roundings=length + 8, magnitude=bound)


def test_what_is_not_finite_stays_in_its_row_and_counts_once() -> None:
    compiled = rows_times(Double, lambda A, x: A(i, k) * x(k))
    for length in (9, 15, 19, 33):
        for place in range(length):
            A, x = np.ones((16, length)), np.ones(length)
            A[3, place], A[5, place], A[6, place] = np.inf, np.nan, 3.0
            expected = np.full(16, float(length))
            expected[3], expected[5], expected[6] = np.inf, np.nan, length + 2.0
            np.testing.assert_array_equal(compiled(A, x), expected)


def test_other_factors_are_left_to_the_compiler() -> None:
    """In lanes that are no part of the row, a factor that is not finite would make NaN of 0."""
    compiled = rows_times(Double, lambda A, x: (A(i, k) + 1.0) * x(k))
    assert LANES not in compiled.source
    A, x = np.ones((9, 11)), np.ones(11)
    np.testing.assert_array_equal(compiled(A, x), np.full(9, 22.0))


def test_nothing_is_made_of_no_sums() -> None:
    assert with_lane_sums((), RowTypes("f64", 8), {"A"}) is None
