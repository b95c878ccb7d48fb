"""Rows of sums of a few terms are priced by what they load and store; longer ones by their operations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.known import HASWELL
from polymat.plan.loops import LoopPlan
from polymat.tilesize.loopprice import Rates, loop_operations
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.pointdemand import point_demands
from polymat.tilesize.shortloops import WRITTEN_OUT, written_out_terms
from polymat.tilesize.stagework import VECTOR_SHARE, sum_operations
from tests.fixed import compiled_levels

N = pm.Parameter(pm.Int, "N")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
SIZES = {"N": 1000}


def summed(terms: Any, kind: Any = pm.Double) -> tuple[Stage, LoopPlan]:
    """Sums of so many terms of rows of their own, and their loops by rows of results."""
    rows, points, depth = (pm.Interval(pm.Int, 0, end - 1) for end in (4, N, terms))
    a = pm.Matrix(kind, "a", [4, terms])
    x = pm.Matrix(kind, "x", [terms, N])
    out = pm.Reduction(([i, j], [rows, points]), ([i, j, k], [rows, points, depth]), kind, "out")
    out.defn = [pm.Reduce(out(i, j), a(i, k) * x(k, j), pm.Op.Sum)]
    pipeline = compiled_levels(out, inputs=[a, x], estimates={N: 1000})["built"]
    assert isinstance(pipeline, Pipeline)
    (stage,) = pipeline.stages
    plan = plan_stage(Group((stage.name,)), stage, pipeline.context)
    return stage, replace(plan, kind="row", order=("i", "k", "j"), vector="j", unroll=1)


def seconds(stage: Stage, plan: LoopPlan) -> float:
    """The price of the loops."""
    found = loop_operations(plan, stage, plan, HASWELL, SIZES, stage.dtype.size)
    return found / (HASWELL.peak_flops(stage.dtype.size) * VECTOR_SHARE)


@pytest.mark.parametrize("terms", [1, 3, 4, WRITTEN_OUT])
def test_terms_of_a_known_number_are_counted(terms: int) -> None:
    stage, _ = summed(terms)
    assert written_out_terms(stage) == (terms,)


@pytest.mark.parametrize("terms", [WRITTEN_OUT + 1, N, 0])
def test_terms_that_are_not_written_out_are_not(terms: Any) -> None:
    assert written_out_terms(summed(terms)[0]) is None


@pytest.mark.parametrize(("addends", "passes"), [(1, 4), (2, 2), (3, 2), (4, 1), (8, 4)])
def test_results_are_loaded_and_stored_once_a_pass(addends: int, passes: int) -> None:
    """Four terms of an element by so many at a time, and the rest one by one."""
    stage, plan = summed(4)
    plan, rates = replace(plan, addends=addends), Rates.of(HASWELL, 8)
    begin, term = point_demands(stage, plan, plan.parallel, plan.unroll)
    each = replace(term, bytes=term.bytes + 16.0 * passes / 4)
    expected = 4 * 1000 * (rates.by_vectors(begin) + 4 * rates.by_vectors(each))
    assert seconds(stage, plan) == pytest.approx(expected)


@pytest.mark.parametrize(("terms", "least", "most"), [(4, 1.0, 2.0), (N, 2.4, 2.6)])
def test_single_rows_of_few_terms_do_not_wait_as_long_sums_do(terms: Any, least: float, most: float) -> None:
    stage, plan = summed(terms)
    one, four = (seconds(stage, replace(plan, addends=4, unroll=rows)) for rows in (1, 4))
    assert least * four < one < most * four


@pytest.mark.parametrize("kept", [{"lanes": 4}, {"kind": "reduce"}])
def test_sums_in_registers_are_priced_by_their_operations(kept: dict[str, Any]) -> None:
    stage, plan = summed(4)
    plan = replace(plan, **kept)
    expected = sum_operations(stage, SIZES, plan.order, plan.slowdown(1), 1.0)
    assert seconds(stage, plan) == pytest.approx(expected / (HASWELL.peak_flops(8) * VECTOR_SHARE))
