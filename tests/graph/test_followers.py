"""Recurrences that follow a circle take its steps with it, where less stays in memory then."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def given_array(values: list[float]) -> Any:
    return np.array(values)


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


def test_what_follows_two_circles_takes_the_steps_of_the_last() -> None:
    """Not of the first, which takes all of its own before."""
    p, r = circle()
    q, s = (Function(([t, i], [TIMES, POINTS]), pm.Double, name) for name in "qs")
    for one, other, addend in ((q, s, 0 * p(t, i)), (s, q, 0 * r(t, i))):
        later = Case(Condition(t, ">=", 1), other(t - 1, i) + addend)
        one.defn = [Case(Condition(t, "==", 0), start(i)), later]
    for read in (q, s):
        x = over_time("x", lambda f, read=read: f(t - 1, i) + p(t, i) + read(t, i))
        assert planes(last(x))["x"] == "2"
        run = pm.compile(last(x), name="followed", options=pm.Options(threads=1))
        given = [0.5, 0.25, 3.0]
        for steps in (0, 1, 4):
            expected = run.reference(given_array(given), T=steps)
            assert run(given_array(given), T=steps).tolist() == expected.tolist()


def test_two_circles_of_their_own_and_a_sum_over_both() -> None:
    vectors = [pm.Vector(pm.Double, name, [N]) for name in "abcdx"]
    out = pm.iterate(lambda a, b, c, d, x: (b / 2, a / 2, d / 2, c / 2, x + a + c), vectors, steps=T)[4]
    run = pm.compile(out, inputs=vectors, name="both", options=pm.Options(threads=1))
    arrays = [given_array([0.5 + k, 0.25, 3.0]) for k in range(5)]
    for steps in (0, 1, 4):
        assert run(*arrays, T=steps).tolist() == run.reference(*arrays, T=steps).tolist()


def pair(first: Any, second: Any) -> tuple[Function, Function]:
    """Two more states that need each other, the first of them something else, too."""
    v, w = (Function(([t, i], [TIMES, POINTS]), pm.Double, name) for name in "vw")
    for one, value in ((v, w(t - 1, i) / 2 + first), (w, v(t - 1, i) - second)):
        one.defn = [Case(Condition(t, "==", 0), start(i)), Case(Condition(t, ">=", 1), value)]
    return v, w


def test_a_circle_that_follows_takes_the_steps_of_the_first() -> None:
    p, r = circle()
    v, w = pair(p(t, i), r(t - 1, i))
    outputs = [last(v), last(w)]
    assert planes(*outputs) == dict.fromkeys("prvw", "2")
    run = pm.compile(outputs, inputs=[start])
    for length in (0, 1, 2, 7):
        begin = np.random.default_rng(length).standard_normal(length)
        for steps in (0, 1, 2, 5):
            a, b, c, d = (begin.copy() for _ in range(4))
            for _ in range(steps):
                after = b[::-1] / 2, a[::-1] / 2
                c, d = d / 2 + after[0], c - b
                a, b = after
            for found, wanted in zip(run(begin, T=steps), (c, d), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


def test_a_circle_that_needs_later_steps_follows_nothing() -> None:
    p, _ = circle()
    v, w = pair(p(T - t, i), 1.0)
    assert planes(last(v), last(w)) == {"p": "T + 1", "r": "2", "v": "2", "w": "2"}


def test_a_circle_behind_another_that_does_not_follow_does_not_either() -> None:
    p, _ = circle()
    x = over_time("x", lambda f: f(t - 1, i) + p(T - t, i))
    v, w = pair(p(t, i) + x(t, i), 1.0)
    assert planes(last(v), last(w)) == {"p": "T + 1", "r": "2", "v": "2", "w": "2"}
