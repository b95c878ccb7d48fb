"""Which stages are the places of extremes: those of ArgMin and ArgMax, and what just is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from polymat import Condition, Double, Float, Int, Long, Op, Select
from polymat.graph.build import build
from polymat.graph.placesofextremes import find_positions

M, N = pm.Parameter(Int, "M"), pm.Parameter(Int, "N")
i, k = pm.Variable(Int, "i"), pm.Variable(Int, "k")
ROWS, COLUMNS = pm.Interval(Int, 0, M - 1), pm.Interval(Int, 0, N - 1)
A = pm.Matrix(Double, "A", [M, N])
LARGEST = 2**63 - 1


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("kind", [Double, Float, Int, pm.UChar], ids=str)
def test_positions_of_every_kind(kind: Any, axis: int | None) -> None:
    place = pm.Matrix(kind, "B", [M, N]).argmin(axis=axis).named("place")
    pipeline = find_positions(build([place]))
    (pair,) = pipeline.positions
    assert pair.place == "place"
    assert pipeline.stage(pair.extreme).op is Op.Min
    assert f"position place is where {pair.extreme} is" in str(pipeline)


def first_of_rows(high: Any, condition: Any = None) -> pm.Reduction:
    """The places of the largest elements of rows, up to one of them, and of elements that a Case leaves."""
    place = pm.Reduction(([i], [ROWS]), ([i, k], [pm.Interval(Int, 0, high), COLUMNS]), Long, "place")
    reduced = pm.Reduce(place(i), A(i, k), Op.ArgMax)
    place.defn = [reduced if condition is None else pm.Case(condition, reduced)]
    return place


def places(
    value: Any, number: Any, *, otherwise: int = LARGEST, op: Op = Op.Min, unordered: bool = True
) -> Any:
    """Rows of A with their largest elements, and what is said of where these are."""
    most = pm.Reduction(([i], [ROWS]), ([i, k], [ROWS, COLUMNS]), Double, "most")
    most.defn = [pm.Reduce(most(i), A(i, k), Op.Max)]
    place = pm.Reduction(([i], [ROWS]), ([i, k], [ROWS, COLUMNS]), Long, "place")
    found = Condition(value, "==", most(i))
    found = found | Condition(value, "!=", value) if unordered else found
    chosen = Select(found, pm.Cast(Long, number), otherwise)
    place.defn = [pm.Reduce(place(i), chosen, op)]
    return place


def test_positions_of_all_rows() -> None:
    assert len(find_positions(build([first_of_rows(M - 1)])).positions) == 1


def test_a_position_that_a_user_has_written() -> None:
    pipeline = find_positions(build([places(A(i, k), k)]))
    assert [str(each) for each in pipeline.positions] == ["place is where most is"]


NONE: dict[str, Callable[[], pm.Function]] = {
    "of another element": lambda: places(A(i, k) + 1.0, k),
    "numbers that fall": lambda: places(A(i, k), N - k),
    "another number of what is none": lambda: places(A(i, k), k, otherwise=7),
    "the last one": lambda: places(A(i, k), k, op=Op.Max),
    "results without points": lambda: first_of_rows(M - 2),
    "results that a Case leaves out": lambda: first_of_rows(M - 1, Condition(i, ">=", 1)),
    "points that a Case leaves out": lambda: first_of_rows(M - 1, Condition(k, ">=", 3)),
    "NaN left out": lambda: places(A(i, k), k, unordered=False),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_position(name: str) -> None:
    built = build([NONE[name]()])
    assert find_positions(built) is built
