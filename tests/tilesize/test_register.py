"""How many rows run together, by what they share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Double, Function, Int, Interval, Matrix, Op, Variable, Vector
from polymat.graph.aligned import Member
from polymat.graph.group import Group
from polymat.graph.stage import Stage
from polymat.machine.known import HASWELL, ZEN5
from polymat.plan.loops import LoopPlan
from polymat.plan.schedule import Schedule
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.register import (
    ADDENDS,
    ROLLING_ROWS,
    ROWS_COMPLEX,
    ROWS_REDUCED,
    ROWS_UPDATED,
    WAYS,
    compares_computed,
    in_rows,
    side_by_side,
    unrolled,
)
from tests.fixed import WIDE, compiled_levels
from tests.hosts import as_stated
from tests.idiom.recognise import K, M, N, i, j, k, pipeline, total, upto

A, B, x = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, M]), Vector(Double, "x", [K])
ROWS, SUMMED = [(i, upto(M))], [(k, upto(K))]


def planned(output: Any) -> tuple[Stage, LoopPlan]:
    """The one stage of an output, and its loops with nothing unrolled."""
    built = pipeline(output)
    stage = built.stages[-1]
    plan = plan_stage(Group((stage.name,)), stage, built.context)
    assert isinstance(plan, LoopPlan)
    return stage, replace(plan, unroll=1, addends=1, lanes=1, terms=False)


def stencil(*rows: int) -> Any:
    """A sum of rows beside each point."""
    image = pm.Image(Double, "image", [M, N])
    made = Function(([i, j], [Interval(Int, 2, M - 3), Interval(Int, 0, N - 1)]), Double, "y")
    first, *others = (image(i + row, j) for row in rows)
    made.defn = [sum(others, first)]
    return made


def test_sums_side_by_side_fill_half_of_the_registers() -> None:
    stage, plan = planned(total("y", ROWS, SUMMED, A(i, k) * x(k)))
    assert plan.kind == "reduce"
    assert unrolled(stage, plan).unroll == ROWS_REDUCED


def test_complex_sums_take_twice_the_registers() -> None:
    Z, z = Matrix(Complex, "Z", [M, K]), Vector(Complex, "z", [K])
    stage, plan = planned(total("y", ROWS, SUMMED, Z(i, k) * z(k), dtype=Complex))
    assert unrolled(stage, plan).unroll == ROWS_COMPLEX


def test_rows_in_memory_are_added_to_several_times_at_once() -> None:
    result = [(i, upto(M)), (j, upto(N))]
    stage, plan = planned(total("C", result, SUMMED, A(i, k) * Matrix(Double, "E", [K, N])(k, j)))
    row = replace(plan, kind="row")
    assert (unrolled(stage, row).unroll, unrolled(stage, row).addends) == (ROWS_UPDATED, ADDENDS)


def each_by_itself() -> Any:
    """A product of two small matrices for each of many, which are the last dimension."""
    b = Variable(Int, "b")
    first, second = pm.Image(Double, "first", [3, 5, N]), pm.Image(Double, "second", [5, 7, N])
    result = [(i, upto(3)), (j, upto(7)), (b, upto(N))]
    return total("each", result, [(k, upto(5))], first(i, k, b) * second(k, j, b))


def test_rows_that_add_up_rows_of_their_own_are_fewer() -> None:
    """Four of them would read sixteen rows of an array side by side: more than a set of a cache holds."""
    stage, plan = planned(each_by_itself())
    assert plan.kind == "row"
    for along in ("i", "j", None):
        found = unrolled(stage, plan, along)
        assert (found.unroll, found.addends) == (WAYS // ADDENDS, ADDENDS)


def test_products_of_many_small_matrices() -> None:
    product = pm.compile(each_by_itself(), name="each", options=pm.Options(threads=1))
    for many in (0, 1, 2, 3, 5, 8, 511, 512, 513, 1027):
        rng = np.random.default_rng(many)
        first, second = rng.random((3, 5, many)), rng.random((5, 7, many))
        found = product(first=first, second=second)
        np.testing.assert_allclose(found, product.reference(first=first, second=second), rtol=1e-14)


def test_what_is_computed_before_it_is_compared_fills_rows_of_terms() -> None:
    stage, plan = planned(total("y", ROWS, SUMMED, A(i, k) * x(k), op=Op.Max, init=-1e300))
    assert compares_computed(stage)
    assert unrolled(stage, replace(plan, kind="reduce")).terms
    plain, loops = planned(total("y", ROWS, SUMMED, A(i, k), op=Op.Max, init=-1e300))
    assert not compares_computed(plain)
    assert not unrolled(plain, loops).terms


def test_maps_and_recurrences_are_left_alone() -> None:
    stage, plan = planned(stencil(-1, 1))
    assert unrolled(stage, plan) is plan


@pytest.mark.parametrize(
    ("rows", "shares"), [((-1, 0), True), ((-1, 1), False), ((-1, 0, 1), True), ((0,), False)]
)
def test_rows_run_together_where_neighbours_read_the_same(rows: tuple[int, ...], shares: bool) -> None:
    stage, plan = planned(stencil(*rows))
    assert in_rows(stage, plan, ZEN5, "i", free=True).unroll == (ROLLING_ROWS if shares else 1)
    assert in_rows(stage, plan, ZEN5, "i", free=True).lanes == ZEN5.lanes(8)
    narrow = in_rows(stage, replace(plan, parallel=None), HASWELL, "i")
    assert (narrow.unroll, narrow.lanes) == (ROLLING_ROWS if shares else 1, 1)
    assert in_rows(stage, plan, ZEN5, "j").unroll == 1


def test_sums_have_vectors_of_the_machine() -> None:
    stage, plan = planned(total("y", ROWS, SUMMED, A(i, k) * x(k)))
    assert in_rows(stage, plan, HASWELL, None).lanes == HASWELL.lanes(8)


def test_blocks_run_along_the_first_dimension_that_shares() -> None:
    b = Variable(Int, "b")
    planes = pm.Image(Double, "planes", [K, M, N])
    made = Function(([b, i, j], [upto(K), Interval(Int, 1, M - 2), upto(N)]), Double, "y")
    made.defn = [planes(b, i - 1, j) + planes(b, i, j)]
    stage, _ = planned(made)
    member = Member(stage.name, ("b", "i", "j"), ((0, 0),) * 3)
    assert side_by_side(stage, member, [member]) == 1
    wide = Member("other", ("b", "i", "j"), ((1, 0), (0, 0), (0, 0)))
    assert side_by_side(stage, member, [member, wide]) == 0


@pytest.mark.parametrize(("seconds", "rows"), [(0.0, 1), (1e-12, ROLLING_ROWS), (5e-9, 1)])
def test_rows_beyond_the_first_level_are_stored_side_by_side_where_that_costs_less_than_it_saves(
    seconds: float, rows: int
) -> None:
    """0.0: nobody measured it."""
    stage, plan = planned(stencil(-1, 0, 1))
    known = as_stated(ZEN5)
    assert known.calibration is not None
    machine = known.with_calibration(replace(known.calibration, pair_seconds=seconds))
    assert in_rows(stage, plan, machine, "i").unroll == rows
    assert in_rows(stage, plan, machine, "i", free=True).unroll == ROLLING_ROWS


@pytest.mark.parametrize(("size", "rows"), [(40, ROLLING_ROWS), (400, 1)])
def test_a_stage_by_itself_stores_rows_side_by_side_where_the_first_level_holds_them(
    size: int, rows: int
) -> None:
    known = as_stated(WIDE)
    assert known.calibration is not None
    machine = known.with_calibration(replace(known.calibration, pair_seconds=5e-9))
    built = compiled_levels(stencil(-1, 0, 1), machine=machine, estimates={M: size, N: size})["tilesize"]
    assert isinstance(built, Schedule)
    (plan,) = built.plans
    assert isinstance(plan, LoopPlan)
    assert plan.unroll == rows
