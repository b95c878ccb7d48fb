"""The predicted time of recursive filters, for a machine that is stated."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.decide.recursiveplans import MOVED, MULTIPLY_ADD, RESPONSE
from polymat.plan.library import RecursivePlan
from polymat.plan.schedule import Schedule
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.filterblock import RUN
from polymat.tilesize.home import Home
from polymat.tilesize.stagework import VECTOR_SHARE
from tests.fixed import NARROW, compiled_levels

SAMPLES = 1 << 18
N, C = (pm.Parameter(pm.Int, name) for name in "NC")


def filtered(kind: str, order: int, channels: int = 1) -> tuple[Any, dict[Any, int]]:
    """A filter of so many samples in all, its coefficients given, and its sizes."""
    sizes = {N: SAMPLES // channels, **({C: channels} if channels > 1 else {})}
    x = pm.Signal(pm.Double, "x", [C, N] if channels > 1 else [N])
    if kind == "sections":
        return pm.sosfilt(pm.Matrix(pm.Double, "sos", [order // 2, 6]), x), sizes
    b, a = (pm.Vector(pm.Double, name, [order + 1]) for name in ("b", "a"))
    return pm.lfilter(b, a, x), sizes


def predicted(kind: str, order: int, channels: int = 1) -> tuple[float, float]:
    """Operations of loops on vectors that the arithmetic of the plan is worth, and the bytes it moves."""
    output, sizes = filtered(kind, order, channels)
    schedule = compiled_levels(output, estimates=sizes)["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = (plan for plan in schedule.plans if isinstance(plan, RecursivePlan))
    named = {size.name: length for size, length in sizes.items()}
    cost = plan_cost(schedule.grouping.pipeline, plan, NARROW, named, 1, Home(0.0, 1))
    return cost.computing * NARROW.peak_flops(8) * VECTOR_SHARE, cost.bytes


@pytest.mark.parametrize(("kind", "order"), [("direct", 2), ("direct", 4), ("sections", 2), ("sections", 12)])
def test_samples_are_moved_once_for_all_sections(kind: str, order: int) -> None:
    sections, depth = (order // 2, 2) if kind == "sections" else (1, order)
    added = (depth + 1) + 2 * depth  # of the signal, of results, and of those of the run before
    expected = SAMPLES * (MULTIPLY_ADD * added * sections + MOVED) + RESPONSE * RUN * sections * depth
    assert predicted(kind, order)[0] == pytest.approx(expected, rel=0.03)


def test_as_many_channels_as_lanes_follow_no_run_before() -> None:
    expected = SAMPLES * (MULTIPLY_ADD * 7 * 6 + MOVED)
    assert predicted("sections", 12, 8)[0] == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(("kind", "order"), [("direct", 4), ("sections", 12)])
def test_what_was_just_computed_is_not_read_from_memory(kind: str, order: int) -> None:
    """The signal is read and the result written."""
    assert predicted(kind, order)[1] == pytest.approx(2 * 8 * SAMPLES, rel=1e-3)


@pytest.mark.parametrize(("kind", "order"), [("direct", 4), ("sections", 12)])
def test_samples_come_and_are_filtered_by_turns(kind: str, order: int) -> None:
    """A block is copied, filtered and written: neither hides the other."""
    output, sizes = filtered(kind, order)
    schedule = compiled_levels(output, estimates=sizes)["tilesize"]
    assert isinstance(schedule, Schedule)
    named = {size.name: length for size, length in sizes.items()}
    (plan,) = (plan for plan in schedule.plans if isinstance(plan, RecursivePlan))
    cost = plan_cost(schedule.grouping.pipeline, plan, NARROW, named, 1, Home(1e9, 4))
    assert cost.moving > 0.0
    assert cost.seconds == pytest.approx(cost.computing + cost.moving, rel=1e-3)
