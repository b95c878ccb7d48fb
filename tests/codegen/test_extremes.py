"""Minima and maxima along rows in vectors: lengths around vectors and turns of the loop, NaN anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Double,
    Float,
    Function,
    Int,
    Interval,
    Op,
    Options,
    Parameter,
    Reduce,
    Reduction,
    Variable,
)
from polymat.codegen.loops.extremes import KINDS
from tests.codegen.test_calls import values

TYPES = {"float": Float, "double": Double}
LENGTHS = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 1031]


def extreme_of(kind: str, op: Any, *, magnitudes: bool = False, rows: int = 0) -> Any:
    """The least or largest of every row; rows: how many there are, known when it is compiled."""
    M, N = Parameter(Int, "M"), Parameter(Int, "N")
    i, j = Variable(Int, "i"), Variable(Int, "j")
    x = pm.Matrix(TYPES[kind], "x", [rows or M, N])
    here = Interval(Int, 0, (rows or M) - 1)
    found = Reduction(([i], [here]), ([i, j], [here, Interval(Int, 0, N - 1)]), TYPES[kind], "found")
    found.defn = [Reduce(found(i), pm.Abs(x(i, j)) if magnitudes else x(i, j), op)]
    return pm.compile(found, name="extreme", inputs=[x], options=Options(threads=1))


@pytest.mark.parametrize("op", [Op.Min, Op.Max])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("magnitudes", [False, True])
@pytest.mark.parametrize("rows", [0, 1])
def test_extremes_of_any_length(kind: str, op: Any, magnitudes: bool, rows: int) -> None:
    compiled = extreme_of(kind, op, magnitudes=magnitudes, rows=rows)
    assert f"_pm_row_{KINDS[op.value]}_" in compiled.source
    for length in LENGTHS:
        x = values([rows or 11, length], TYPES[kind].dtype, length)
        np.testing.assert_array_equal(compiled(x), compiled.reference(x))


@pytest.mark.parametrize("op", [Op.Min, Op.Max])
@pytest.mark.parametrize("kind", TYPES)
def test_nan_wins_wherever_it_is(kind: str, op: Any) -> None:
    compiled = extreme_of(kind, op)
    for length in (1, 16, 17, 64, 131):
        x = np.tile(values([1, length], TYPES[kind].dtype, length), (length, 1))
        np.fill_diagonal(x, np.nan)
        x = np.vstack([x, np.full((1, length), -np.inf), np.full((1, length), np.inf), -x])
        x = x.astype(TYPES[kind].dtype)
        np.testing.assert_array_equal(compiled(x), compiled.reference(x))


@pytest.mark.parametrize("kind", TYPES)
def test_what_is_behind_the_end_is_not_read(kind: str) -> None:
    """Of rows that end where the array does, with larger numbers around it."""
    compiled = extreme_of(kind, Op.Max)
    for length in LENGTHS[1:]:
        memory = np.full(5 * length + 128, 1e30, TYPES[kind].dtype)
        x = memory[64 : 64 + 5 * length].reshape(5, length)
        x[:] = values([5, length], TYPES[kind].dtype, length)
        np.testing.assert_array_equal(compiled(x), x.max(axis=1))


def test_other_comparisons_stay_with_the_compiler() -> None:
    """Of an expression, of integers, and of an element that steps."""
    N = Parameter(Int, "N")
    k = Variable(Int, "k")
    x, n = pm.Vector(Float, "x", [2 * N]), pm.Vector(Int, "n", [N])
    for term, dtype in ((x(k) * 2 + 1, Float), (n(k), Int), (x(2 * k), Float)):
        found = Reduction(([], []), ([k], [Interval(Int, 0, N - 1)]), dtype, "found")
        found.defn = [Reduce(found(), term, Op.Max)]
        last = Function(([k], [Interval(Int, 0, 0)]), dtype, "last")
        last.defn = [found()]
        assert "_pm_row_largest_" not in pm.compile(last, name="other").source
