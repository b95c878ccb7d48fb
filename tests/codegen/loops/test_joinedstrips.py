"""Strips of slices that wait: what a step changes and sums up of them in one pass over rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Case,
    Condition,
    Double,
    Float,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Options,
    Reduce,
    Reduction,
)
from polymat.codegen.loops.joinedstrips import HELD, SUMS
from polymat.lang.types import ScalarType
from tests.differential.random_waiting import WAIT, waiting_whenever_legal
from tests.tolerance import assert_close

M, N = pm.Parameter(Int, "M"), pm.Parameter(Int, "N")
k, i, j = (pm.Variable(Int, name) for name in "kij")
JOINED = f"{SUMS}_0_0 +="


def steps_of_columns(dtype: ScalarType, threads: int = 1, *, above: int = 0, ends: bool = False) -> Any:
    """Columns less a part of the one in front, and their products with it.

    above: of rows so far above.  ends: less what depends on the last row of another matrix, too.
    """
    A, B = (Matrix(dtype, name, [M, N]) for name in "AB")
    rows, columns, behind = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1), Interval(Int, k + 1, N - 1)
    a = Function(([k, i, j], [columns, rows, columns]), dtype, "a")
    scale = Reduction(([k], [columns]), ([k, i], [columns, rows]), dtype, "scale")
    scale.defn = [Reduce(scale(k), pm.Abs(a(k, i, k)), Op.Sum)]
    q = Function(([k, i], [columns, rows]), dtype, "q")
    q.defn = [a(k, i, k) / (scale(k) + pm.Cast(dtype, 1))]
    over = ([k, j, i], [columns, behind, Interval(Int, above, M - 1)])
    products = Reduction(([k, j], [columns, columns]), over, dtype, "products")
    products.defn = [Reduce(products(k, j), q(k, i) * a(k, i - above, j), Op.Sum)]
    later = Condition(k, ">=", 1)
    changed = a(k - 1, i, j) - q(k - 1, i) * products(k - 1, j)
    a.defn = [
        Case(Condition(k, "==", 0), A(i, j)),
        Case(later & Condition(j, ">=", k), changed * B(M - 1, j) if ends else changed),
        Case(later & Condition(j, "<", k), a(k - 1, i, j)),
    ]
    last = Function(([i, j], [rows, columns]), dtype, "last")
    last.defn = [a(N - 1, i, j)]
    every = Function(([k, j], [columns, columns]), dtype, "every")
    every.defn = [Case(Condition(j, ">", k), products(k, j)), Case(Condition(j, "<=", k), 0.0)]
    options = Options(threads=threads, parallel_threshold=0)
    with waiting_whenever_legal(16):
        inputs, some = [A, B] if ends else [A], [Condition(N, ">=", 1)]
        made = pm.compile([last, every], inputs=inputs, name="columns", options=options, constraints=some)
    assert WAIT in str(made.explain())
    return made


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_are_changed_and_added_up(threads: int, dtype: ScalarType) -> None:
    made = steps_of_columns(dtype, threads)
    assert JOINED in made.source
    assert HELD in made.source
    rng = np.random.default_rng(6)
    for rows in (0, 1, 2, 3, 8, 9):
        for columns in (1, 5, 31, 32, 33, 48, 70, 95):
            A = rng.uniform(-1, 1, (rows, columns)).astype(dtype.dtype) / max(rows, 1)
            for found, expected in zip(made(A), made.reference(A), strict=True):
                assert_close(found, expected, roundings=40 * (rows + 1) * columns, magnitude=1.0)


def test_rows_of_which_others_are_added_up_stay_apart() -> None:
    made = steps_of_columns(Double, above=1)
    assert JOINED not in made.source
    A = np.random.default_rng(7).uniform(-1, 1, (9, 70)) / 9
    for found, expected in zip(made(A), made.reference(A), strict=True):
        assert_close(found, expected, roundings=40000, magnitude=1.0)


def test_of_no_rows_nothing_is_read() -> None:
    """What all rows read is loaded in front of the loop over them, but the last row of none is no place."""
    made = steps_of_columns(Double, ends=True)
    (start,) = [at.start() for at in re.finditer(re.escape(f"{SUMS}_0_0 = "), made.source)]
    before, held, _ = made.source[start:].partition(f"{HELD}_0_0 = ")
    assert held
    assert "if (0 < " in before
    for rows in (0, 1, 4):
        A = np.random.default_rng(8).uniform(-1, 1, (2, rows, 40)) / max(rows, 1)
        for found, expected in zip(made(*A), made.reference(*A), strict=True):
            assert_close(found, expected, roundings=4000, magnitude=1.0)
