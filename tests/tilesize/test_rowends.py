"""Ends of rows are priced as what compilers make of them: half vectors, and points by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.machine.known import HASWELL
from polymat.plan.loops import LoopPlan
from polymat.tilesize.loopprice import Rates
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.pointdemand import PointDemand, point_demands
from polymat.tilesize.rowends import RowEnds, has_ends, rows_of
from tests.fixed import compiled_levels

R, N = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
SIZES = {"R": 100, "N": 46}
WIDE = replace(HASWELL, vector_bits=512)


def planned(
    value: Any, kind: Any = pm.Double, columns: Any = None, beside: int = 2
) -> tuple[Pipeline, LoopPlan]:
    """A map of rows of A, which has so many columns more than the result."""
    A = pm.Matrix(kind, "A", [R, N + beside])
    out = pm.Function(
        ([i, j], [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 0, N - 1)]), pm.Float, "out"
    )
    out.defn = [value(A)] if columns is None else [pm.Case(columns, value(A))]
    pipeline = compiled_levels(out, inputs=[A], estimates={R: 100, N: 46})["built"]
    assert isinstance(pipeline, Pipeline)
    (stage,) = pipeline.stages
    return pipeline, plan_stage(Group((stage.name,)), stage, pipeline.context)


def ends(value: Any, beside: int = 2, **changes: Any) -> bool:
    pipeline, plan = planned(value, pm.Float, beside=beside)
    plan = replace(plan, **changes)
    return has_ends(pipeline, plan, pipeline.stages[0], plan, SIZES)


def demand(value: Any, kind: Any) -> PointDemand:
    pipeline, plan = planned(value, kind)
    (found,) = point_demands(pipeline.stages[0], plan, None, 1)
    return found


@pytest.mark.parametrize(
    ("length", "lanes", "vectors", "points"),
    [(48, 16, 3, 0), (46, 16, 3, 6), (41, 16, 3, 1), (47, 8, 6, 3), (7, 4, 2, 1), (5, 1, 5, 0)],
)
def test_a_row_is_whole_vectors_a_half_one_and_points(
    length: float, lanes: int, vectors: float, points: float
) -> None:
    assert RowEnds(length, alike=True).vectors_and_points(lanes) == (vectors, points)


def test_of_rows_of_all_lengths_the_mean_is_left() -> None:
    assert RowEnds(40.0, alike=False).vectors_and_points(16) == (2.5, 3.5)


def test_rows_that_follow_each_other_end_once() -> None:
    assert ends(lambda A: A(i, j) * 2.0)
    assert not ends(lambda A: A(i, j) * 2.0, beside=0)
    assert ends(lambda A: A(R - 1 - i, j) * 2.0, beside=0)


def test_where_neighbours_are_shifted_a_mask_ends_a_row() -> None:
    assert not ends(lambda A: A(i, j) + A(i, j + 1), lanes=8)
    assert ends(lambda A: A(i, j) + A(i, j + 1))


def test_few_points_are_written_out() -> None:
    stage = planned(lambda A: A(i, j))[0].stages[0]
    assert rows_of(stage, SIZES, 0) == RowEnds(46.0, alike=True)
    assert rows_of(stage, {"R": 100, "N": 16}, 0) is None


def test_rows_of_a_triangle_are_not_alike() -> None:
    below = pm.Function(
        ([i, j], [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 0, i)]), pm.Double, "below"
    )
    below.defn = [pm.Matrix(pm.Double, "A", [R, R])(i, j) * 2.0]
    pipeline = compiled_levels(below, estimates={R: 100})["built"]
    assert isinstance(pipeline, Pipeline)
    assert rows_of(pipeline.stages[0], {"R": 100}, 0) == RowEnds(100.0, alike=False)


def test_a_point_by_itself_takes_as_many_instructions_as_a_vector() -> None:
    found = demand(lambda A: pm.Sin(A(i, j)), pm.Float)
    rates = Rates.of(WIDE, 4)
    assert rates.of_rows(found, 1600.0, RowEnds(16.0, alike=True)) == pytest.approx(
        rates.of_rows(found, 1600.0, None)
    )
    one, seven = (rates.of_rows(found, 100.0 * n, RowEnds(float(n), alike=True)) for n in (17, 23))
    assert seven - one == pytest.approx(600.0 * rates.by_itself(found))
    assert rates.by_itself(found) == pytest.approx(rates.lanes * rates.by_vectors(found), rel=0.2)


@pytest.mark.parametrize(
    ("kind", "place", "backwards"),
    [(pm.Double, N - 1 - j, True), (pm.Double, j, False), (pm.Float, N - 1 - j, False)],
)
def test_what_is_wider_than_the_smallest_is_not_read_backwards_by_vectors(
    kind: Any, place: Any, backwards: bool
) -> None:
    found = demand(lambda A: pm.Cast(pm.Float, A(i, place)) * 2.0, kind)
    assert found.backwards == backwards
    rates = Rates.of(WIDE, 8)
    assert (rates.by_vectors(found) == rates.by_itself(found)) == backwards
