"""Which steps are left for the next way of running them together, and that there is one way at most."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

import polymat as pm
from polymat import Double, Function, Int, Interval, Parameter, Variable
from polymat.decide.opensteps import open_schedule
from polymat.driver import levels, request_for
from polymat.graph.laned import LanedRows
from polymat.graph.pointsteps import PointSteps
from polymat.graph.segmented import SegmentedSteps
from polymat.graph.skewed import SkewedSteps
from polymat.graph.stepwise import StepSection, Stepwise, Together
from polymat.graph.waited import WaitingSlices
from polymat.passes import position
from polymat.plan.schedule import Schedule

T, N = Parameter(Int, "T"), Parameter(Int, "N")
i = Variable(Int, "i")
FOUND_BY = {
    WaitingSlices: "waits",
    PointSteps: "points",
    SkewedSteps: "skews",
    SegmentedSteps: "segments",
    LanedRows: "lanes",
}


def planned() -> Stepwise[Schedule]:
    """A state whose points need no others, before any pass has asked."""

    def halved(u: Function) -> Function:
        after = Function(([i], [Interval(Int, 0, N - 1)]), Double, "after")
        after.defn = [u(i) / 2.0 + 1.0]
        return after

    made = pm.iterate(halved, pm.Vector(Double, "x", [N]), steps=T)
    found = next(level for name, level in levels(request_for(made)) if name == "planes")
    assert isinstance(found, Stepwise)
    return found


@pytest.fixture(scope="module")
def stepwise() -> Stepwise[Schedule]:
    return planned()


@pytest.fixture
def section(stepwise: Stepwise[Schedule]) -> StepSection[Schedule]:
    (found,) = [each for each in stepwise.sections if each.goes_on]
    return found


def test_ways_are_named_in_the_order_of_the_passes_that_find_them() -> None:
    places = [position(FOUND_BY[way]) for way in get_args(Together)]
    assert places == sorted(places)


def test_steps_that_run_together_already_are_closed(section: StepSection[Schedule]) -> None:
    assert open_schedule(section) is section.level
    taken = PointSteps("t", (), {}, {})
    assert open_schedule(replace(section, together=taken)) is None


def test_steps_in_any_order_and_what_runs_once_are_closed(section: StepSection[Schedule]) -> None:
    assert open_schedule(replace(section, independent=True)) is None
    assert open_schedule(replace(section, steps=None)) is None


def test_sections_that_nobody_changes_are_the_same(stepwise: Stepwise[Schedule]) -> None:
    assert stepwise.with_sections(lambda section: section) is stepwise
    changed = stepwise.with_sections(lambda section: replace(section, independent=True))
    assert all(section.independent for section in changed.sections)
