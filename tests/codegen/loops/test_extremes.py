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
from polymat.codegen.loops.extremes import KINDS, MOST_TERMS
from polymat.codegen.loops.extremes import TERMS as TERMS_ROW
from tests.codegen.routines.test_calls import values
from tests.tolerance import assert_close

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


@pytest.mark.covering
@pytest.mark.parametrize("op", [Op.Min, Op.Max])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("magnitudes", [False, True])
@pytest.mark.parametrize("rows", [0, 1])
def test_extremes_of_any_length(kind: str, op: Any, magnitudes: bool, rows: int) -> None:
    compiled = extreme_of(kind, op, magnitudes=magnitudes, rows=rows)
    assert f"_pm_row_{KINDS[op.value]}_" in compiled.source
    assert "omp simd reduction(_pm_" not in compiled.source  # gcc keeps the lanes of such in memory
    for length in LENGTHS:
        x = values([rows or 11, length], TYPES[kind].dtype, length)
        np.testing.assert_array_equal(compiled(x), compiled.reference(x))


@pytest.mark.covering
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


ARITHMETIC: dict[str, Any] = {
    "difference": lambda x, y, i, k: x(i, k) - y(k),
    "scaled": lambda x, y, i, k: x(i, k) * (1 / pm.Sqrt(pm.Cast(x.dtype, i + 3))),
    "quotient": lambda x, y, i, k: (-x(i, k) + 2) / (pm.Abs(y(k) - x(i, k)) + y(0) * y(0) + 1),
}
TERMS: dict[str, Any] = {
    "steps": lambda x, y, i, k: x(i, k // 2) * y(k),
    "function": lambda x, y, i, k: pm.Sqrt(pm.Abs(x(i, k) * y(k))),
    "chosen": lambda x, y, i, k: pm.Select(pm.Condition(x(i, k), ">", y(k)), x(i, k), y(k)),
    "index": lambda x, y, i, k: x(i, k) * k,
}


@pytest.mark.covering
@pytest.mark.parametrize("op", [Op.Min, Op.Max])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("term", TERMS)
def test_what_is_computed_is_computed_for_many_elements_first(term: str, kind: str, op: Any) -> None:
    compiled = extreme_of_terms(TERMS[term], kind, op)
    assert TERMS_ROW in compiled.source
    check_terms(compiled, kind)


@pytest.mark.covering
@pytest.mark.parametrize("op", [Op.Min, Op.Max])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("term", ARITHMETIC)
def test_arithmetic_is_computed_in_vectors_where_it_is_compared(term: str, kind: str, op: Any) -> None:
    compiled = extreme_of_terms(ARITHMETIC[term], kind, op)
    assert TERMS_ROW not in compiled.source
    assert f"_pm_row_{KINDS[op.value]}_" in compiled.source
    assert "omp simd reduction(_pm_" not in compiled.source  # gcc keeps the lanes of such in memory
    check_terms(compiled, kind)


def test_what_is_the_same_for_a_row_is_read_for_rows_of_some_length_alone() -> None:
    """Of row 0, which has no points, there is no element before it."""
    N = Parameter(Int, "N")
    i, k = Variable(Int, "i"), Variable(Int, "k")
    x, y = pm.Matrix(Float, "x", [N, N]), pm.Vector(Float, "y", [N])
    rows = Interval(Int, 0, N - 1)
    found = Reduction(([i], [rows]), ([i, k], [rows, Interval(Int, 0, i - 1)]), Float, "found")
    found.defn = [Reduce(found(i), x(i, k) * y(i - 1), Op.Max)]
    compiled = pm.compile(found, name="before", inputs=[x, y], options=Options(threads=1))
    nest = compiled.source[compiled.source.index("_pm_nest_found(") :]
    assert 0 < nest.index("if (_pm_high - _pm_low") < nest.index("= y[i - 1];")
    arrays = (values([70, 70], "float32", 0), values([70], "float32", 1))
    np.testing.assert_array_equal(compiled(*arrays), compiled.reference(*arrays))


def extreme_of_terms(term: Any, kind: str, op: Any) -> Any:
    """The least or largest of a term along the rows of a matrix."""
    M, N = Parameter(Int, "M"), Parameter(Int, "N")
    i, k = Variable(Int, "i"), Variable(Int, "k")
    x, y = pm.Matrix(TYPES[kind], "x", [M, N]), pm.Vector(TYPES[kind], "y", [N])
    rows, row = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
    found = Reduction(([i], [rows]), ([i, k], [rows, row]), TYPES[kind], "found")
    found.defn = [Reduce(found(i), pm.Cast(TYPES[kind], term(x, y, i, k)), op)]
    return pm.compile(found, name="computed", inputs=[x, y], options=Options(threads=1))


def check_terms(compiled: Any, kind: str) -> None:
    """Compare rows of many lengths with the interpreter."""
    for length in (0, 1, 17, MOST_TERMS - 1, MOST_TERMS, MOST_TERMS + 1, 3 * MOST_TERMS + 5):
        arrays = (values([5, length], TYPES[kind].dtype, length), values([length], TYPES[kind].dtype, 1))
        wanted = compiled.reference(*arrays)
        bound = np.where(np.isfinite(wanted), np.abs(wanted), 1.0)
        assert_close(compiled(*arrays), wanted, roundings=8, magnitude=bound)


@pytest.mark.parametrize("spelling", ["select", "function", "cases", "case"])
def test_spellings_of_the_nearest_other_point_run_alike(spelling: str) -> None:
    """What a Select on indices leaves out is no point of a minimum, wherever the Select stands."""
    N = Parameter(Int, "N")
    i, j = Variable(Int, "i"), Variable(Int, "j")
    points = Interval(Int, 0, N - 1)
    x = pm.Matrix(Double, "x", [3, N])
    far = sum((x(f, i) - x(f, j)) * (x(f, i) - x(f, j)) for f in range(3))
    other = pm.Condition(i, "!=", j)
    near = Reduction(([i], [points]), ([i, j], [points, points]), Double, "near")
    if spelling == "select":
        near.defn = [Reduce(near(i), pm.Select(other, far, float("inf")), Op.Min)]
    elif spelling == "case":
        near.defn = [pm.Case(other, Reduce(near(i), far, Op.Min))]
    else:
        apart = Function(([i, j], [points, points]), Double, "apart")
        select = [pm.Select(other, far, float("inf"))]
        cases = [pm.Case(other, far), pm.Case(pm.Condition(i, "==", j), float("inf"))]
        apart.defn = select if spelling == "function" else cases
        near.defn = [Reduce(near(i), apart(i, j), Op.Min)]
    compiled = pm.compile(near, name="near", inputs=[x], estimates={N: 2000}, options=Options(threads=1))
    assert "_pm_row_least_f64" in compiled.source
    if spelling != "cases":
        assert "i != j ?" not in compiled.source
    for count in (0, 1, 2, 5, 513, 700):
        at = values([3, count], "float64", count)
        with np.errstate(invalid="ignore"):
            wanted = compiled.reference(at)
        bound = np.where(np.isfinite(wanted), np.abs(wanted), 1.0)
        assert_close(compiled(at), wanted, roundings=16, magnitude=bound)


def test_integers_stay_with_the_compiler() -> None:
    N = Parameter(Int, "N")
    k = Variable(Int, "k")
    n = pm.Vector(Int, "n", [N])
    found = Reduction(([], []), ([k], [Interval(Int, 0, N - 1)]), Int, "found")
    found.defn = [Reduce(found(), n(k), Op.Max)]
    assert "_pm_row_largest_" not in pm.compile(found, name="other").source


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double])
def test_less_than_a_vector_is_compared_without_branches(op: str, dtype: Any) -> None:
    """By masks, which keep NaN and the sign of zeros."""
    rows, columns = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
    compiled = pm.compile(getattr(pm.Matrix(dtype, "A", [rows, columns]), op)(axis=1).named("found"))
    assert f"_pm_{op}masked_{dtype.suffix}(" in str(compiled.source)
    rng = np.random.default_rng(3)
    for count in range(1, 18):
        given = rng.choice(
            np.array([np.nan, 0.0, -0.0, 1.0, -2.0, np.inf]), (19, count), p=[0.04, *[0.192] * 5]
        )
        given = given.astype(dtype.dtype)
        np.testing.assert_array_equal(compiled(given), getattr(given, op)(axis=1))
