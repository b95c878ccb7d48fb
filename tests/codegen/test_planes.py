"""States that a step makes in place keep one plane, and others two."""

from __future__ import annotations

from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Options
from polymat.graph.stepwise import Stepwise
from tests.fixed import compiled_levels
from tests.tolerance import assert_close

N, T = pm.Parameter(Int, "N"), pm.Parameter(Int, "T")
t, i = pm.Variable(Int, "t"), pm.Variable(Int, "i")
LINE = Interval(Int, 0, N - 1)
STARTS = (pm.Vector(Double, "x0", [N]), pm.Vector(Double, "y0", [N]))
ALONE = Options(fuse=False, threads=1)


def field(name: str, value: Any, kept: Any) -> Function:
    """A value but for the first element, which stays."""
    found = Function(([i], [LINE]), Double, name, default=kept)
    found.defn = [Case(Condition(i, ">=", 1), value)]
    return found


def leap(x: Any, y: Any) -> tuple[Function, Function]:
    """Each reads its own element alone of what it was before, and neighbours of the other."""
    after = field("x", x(i) + 0.5 * (y(i) - y(i - 1)), x(i))
    return after, field("y", y(i) - 0.5 * (after(i) - after(i - 1)), y(i))


def crossed(x: Any, y: Any) -> tuple[Function, Function]:
    """The second reads of the first what it was before."""
    after = field("x", x(i) + 0.5 * (y(i) - y(i - 1)), x(i))
    return after, field("y", y(i) - 0.5 * (x(i) - x(i - 1)) + after(i), y(i))


def shifted(x: Any, y: Any) -> tuple[Function, Function]:
    """Each reads a neighbour of what it was before."""
    return field("x", x(i - 1) + y(i), x(i)), field("y", y(i - 1) - x(i), y(i))


def planes(step: Any, options: Options = ALONE) -> dict[str, str]:
    outputs = list(pm.iterate(step, STARTS, steps=T))
    level = compiled_levels(outputs, options=options)["planes"]
    assert isinstance(level, Stepwise)
    return {each.name: str(each.planes) for each in level.held if each.origin is not None}


def test_states_of_which_others_need_nothing_older_have_one_plane() -> None:
    assert planes(leap) == {"x_steps": "1", "y_steps": "1"}


def test_what_is_read_behind_is_not_overwritten() -> None:
    assert planes(crossed) == {"x_steps": "2", "y_steps": "1"}
    assert planes(shifted) == {"x_steps": "2", "y_steps": "2"}


def test_all_steps_stay_where_nothing_is_folded() -> None:
    options = Options(fuse=False, threads=1, skip=("folds",))
    outputs = list(pm.iterate(leap, STARTS, steps=T))
    level = compiled_levels(outputs, options=options)["tilesize"]
    assert "planes" in compiled_levels(outputs, options=ALONE)
    assert isinstance(level, Stepwise)
    assert {str(each.planes) for each in level.held if each.origin is not None} == {"2"}


def backwards() -> Function:
    """Each reads its own element of the step behind; the first of the first is the result."""
    domain = ([t, i], [Interval(Int, 0, T), LINE])
    p, r = (Function(domain, Double, name) for name in "pr")
    before = Condition(t, "<", T)
    p.defn = [Case(before, p(t + 1, i) + r(t + 1, i)), Case(Condition(t, "==", T), STARTS[0](i))]
    r.defn = [Case(before, r(t + 1, i) * 0.5 + p(t, i)), Case(Condition(t, "==", T), STARTS[0](i))]
    first = Function(([i], [LINE]), Double, "first")
    first.defn = [p(0, i) + r(0, i)]
    return first


def still_read() -> Function:
    """Steps go backwards, and behind them the last but one is read."""
    domain = ([t, i], [Interval(Int, 0, 5), LINE])
    p, r = (Function(domain, Double, name) for name in "pr")
    p.defn = [
        Case(Condition(t, "<=", 1), r(t + 4, i) + 1.0),
        Case(Condition(t, ">", 1), STARTS[0](i) * t),
    ]
    r.defn = [
        Case(Condition(t, "==", 5), p(t - 3, i) + STARTS[0](i)),
        Case(Condition(t, ">=", 3) & Condition(t, "<", 5), r(t + 1, i) * 0.5 + p(t - 3, i)),
        Case(Condition(t, "<", 3), r(t + 1, i) * 0.5 + STARTS[0](i)),
    ]
    twice = Function(([i], [LINE]), Double, "twice")
    twice.defn = [2.0 * r(1, i)]
    return twice


def held(output: Function) -> dict[str, str]:
    level = compiled_levels([output], options=ALONE)["planes"]
    assert isinstance(level, Stepwise)
    return {each.name: str(each.planes) for each in level.held if each.origin is not None}


def test_steps_that_go_backwards_are_in_place_as_others_are() -> None:
    assert held(backwards()) == {"p": "1", "r": "1"}
    assert held(still_read())["r"] == "2"
    start = np.random.default_rng(0).random(19)
    for output, sizes in ((backwards(), {"T": 6}), (still_read(), {})):
        compiled = pm.compile([output], inputs=STARTS[:1], options=ALONE)
        assert_close(compiled(start, **sizes), compiled.reference(start, **sizes), roundings=64)


def test_steps_in_place_compute_what_the_interpreter_does() -> None:
    arrays = tuple(np.random.default_rng(0).random((2, 19)))
    for step in (leap, crossed, shifted):
        outputs = list(pm.iterate(step, STARTS, steps=T))
        compiled = pm.compile(outputs, inputs=STARTS, name=step.__name__, options=ALONE)
        told = f"x_steps (float64) in the workspace: {planes(step)['x_steps']} of T + 1 steps"
        assert told in str(compiled.explain())
        for steps in (0, 1, 4):
            found, right = compiled(*arrays, T=steps), compiled.reference(*arrays, T=steps)
            for one, other in zip(found, right, strict=True):
                assert_close(one, other, roundings=40, magnitude=2.0**steps)
