"""Loops are priced by the instructions, loads and waiting that their code has, at the machine's rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.machine.calibrate import LineCrossing, VectorSeconds
from polymat.machine.known import HASWELL
from polymat.machine.model import Machine
from polymat.plan.loops import LoopPlan
from polymat.tilesize.loopprice import DIVISION, OVERLAP_LOSS, TO_UNSIGNED, Rates, loop_operations
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.pointdemand import (
    DIVISION_WAITS,
    FLOORED,
    PointDemand,
    point_demands,
)
from polymat.tilesize.stagework import VECTOR_SHARE
from tests.fixed import compiled_levels
from tests.machine.test_model import MEASURED

N = pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
ROW = [pm.Interval(pm.Int, 1, N - 2)]
SIZES = [pm.Condition(N, ">=", 100)]


def planned(stage: Any, inputs: list[Any]) -> tuple[Pipeline, LoopPlan]:
    pipeline = compiled_levels(stage, inputs=inputs, constraints=SIZES, estimates={N: 1000})["built"]
    assert isinstance(pipeline, Pipeline)
    (built,) = pipeline.stages
    return pipeline, plan_stage(Group((built.name,)), built, pipeline.context)


def demand(value: Callable[[Any, Any], Any], *, places: bool = False) -> PointDemand:
    """The demand of a point of a map over x, a vector of 4 N elements, and over places p."""
    x = pm.Vector(pm.Double, "x", [4 * N])
    p = pm.Vector(pm.Int, "p", [N], values=(0, N - 1))
    out = pm.Function(([i], ROW), pm.Double, "out")
    out.defn = [value(x, p)]
    pipeline, plan = planned(out, [x, p] if places else [x])
    (found,) = point_demands(pipeline.stages[0], plan, None, 1)
    return found


def test_additions_take_products_in_and_each_place_is_loaded_once() -> None:
    found = demand(lambda x, _: x(i - 1) + 2.0 * x(i) + x(i + 1) + x(i) * 3.0)
    assert found.instructions == 3.0  # of which two take a product in
    assert found.bytes == 3 * 8 + 8
    assert (found.picked, found.gathered, found.chain) == (0.0, 0.0, 0.0)


def test_what_no_loop_moves_costs_nothing() -> None:
    assert demand(lambda x, _: x(i) * (3.0 * N + 1.0)).instructions == 1.0
    assert demand(lambda x, _: x(i) + x(0)).bytes == 2 * 8


def test_a_division_is_beside_the_rest() -> None:
    found = demand(lambda x, _: x(i) / x(i + 1))
    assert (found.instructions, found.divisions) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("kind", "instructions"), [(pm.UInt, TO_UNSIGNED), (pm.Int, 1.0), (pm.UChar, 1.0), (pm.Float, 1.0)]
)
def test_no_narrow_vector_converts_to_unsigned_numbers_by_one_instruction(
    kind: Any, instructions: float
) -> None:
    found = demand(lambda x, _: pm.Cast(kind, x(i)))
    for bits, taken in ((256, instructions), (512, 1.0)):
        rates = Rates.of(replace(HASWELL, vector_bits=bits), 4)
        computing = replace(found, shuffles=0.0, bytes=0.0, accesses=0.0, chain=0.0)
        assert rates.by_vectors(computing) == pytest.approx(taken * rates.instruction / rates.lanes)


@pytest.mark.parametrize(
    ("read", "size", "shuffles", "gathered"),
    [
        (lambda x, _: x(2 * i), 16, 2.0, 0.0),
        (lambda x, _: x(i // 2), 4, 1.0, 0.0),
        (lambda x, _: x(i - 3 + 3), 8, 0.0, 0.0),
        (lambda x, p: x(p(i)), 4, 0.0, 1.0),
    ],
)
def test_neighbours_are_loaded_by_vectors_and_others_one_by_one(
    read: Any, size: float, shuffles: float, gathered: float
) -> None:
    found = demand(read, places=gathered > 0.0)
    assert found.bytes == pytest.approx(size + 8)
    assert found.shuffles == pytest.approx(shuffles)
    assert (found.picked, found.gathered) == (0.0, gathered)


@pytest.mark.parametrize(
    ("read", "picked", "gathered"),
    [
        (lambda x, p: x(p(i)) + x(p(i) + N) + x(p(i) + 2 * N), 2.0, 1.0),
        (lambda x, p: x(p(i)) + x(p(i + 1)), 0.0, 2.0),
        (lambda x, p: x(p(i)) + x(p(i) + i), 0.0, 2.0),
    ],
)
def test_a_place_that_several_reads_have_is_taken_out_of_a_vector_once(
    read: Any, picked: float, gathered: float
) -> None:
    found = demand(read, places=True)
    assert (found.picked, found.gathered) == (picked, gathered)


def test_columns_are_loaded_one_by_one() -> None:
    A = pm.Matrix(pm.Double, "A", [N, N])
    out = pm.Function(([i, j], [*ROW, *ROW]), pm.Double, "out")
    out.defn = [A(j, i) * 2.0]
    pipeline, plan = planned(out, [A])
    (found,) = point_demands(pipeline.stages[0], plan, None, 1)
    assert (found.picked, found.gathered, found.bytes) == (1.0, 0.0, 8.0)


def test_rows_by_turns_divide_the_index_of_each_point() -> None:
    """No vector divides indices; a row that is read slower takes shuffles alone."""
    A, x = pm.Matrix(pm.Double, "A", [N, N]), pm.Vector(pm.Double, "x", [N])
    turns, slower = (
        pm.Function(([i], [pm.Interval(pm.Int, 0, 3 * 10 - 1)]), pm.Double, name)
        for name in ("turns", "slower")
    )
    turns.defn = [A(i % 3, i // 3) + A(i % 3, i // 3 + 1)]
    slower.defn = [x(i // 3)]
    for out, read, picked in ((turns, A, 2.0 + FLOORED), (slower, x, 0.0)):
        pipeline, plan = planned(out, [read])
        (found,) = point_demands(pipeline.stages[0], plan, None, 1)
        assert (found.picked, found.gathered) == (picked, 0.0)


def test_rows_side_by_side_share_what_they_load() -> None:
    A = pm.Matrix(pm.Double, "A", [N, N])
    out = pm.Function(([i, j], [*ROW, *ROW]), pm.Double, "out")
    out.defn = [A(i - 1, j) + A(i, j) + A(i + 1, j)]
    pipeline, plan = planned(out, [A])
    alone, two = (point_demands(pipeline.stages[0], plan, "i", rows)[0].bytes for rows in (1, 2))
    assert (alone, two) == (4 * 8, 3 * 8)
    (shifted,) = point_demands(pipeline.stages[0], replace(plan, lanes=8), "i", 1)
    assert shifted.bytes == 4 * 8  # none of them is beside another in its row


def test_neighbours_are_shuffled_out_of_one_vector() -> None:
    """In explicit vectors, and in one loop over the rows of several stages, whose values are in registers."""
    x = pm.Vector(pm.Double, "x", [N])
    out = pm.Function(([i], ROW), pm.Double, "out")
    out.defn = [x(i - 1) + x(i) + x(i + 1)]
    pipeline, plan = planned(out, [x])
    (built,) = pipeline.stages
    (apart,) = point_demands(built, plan, None, 1)
    (shifted,) = point_demands(built, replace(plan, lanes=8), None, 1)
    assert (apart.bytes, apart.instructions) == (4 * 8, 2.0)
    assert (shifted.bytes, shifted.instructions, shifted.shuffles) == (2 * 8, 2.0, 2.0)
    (kept,) = point_demands(built, plan, None, 1, frozenset({"x"}))
    assert (kept.bytes, kept.instructions, kept.shuffles) == (8, 2.0, 2.0)


def recurrence(value: Callable[[Any, Any], Any]) -> tuple[Pipeline, LoopPlan]:
    x = pm.Vector(pm.Double, "x", [N])
    y = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "y")
    y.defn = [pm.Case(pm.Condition(i, "==", 0), x(0)), pm.Case(pm.Condition(i, ">=", 1), value(x, y))]
    return planned(y, [x])


@pytest.mark.parametrize(
    ("value", "chain"),
    [
        (lambda x, y: x(i) + 0.5 * y(i - 1), 1.0),
        (lambda x, y: 0.5 * y(i - 1), 1.0),
        (lambda x, y: x(i) + (x(i - 1) + y(i - 1)), 2.0),
        (lambda x, y: (x(i) - 0.5 * y(i - 1)) / x(i - 1), 1.0 + DIVISION_WAITS),
    ],
)
def test_a_recurrence_waits_along_its_longest_path(value: Any, chain: float) -> None:
    pipeline, plan = recurrence(value)
    assert max(each.chain for each in point_demands(pipeline.stages[0], plan, None, 1)) == chain


def seconds(pipeline: Pipeline, plan: LoopPlan, machine: Machine) -> float:
    (stage,) = pipeline.stages
    worth = loop_operations(plan, stage, plan, machine, {"N": 1000}, 8)
    return worth / (machine.peak_flops(8) * VECTOR_SHARE)


def test_a_recurrence_takes_the_latency_of_its_chain() -> None:
    pipeline, plan = recurrence(lambda x, y: x(i) + 0.5 * y(i - 1))
    expected = 999 * HASWELL.fma_latency / HASWELL.hertz
    assert seconds(pipeline, plan, HASWELL) == pytest.approx(expected, rel=0.01)
    slower = replace(HASWELL, fma_latency=2 * HASWELL.fma_latency)
    assert seconds(pipeline, plan, slower) == pytest.approx(2 * expected, rel=0.01)


def test_loops_take_what_is_scarcest() -> None:
    """Loads where there are many; arithmetic where the first level is fast, and divisions beside it."""
    x = pm.Vector(pm.Double, "x", [N])
    loads, divides = (pm.Function(([i], ROW), pm.Double, name) for name in ("loads", "divides"))
    loads.defn = [x(i - 1) + x(i) + x(i + 1)]
    divides.defn = [x(i) / 3.0]
    many, slow = planned(loads, [x]), replace(HASWELL, l1_bandwidth=HASWELL.l1_bandwidth / 2)
    assert 1.5 < seconds(*many, slow) / seconds(*many, HASWELL) <= 2.0
    quick = replace(HASWELL, l1_bandwidth=1e15)
    rates = Rates.of(quick, 8)
    assert rates.instruction == pytest.approx(1 / (2 * HASWELL.hertz))
    assert seconds(*many, quick) == pytest.approx(998 * 2 / 4 * rates.instruction, rel=0.01)
    assert seconds(*planned(divides, [x]), quick) == pytest.approx(
        998 / 4 * DIVISION * rates.instruction, rel=0.01
    )


def test_rates_are_those_that_were_measured() -> None:
    vector, lanes = HASWELL.vector_bits // 8, HASWELL.lanes(8)
    measured = replace(
        MEASURED,
        vectors=(VectorSeconds(4, 1.0, 2.0, 3.0, 4.0), VectorSeconds(8, 4e-9, 1e-9, 2e-10, 5e-10)),
        crossings=(LineCrossing(vector, 1, 5e10),),
    )
    rates = Rates.of(replace(HASWELL, calibration=measured), 8)
    assert (rates.division, rates.shuffle, rates.picked, rates.gathered) == (4e-9, 1e-9, 2e-10, 5e-10)
    assert rates.byte == 1 / 5e10
    of_none = PointDemand(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8, backwards=False)
    for name, expected in (
        ("shuffles", 1e-9 / lanes),
        ("divisions", 4e-9 / lanes),
        ("picked", max(2e-10, rates.load) + OVERLAP_LOSS * min(2e-10, rates.load)),
        ("gathered", max(5e-10, rates.load) + OVERLAP_LOSS * min(5e-10, rates.load)),
        ("bytes", 1 / 5e10),
    ):
        changed: dict[str, Any] = {name: 1.0}
        assert rates.by_vectors(replace(of_none, **changed)) == pytest.approx(expected)
