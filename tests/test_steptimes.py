"""What steps are predicted to take: a call each, whatever they compute, and less where points take them."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from polymat import Long, Options
from polymat.driver import request_for
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL
from polymat.model.stepcalls import STEP_SECONDS
from polymat.passes import levels_of
from polymat.steps import Job
from polymat.steptimes import StepTimes
from tests.decide.test_lonepoints import M, N, T, grows, iterated
from tests.decide.test_skewedsteps import means
from tests.hosts import StatedLibraries, as_stated


def sections_of(found: Any, sizes: dict[Any, int], **asked: Any) -> tuple[StepTimes, Stepwise[Any]]:
    """The sections of a program whose steps nothing has changed."""
    options = Options(threads=1, skip=("bands", "slices", "sums", "linear"))
    request = request_for(found, estimates=sizes, options=options, **asked)
    job = Job(replace(request, machine=as_stated(HASWELL), libraries=StatedLibraries()))
    level = next(level for each, level in levels_of(job) if each.name == "sections")
    assert isinstance(level, Stepwise)
    return StepTimes(job), level


def test_a_step_takes_a_call_at_least() -> None:
    few, many = (sections_of(means(), {N: 1, M: 1, T: steps}) for steps in (1000, 3000))
    seconds = [times.one_by_one(level) for times, level in (few, many)]
    assert seconds[0] >= 999 * STEP_SECONDS
    assert seconds[1] == pytest.approx(3 * seconds[0], rel=0.05)


def test_steps_that_have_sections_are_none_of_one_pipeline() -> None:
    times, level = sections_of(means(), {N: 8, M: 8, T: 8})
    (*first, last) = level.sections
    nested = Stepwise(level.whole, level.held, (*first, type(last)(level, last.inputs, last.outputs)))
    assert times.one_by_one(nested) == inf


def test_points_that_take_steps_by_themselves_are_quicker() -> None:
    outputs, inputs = iterated(grows, Long)
    times, level = sections_of(outputs, {N: 1000, M: 1000, T: 100}, inputs=inputs)
    assert times.by_points(level) < 0.8 * times.one_by_one(level)
