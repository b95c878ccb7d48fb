"""Bands of steps: the same elements as steps one by one, whatever the sizes, and who has none."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Vector
from polymat.graph.banded import Bandable, bandable, banded
from polymat.graph.build import build
from polymat.graph.circlesteps import circle_steps
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.verifypipeline import verify
from polymat.poly.membership import members

T, N = pm.Parameter(Int, "T"), pm.Parameter(Int, "N")
t, i = pm.Variable(Int, "t"), pm.Variable(Int, "i")
TIMES, POINTS = Interval(Int, 0, T), Interval(Int, 0, N - 1)
x, y = Vector(Double, "x", [N]), Vector(Double, "y", [N])
EDGE = Condition(i, "<=", 0) | (Condition(i, ">=", 1) & Condition(i, ">=", N - 1))
INNER = Condition(i, ">=", 1) & Condition(i, "<=", N - 2)


def last(field: Function, back: int = 0) -> Function:
    found = Function(([i], [POINTS]), Double, f"{field.name}_last")
    found.defn = [field(T - back, i) * 2.0]
    return found


def means() -> Function:
    """Of neighbours, with a fixed boundary and a source that depends on the time."""
    u = Function(([t, i], [TIMES, POINTS]), Double, "u")
    later = Condition(t, ">=", 1)
    u.defn = [
        Case(Condition(t, "==", 0), x(i)),
        Case(later & INNER, (u(t - 1, i - 1) + u(t - 1, i + 1)) / 2 + y(i) * t),
        Case(later & EDGE, u(t - 1, i)),
    ]
    return last(u)


def waves() -> Function:
    """Two steps back, and two first states."""
    u = Function(([t, i], [TIMES, POINTS]), Double, "u")
    later = Condition(t, ">=", 2)
    u.defn = [
        Case(Condition(t, "==", 0), x(i)),
        Case(Condition(t, "==", 1), y(i)),
        Case(later & INNER, u(t - 1, i - 1) / 2 + u(t - 1, i + 1) / 2 - u(t - 2, i) / 4),
        Case(later & EDGE, u(t - 2, i)),
    ]
    return last(u, 1)


def fields() -> Function:
    """Two functions that read each other, one of them at the same time."""
    u, v = (Function(([t, i], [TIMES, POINTS]), Double, name) for name in "uv")
    first, inner, edge = Condition(t, "==", 0), Condition(t, ">=", 1) & INNER, Condition(t, ">=", 1) & EDGE
    u.defn = [Case(first, x(i)), Case(inner, u(t - 1, i) + v(t - 1, i + 1) / 4), Case(edge, 1.0)]
    v.defn = [Case(first, y(i)), Case(inner, v(t - 1, i - 1) / 2 + u(t, i)), Case(edge, u(t, i))]
    found = Function(([i], [POINTS]), Double, "both")
    found.defn = [u(T, i) + v(T, i)]
    return found


def chosen(pipeline: Pipeline) -> Bandable | None:
    names = next(stage.circle or (stage.name,) for stage in pipeline.stages if stage.reads_itself)
    steps = circle_steps(pipeline, names)
    return None if steps is None else bandable(pipeline, steps)


@pytest.mark.covering
@pytest.mark.parametrize("make", [means, waves, fields])
@pytest.mark.parametrize("size", [2, 3, 8])
def test_bands_compute_what_steps_do(make: object, size: int) -> None:
    assert callable(make)
    output = make()
    least = 1 if make is waves else 0
    constraints = [Condition(T, ">=", least)]
    pipeline = verify(build([output], constraints=constraints))
    found = chosen(pipeline)
    assert found is not None
    assert max(found.depths.values()) == 1 + least
    changed = verify(banded(pipeline, found, size))
    rng = np.random.default_rng(size)
    for steps in (*range(least, 10), 17):
        for points in (1, 2, 3, 6):
            arrays = {"x": rng.random(points), "y": rng.random(points)}
            params = {"T": steps, "N": points}
            expected = interpret(pipeline, arrays, params)[pipeline.outputs[0]]
            assert (interpret(changed, arrays, params, members)[pipeline.outputs[0]] == expected).all()


def test_states_that_others_read_are_no_bands() -> None:
    u = Function(([t, i], [TIMES, POINTS]), Double, "u")
    u.defn = [Case(Condition(t, "==", 0), x(i)), Case(Condition(t, ">=", 1), u(t - 1, i) / 2)]
    assert chosen(build([u])) is None
    assert chosen(build([last(u)])) is not None
    every = Function(([t], [TIMES]), Double, "every")
    every.defn = [u(t, 0)]
    assert chosen(build([every], constraints=[Condition(N, ">=", 1)])) is None


@pytest.mark.parametrize("back", [0, 1, 2])
def test_states_before_the_last_one_are_left_by_bands_or_there_are_none(back: int) -> None:
    u = Function(([t, i], [TIMES, POINTS]), Double, "u")
    u.defn = [Case(Condition(t, "<=", 1), x(i)), Case(Condition(t, ">=", 2), u(t - 1, i) / 2 + y(i))]
    pipeline = build([last(u, back)], constraints=[Condition(T, ">=", 2)])
    found = chosen(pipeline)
    assert (found is None) == (back == 2)
    if found is not None:
        assert found.depths == {"u": 1 + back}
        verify(banded(pipeline, found, 4))


def test_few_steps_have_no_bands() -> None:
    u = Function(([t, i], [Interval(Int, 0, 5), POINTS]), Double, "u")
    u.defn = [Case(Condition(t, "==", 0), x(i)), Case(Condition(t, ">=", 1), u(t - 1, i) / 2)]
    end = Function(([i], [POINTS]), Double, "end")
    end.defn = [u(5, i)]
    found = chosen(build([end]))
    assert found is not None
    assert [size for size in (4, 5, 6, 8) if found.has(size)] == [4, 5]


def test_sweeps_are_no_bands() -> None:
    """New neighbours are read at the same step: nothing lies between its points that a tile could keep."""
    u = Function(([t, i], [TIMES, POINTS]), Double, "u")
    first, later = Condition(t, "==", 0), Condition(t, ">=", 1)
    u.defn = [
        Case(first, x(i)),
        Case(later & INNER, (u(t, i - 1) + u(t - 1, i + 1)) / 2),
        Case(later & EDGE, u(t - 1, i)),
    ]
    assert chosen(build([last(u)])) is None
