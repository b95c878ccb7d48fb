"""Stages that need each other: the dimensions along which all of them can take steps together."""

from __future__ import annotations

from typing import Any

import polymat as pm
from polymat import Double, Function, Int, Interval
from polymat.graph.build import build
from polymat.graph.circles import BACKWARDS, FORWARDS, Axes, StepAxis, has_own, inner_reads, possible_axes
from polymat.graph.pipeline import Pipeline
from polymat.lang.affine import Affine

N, T = pm.Parameter(Int, "N"), pm.Parameter(Int, "T")
t, i, s = pm.Variable(Int, "t"), pm.Variable(Int, "i"), pm.Variable(Int, "s")
TIMES, PLACES = Interval(Int, 0, T), Interval(Int, 0, N - 1)
x = pm.Vector(Double, "x", [N])


def circle(read: Any, other: Any) -> Pipeline:
    """Functions u and v of time and place, which read each other."""
    u = Function(([t, i], [TIMES, PLACES]), Double, "u", default=x(i))
    v = Function(([t, i], [TIMES, PLACES]), Double, "v", default=x(i))
    u.defn = [pm.Case(read[0], read[1](v))]
    v.defn = [pm.Case(other[0], other[1](u))]
    return build([u, v])


def axes_of(pipeline: Pipeline) -> list[Axes]:
    members = [stage for stage in pipeline.stages if stage.circle]
    return [axes for _, axes in possible_axes(members, pipeline.context)]


AFTER_START = pm.Condition(t, ">=", 1)
BEFORE_END = pm.Condition(t, "<=", T - 1)


def test_an_axis_tells_the_index_of_a_step_and_the_step_of_an_index() -> None:
    for axis in (StepAxis(1), StepAxis(0, BACKWARDS, 3), StepAxis(2, FORWARDS, -1)):
        step = Affine.name("s")
        assert axis.step(axis.index(step)) == step
    assert StepAxis(1).split(("a", "b", "c")) == ("b", ("a", "c"))


def test_time_is_found_where_both_read_earlier_steps() -> None:
    pipeline = circle(
        (AFTER_START, lambda v: v(t - 1, N - 1 - i)), (AFTER_START, lambda u: 2.0 * u(t - 1, i))
    )
    found = axes_of(pipeline)
    assert {"u": StepAxis(0), "v": StepAxis(0)} in found
    assert all(axes["u"].sign == FORWARDS for axes in found)


def test_steps_run_backwards_where_later_ones_are_read() -> None:
    pipeline = circle((BEFORE_END, lambda v: v(t + 1, N - 1 - i)), (BEFORE_END, lambda u: 2.0 * u(t + 1, i)))
    found = axes_of(pipeline)
    assert found
    assert all(axes[name].sign == BACKWARDS for axes in found for name in "uv")


def test_a_member_is_shifted_where_it_reads_a_later_index() -> None:
    """u(t) reads v(t - 2), and v(t) reads u(t + 1): v takes its step t when u has taken t + 1."""
    pipeline = circle(
        (pm.Condition(t, ">=", 2), lambda v: v(t - 2, N - 1 - i)), (BEFORE_END, lambda u: u(t + 1, i))
    )
    axes = axes_of(pipeline)[0]
    assert axes["v"].shift - axes["u"].shift == 1
    members = [stage for stage in pipeline.stages if stage.circle]
    positions = {name: axis.position for name, axis in axes.items()}
    needs = [*inner_reads(members, positions, pipeline.context)]
    assert len(needs) == 2
    assert sorted(need.distance(axes) or 0 for need in needs) == [0, 1]


def test_reads_at_the_same_step_are_told_from_earlier_ones() -> None:
    """Which makes these two wait for each other: whoever asks for axes has to see to that."""
    pipeline = circle((AFTER_START, lambda v: v(t, N - 1 - i)), (AFTER_START, lambda u: u(t, N - 1 - i)))
    members = [stage for stage in pipeline.stages if stage.circle]
    for axes in axes_of(pipeline):
        needs = inner_reads(members, {name: axis.position for name, axis in axes.items()}, pipeline.context)
        assert [(need.distance(axes), need.is_earlier(axes)) for need in needs] == [(0, False)] * 2


def test_stages_that_compute_points_have_steps_of_their_own() -> None:
    pipeline = circle((AFTER_START, lambda v: v(t - 1, i)), (AFTER_START, lambda u: u(t - 1, i)))
    assert all(has_own(stage, 0) for stage in pipeline.stages)
