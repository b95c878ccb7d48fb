"""Outermost iterations that threads take by turns: which may, and how far they stay behind each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval
from polymat.graph.build import build
from polymat.graph.recurrence import copies, later_reads, recurrence_statements
from polymat.poly.lifespan import folds, lifespans
from polymat.poly.order import Order, find_order
from polymat.poly.pipelined import pipelined
from polymat.poly.staggered import staggered
from polymat.poly.trailing import Trail

M, N, T = (pm.Parameter(Int, name) for name in "MNT")
t, i, j = (pm.Variable(Int, name) for name in "tij")
A = pm.Matrix(Double, "A", [M, N])

SWEEPS = {
    "the row below": (lambda x: x(t, i, j - 1) + x(t, i - 1, j) + x(t - 1, i + 1, j), Trail(8, 2, 1)),
    "ten rows below": (lambda x: x(t, i, j - 1) + x(t, i - 1, j) + x(t - 1, i + 10, j), Trail(8, 2, 2)),
    "no other row": (lambda x: x(t, i, j - 1) + x(t - 1, i, j + 1) + x(t, i - 1, j - 1), Trail(8, 2, 1)),
    "a row far above": (lambda x: x(t, i, j - 1) + x(t - 1, i - 5, j) + x(t, i - 5, j), Trail(1, 0, 5)),
}
APART = {
    "any row": lambda x: x(t, i, j - 1) + x(t, i - 1, j) + x(t - 1, M - 1 - i, j),
    "far rows": lambda x: x(t, i, j - 1) + x(t, i - 1, j) + x(t - 1, i + 100, j),
    "nothing of its sweep": lambda x: x(t - 1, i, j) + x(t - 1, i + 1, j),
}


def order_of(value: Any) -> Order:
    """The order of a field that is swept over, given along its borders."""
    plane = [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    x = Function(([t, i, j], [Interval(Int, 0, T), *plane]), Double, "x", default=A(i, j))
    inner = Condition(t, ">=", 1) & Condition(i, ">=", 2) & Condition(j, ">=", 1) & Condition(j, "<=", N - 2)
    x.defn = [Case(inner & Condition(i, "<=", M - 2), pm.Select(Condition(i, "<=", M - 200), value(x), 0.0))]
    pipeline = build([x])
    stage = pipeline.stage("x")
    statements = recurrence_statements(stage, pipeline.context)
    order = find_order(statements, pipeline.context)
    assert isinstance(order, Order)
    return pipelined(staggered(order, statements), statements)


@pytest.mark.parametrize("name", SWEEPS)
def test_steps_stay_behind_by_what_they_need(name: str) -> None:
    value, trailing = SWEEPS[name]
    assert order_of(value).trailing == trailing


@pytest.mark.parametrize("name", APART)
def test_steps_wait_for_whole_steps(name: str) -> None:
    assert order_of(APART[name]).trailing is None


def test_what_may_still_be_read_keeps_its_place() -> None:
    """A row is needed for the next one of its sweep: it is overwritten only where that is surely done."""
    plane = [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    x = Function(([t, i, j], [Interval(Int, 0, T), *plane]), Double, "x", default=A(i, j))
    inner = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(j, ">=", 1)
    x.defn = [Case(inner, x(t, i, j - 1) + x(t, i - 1, j) + x(t - 1, i, j))]
    last = Function(([i, j], plane), Double, "last")
    last.defn = [x(T, i, j)]
    pipeline = build([last])
    stage = pipeline.stage("x")
    statements = recurrence_statements(stage, pipeline.context)
    order = find_order(statements, pipeline.context)
    assert isinstance(order, Order)
    later = [*later_reads(pipeline, stage)]
    found = []
    for ahead in (1, 0):
        trailing = replace(order, trailing=Trail(1, 0, ahead))
        spans = lifespans(statements, trailing, shared=None, later=later)
        found.append(folds(spans, [9, 0, 0], [*copies(stage)])[0])
    assert found == [1, None]
