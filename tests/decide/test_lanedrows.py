"""Rows of sums along them are the lanes of vectors where they need finished rows and themselves alone."""

from __future__ import annotations

from dataclasses import replace
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
    Parameter,
    Reduce,
    Reduction,
    Sqrt,
    Variable,
)
from polymat.driver import levels, request_for
from polymat.graph.laned import LanedRows
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL

N, K = Parameter(Int, "N"), Parameter(Int, "K")
i, j, k, d, e = (Variable(Int, name) for name in "ijkde")
ROWS, OFFSETS = Interval(Int, 0, N - 1), Interval(Int, 0, K)
SIZES = {N: 1000, K: 64}
LANED = "_pm_laned"


def banded(kind: str = "cholesky", dtype: Any = Double, narrower: int = 0) -> Function:
    """A factor whose element (i, i - d) lies at (i, d): Cholesky's, that of LDL', or one with a scale.

    narrower: by how many diagonals less than there are the sums go back.
    """
    A = Matrix(dtype, "A", [N, K + 1])
    terms = ([i, d, e], [ROWS, OFFSETS, Interval(Int, 1, K)])
    total = Reduction(([i, d], [ROWS, OFFSETS]), terms, dtype, "total")
    L = Function(([i, d], [ROWS, OFFSETS]), dtype, "L", default=0.0)
    there = Condition(d + e, "<=", i) & Condition(d + e, "<=", K - narrower)
    added = L(i, d + e) * L(i - d, e)
    added = {"cholesky": added, "ldlt": added * L(i - d - e, 0), "scaled": 0.5 * added}[kind]
    total.defn = [Case(there, Reduce(total(i, d), added, Op.Sum))]
    first = A(i, 0) - total(i, 0)
    left = Condition(d, ">=", 1) & Condition(d, "<=", i)
    L.defn = [
        Case(Condition(d, "==", 0), first if kind == "ldlt" else Sqrt(first)),
        Case(left, (A(i, d) - total(i, d)) / L(i - d, 0)),
    ]
    return L


def dense(least: int | Parameter = 0) -> Function:
    """A Cholesky factor whose rows are computed one after the other; least: the first column of sums."""
    A = Matrix(Double, "A", [N, N])
    triangle = ([i, j], [ROWS, Interval(Int, 0, i)])
    terms = ([i, j, k], [ROWS, Interval(Int, 0, i), Interval(Int, least, j - 1)])
    total = Reduction(triangle, terms, Double, "total")
    L = Function(triangle, Double, "L")
    total.defn = [Reduce(total(i, j), L(i, k) * L(j, k), Op.Sum)]
    L.defn = [
        Case(Condition(i, "==", j), Sqrt(A(i, i) - total(i, i))),
        Case(Condition(j, "<", i), (A(i, j) - total(i, j)) / L(j, j)),
    ]
    return L


def bands(rows: int, width: int, dtype: Any = float) -> Any:
    """A matrix whose diagonal is larger than all else of a row; beyond its first column are zeros."""
    found = np.random.default_rng(rows + width).random((rows, width + 1))
    found[:, 0] += 2 * width + 1
    found[np.arange(rows)[:, None] < np.arange(width + 1)] = 0
    return found.astype(dtype)


def laned(made: Function, options: Options | None = None, **changes: Any) -> list[LanedRows]:
    request = request_for(made, options=options or Options(), estimates=SIZES)
    request = replace(request, machine=replace(HASWELL, **changes))
    level = next(each for name, each in levels(request) if name == "lanes")
    sections = level.sections if isinstance(level, Stepwise) else ()
    return [each.together for each in sections if isinstance(each.together, LanedRows)]


@pytest.mark.parametrize("kind", ["cholesky", "ldlt", "scaled"])
def test_rows_of_a_band_are_lanes(kind: str) -> None:
    (found,) = laned(banded(kind))
    assert (found.lanes, found.columns) == (4, 8)
    assert str(found) == "4 rows at a time are the lanes of vectors, 8 columns side by side"
    assert found.circle.behind == 0
    (found,) = laned(banded(kind, Float))
    assert found.lanes == 8


def test_wide_rows_are_lanes_of_two_vectors() -> None:
    assert [each.vectors for each in laned(banded())] == [1]
    request = request_for(banded(), estimates={N: 4000, K: 256})
    level = next(each for name, each in levels(replace(request, machine=HASWELL)) if name == "lanes")
    assert isinstance(level, Stepwise)
    (section,) = level.sections
    assert isinstance(section.together, LanedRows)
    assert (section.together.lanes, section.together.vectors, section.together.columns) == (4, 2, 4)
    assert str(section.together) == "8 rows at a time are the lanes of vectors, 4 columns side by side"


@pytest.mark.parametrize("options", [Options(skip=("lanes",)), Options(reassociate=False)])
def test_they_are_not_where_options_say_so(options: Options) -> None:
    assert laned(banded(), options) == []


def test_they_are_not_of_short_vectors() -> None:
    assert laned(banded(), vector_bits=128) == []


def test_they_are_not_where_the_user_says_what_loops_a_sum_has() -> None:
    assert laned(banded(), Options(scheme={"total": "[R(e), V(e)]"})) == []


@pytest.mark.parametrize("kind", ["cholesky", "ldlt", "scaled"])
@pytest.mark.parametrize(("dtype", "near"), [(Double, 1e-12), (Float, 1e-4)])
@pytest.mark.parametrize("width", [20, 600])
def test_numbers_are_right(kind: str, dtype: Any, near: float, width: int) -> None:
    estimates = {**SIZES, K: width}
    run = pm.compile(
        banded(kind, dtype), name="y", estimates=estimates, options=Options(threads=1, skip=("sums",))
    )
    assert LANED in run.source
    assert ("_pm_sum_0_1" in run.source) == (width > 400)
    for rows in (0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 50, 67):
        for offsets in (0, 1, 2, 6, 7, 8, 9, 16, 25, 40):
            given = bands(rows, offsets, dtype.dtype)
            np.testing.assert_allclose(run(given), run.reference(given), rtol=near, atol=near)


def test_numbers_of_many_rows_are_those_of_single_steps() -> None:
    run, alone = (
        pm.compile(banded(), name="y", estimates=SIZES, options=Options(threads=1, skip=skip))
        for skip in ((), ("lanes",))
    )
    assert LANED not in alone.source
    rng = np.random.default_rng(0)
    for _ in range(30):
        given = bands(int(rng.integers(100, 600)), int(rng.integers(0, 150)))
        np.testing.assert_allclose(run(given), alone(given), rtol=1e-12, atol=1e-14)
        over = given.copy()
        np.testing.assert_array_equal(run(over, out=over), run(given))


def test_what_is_not_finite_stays_where_it_belongs() -> None:
    run, alone = (
        pm.compile(banded("scaled"), name="y", estimates=SIZES, options=Options(threads=1, skip=skip))
        for skip in ((), ("lanes",))
    )
    rng = np.random.default_rng(1)
    for _ in range(40):
        given = bands(60, 5)
        given[rng.integers(60), rng.integers(6)] = rng.choice([np.inf, -np.inf, np.nan])
        found, wanted = run(given), alone(given)
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))


@pytest.mark.parametrize("count", [100, 900])
def test_rows_whose_first_and_last_columns_are_written_apart_are_lanes(count: int) -> None:
    run = pm.compile(dense(), name="y", estimates={N: count}, options=Options(threads=1, skip=("sums",)))
    assert LANED in run.source
    for size in (0, 1, 2, 7, 8, 9, 10, 17, 18, 19, 30, 65, 100, 350):
        given = np.eye(size) * (size + 1) + np.random.default_rng(size).random((size, size))
        wanted = np.linalg.cholesky(np.tril(given) + np.tril(given, -1).T) if size else given
        np.testing.assert_allclose(run(given), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("count", [100, 900])
@pytest.mark.parametrize("least", [3, Parameter(Int, "M"), "band"])
def test_sums_that_begin_behind_the_first_column(least: Any, count: int) -> None:
    """A column whose sum has no terms yet adds none of the columns side by side with it."""
    is_band = least == "band"
    made = banded(narrower=5) if is_band else dense(least)
    sizes = () if is_band or least == 3 else (0, 1, 4, 9, 40)
    run = pm.compile(
        made, name="y", estimates={N: count, K: count}, options=Options(threads=1, skip=("sums",))
    )
    assert LANED in run.source
    for size in (1, 8, 9, 17, 30, 65):
        given = np.eye(size) * (size + 1) + np.random.default_rng(size).random((size, size))
        if is_band:
            given = bands(size, 20)
        for more in [{"M": each} for each in sizes] or [{}]:
            np.testing.assert_allclose(
                run(given, **more), run.reference(given, **more), rtol=1e-10, atol=1e-12
            )


def test_rows_are_lanes_rather_than_blocks() -> None:
    """Elements of D lie apart, for which single points in loops would take long."""
    estimates = {N: 4000, K: 600}
    for skip, count in (((), 1), (("lanes",), 0)):
        request = request_for(banded("ldlt"), estimates=estimates, options=Options(skip=skip))
        level = next(each for name, each in levels(replace(request, machine=HASWELL)) if name == "lanes")
        assert isinstance(level, Stepwise)
        found = [each for each in level.sections if isinstance(each.together, LanedRows)]
        assert len(found) == count
        assert len(level.sections) == (1 if count else 2)


def joined(operation: Op, *, later: bool = False) -> Function:
    """Rows of a band that join terms by an operation; later: those of rows beside their own."""
    A = Matrix(Double, "A", [N, K + 1])
    terms = ([i, d, e], [ROWS, OFFSETS, Interval(Int, 1, K)])
    best = Reduction(([i, d], [ROWS, OFFSETS]), terms, Double, "best")
    t = Function(([i, d], [ROWS, OFFSETS]), Double, "t", default=0.0)
    there = Condition(d + e, "<=", i) & Condition(d + e, "<=", K)
    other = t(i - 1, d + e - 1) if later else t(i - d, e)
    where = there & Condition(i, ">=", 1) if later else there
    best.defn = [Case(where, Reduce(best(i, d), t(i, d + e) * other, operation))]
    t.defn = [Case(Condition(d, "<=", i), A(i, d) - best(i, d))]
    return t


def test_other_operations_stay_as_they_are() -> None:
    assert len(laned(joined(Op.Sum))) == 1
    assert laned(joined(Op.Min)) == []


def test_rows_that_need_the_row_before_in_all_columns_stay() -> None:
    assert laned(joined(Op.Sum, later=True)) == []


def odd(kind: str) -> Function:
    """Rows that add a term twice where column and row are one, or read every second element of a matrix."""
    A, W = Matrix(Double, "A", [N, N]), Matrix(Double, "W", [N, N])
    triangle = ([i, j], [ROWS, Interval(Int, 0, i)])
    terms = ([i, j, k], [ROWS, Interval(Int, 0, i), Interval(Int, 0, j - 1)])
    total = Reduction(triangle, terms, Double, "total")
    L = Function(triangle, Double, "L")
    twice = Case(Condition(i, "==", j), Reduce(total(i, j), L(i, k) * L(j, k), Op.Sum))
    total.defn = [Reduce(total(i, j), L(i, k) * L(j, k), Op.Sum), *([twice] if kind == "twice" else [])]
    read = {"row": W(i, i // 2), "between": W(i, (i + j) // 2), "rest": W(i, (i + 2 * j) % 2)}
    L.defn = [
        Case(Condition(i, "==", j), A(i, i) + 0.1 * total(i, i)),
        Case(Condition(j, "<", i), read.get(kind, W(i, j)) - 0.1 * total(i, j) * L(j, j)),
    ]
    return L


def test_odd_rows_stay_as_they_are() -> None:
    assert len(laned(odd("even"))) == 1
    for kind in ("twice", "row", "between", "rest"):
        assert laned(odd(kind)) == []


@pytest.mark.parametrize("kind", ["even", "twice", "row", "between", "rest"])
def test_numbers_of_odd_rows(kind: str) -> None:
    run = pm.compile(odd(kind), name="y", estimates={N: 100}, options=Options(threads=1, skip=("sums",)))
    for size in (1, 9, 17, 33):
        A, W = np.random.default_rng(size).uniform(-0.5, 0.5, (2, size, size))
        np.testing.assert_allclose(run(A=A, W=W), run.reference(A=A, W=W), rtol=1e-12, atol=1e-12)
