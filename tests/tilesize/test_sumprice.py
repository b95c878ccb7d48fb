"""Sums are priced by what each of their loops computes: additions that wait, functions that do not."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.graph.operations import node_operations, operations_among
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.expr import Call
from polymat.lang.traverse import walk
from polymat.tilesize.stagework import stage_operations, sum_operations
from tests.fixed import compiled_levels

N = pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
ROWS, COLUMNS = ("i", "j"), ("j", "i")
SIZES = {"N": 1000}


def summed(term: Any, kind: Any = pm.Double, op: Any = pm.Op.Sum) -> Stage:
    """The stage of a sum of what `term` makes of x(i) and y(j) over both."""
    x, y = pm.Vector(pm.Double, "x", [N]), pm.Vector(pm.Double, "y", [N])
    whole = pm.Interval(pm.Int, 0, N - 1)
    out = pm.Reduction(([], []), ([i, j], [whole, whole]), kind, "out")
    out.defn = [pm.Reduce(out(), term(x(i), y(j)), op)]
    pipeline = compiled_levels(out, inputs=[x, y], estimates={N: 1000})["built"]
    assert isinstance(pipeline, Pipeline)
    (stage,) = pipeline.stages
    return stage


def test_sums_compute_before_a_loop_what_it_does_not_change() -> None:
    """A sine of each row, not of each point; in the other order of the loops, of each point."""
    stage = summed(lambda x, y: pm.Sin(x) * y)
    each, rest = stage_operations(stage, SIZES), 2.0 * 1000 * 1000
    sine = each - rest - 1.0
    assert sum_operations(stage, SIZES, ROWS, 1.0, 1.0) == pytest.approx(rest + 1.0 + sine / 1000)
    assert sum_operations(stage, SIZES, COLUMNS, 1.0, 1.0) == pytest.approx(each)


def test_functions_before_a_loop_wait_for_each_of_their_instructions() -> None:
    stage = summed(lambda x, y: pm.Sin(x) * y)
    sine = stage_operations(stage, SIZES) - 2.0 * 1000 * 1000 - 1.0
    once, waiting = (sum_operations(stage, SIZES, ROWS, 1.0, each) for each in (1.0, 16.0))
    assert waiting - once == pytest.approx(15.0 * sine / 1000)
    assert sum_operations(stage, SIZES, COLUMNS, 1.0, 16.0) == sum_operations(stage, SIZES, COLUMNS, 1.0, 1.0)


def test_functions_of_terms_do_not_wait_for_additions() -> None:
    stage = summed(lambda x, y: pm.Sin(x) * y)
    alone, slow = (sum_operations(stage, SIZES, COLUMNS, each, 16.0) for each in (1.0, 2.5))
    assert slow - alone == pytest.approx(1.5 * (2.0 * 1000 * 1000 + 1.0))


@pytest.mark.parametrize(("narrow", "times"), [(pm.Double, 1.0), (pm.Float, 0.5)])
def test_functions_one_by_one_count_by_the_lanes_of_the_loop(narrow: Any, times: float) -> None:
    """Four of a vector of float64 are computed one after the other, whatever type they have."""
    stage = summed(lambda x, y: pm.I0(pm.Cast(narrow, y)) + x)
    ((_, expr),) = [each for each in stage.expressions() if "I0" in str(each[1])]
    (function,) = (node for node in walk(expr) if isinstance(node, Call))
    assert operations_among(function, 8) == times * node_operations(function)
    assert operations_among(expr, 8) == node_operations(expr) == 1.0
    more = node_operations(function) - operations_among(function, 8)
    counted = stage_operations(stage, SIZES) - sum_operations(stage, SIZES, ROWS, 1.0, 1.0)
    assert counted == pytest.approx(more * 1000 * 1000)
