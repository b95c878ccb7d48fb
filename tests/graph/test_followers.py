"""Recurrences that follow a circle take its steps with it, where less stays in memory then."""

from __future__ import annotations

from typing import Any

import polymat as pm
from polymat import Case, Condition, Function, Int, Interval
from polymat.graph.build import build
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise
from polymat.graph.verifypipeline import verify

T, N = pm.Parameter(Int, "T"), pm.Parameter(Int, "N")
t, i, s = (pm.Variable(Int, name) for name in "tis")
TIMES, POINTS = Interval(Int, 0, T), Interval(Int, 0, N - 1)
start = pm.Vector(pm.Double, "start", [N])


def over_time(name: str, value: Any, begin: Any = 0.0) -> Function:
    f = Function(([t, i], [TIMES, POINTS]), pm.Double, name)
    f.defn = [Case(Condition(t, "==", 0), begin), Case(Condition(t, ">=", 1), value(f))]
    return f


def circle() -> tuple[Function, Function]:
    """Two states that need each other."""
    p, r = (Function(([t, i], [TIMES, POINTS]), pm.Double, name) for name in "pr")
    for one, other in ((p, r), (r, p)):
        later = Case(Condition(t, ">=", 1), other(t - 1, N - 1 - i) / 2)
        one.defn = [Case(Condition(t, "==", 0), start(i)), later]
    return p, r


def last(f: Function) -> Function:
    out = Function(([i], [POINTS]), pm.Double, f"last_{f.name}")
    out.defn = [f(T, i)]
    return out


def planes(*outputs: Function) -> dict[str, str]:
    """How many planes there are of what is made step by step."""
    stepwise = in_sections(verify(build(list(outputs))))
    assert isinstance(stepwise, Stepwise)
    return {held.name: str(held.planes) for held in stepwise.held if held.origin is not None}


def test_a_sum_over_steps_takes_them_too() -> None:
    p, _ = circle()
    doubled = Function(([t, i], [TIMES, POINTS]), pm.Double, "doubled")
    doubled.defn = [2 * p(t, i)]
    x = over_time("x", lambda f: f(t - 1, i) + doubled(t, i))
    assert planes(last(x)) == {"p": "2", "r": "2", "x": "2"}


def test_what_follows_a_follower() -> None:
    p, _ = circle()
    x = over_time("x", lambda f: f(t - 1, i) + p(t, i))
    y = over_time("y", lambda f: f(t - 1, i) + x(t - 1, i))
    assert planes(last(y)) == {"p": "2", "r": "2", "x": "2", "y": "2"}


def test_a_recurrence_that_needs_later_steps_follows_nothing() -> None:
    p, _ = circle()
    x = over_time("x", lambda f: f(t - 1, i) + p(T - t, i))
    assert planes(last(x)) == {"p": "T + 1", "r": "2"}


def test_where_every_step_stays_anyway_nothing_changes() -> None:
    p, _ = circle()
    whole = pm.Reduction(([i], [POINTS]), ([i, s], [POINTS, TIMES]), pm.Double, "whole")
    whole.defn = [pm.Reduce(whole(i), p(s, i), pm.Op.Sum)]
    x = over_time("x", lambda f: f(t - 1, i) + p(t, i))
    assert planes(last(x), whole) == {"p": "T + 1", "r": "2"}
