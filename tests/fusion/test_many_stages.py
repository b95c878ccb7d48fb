"""Pipelines of many stages are decided in seconds."""

from __future__ import annotations

import time

import pytest

from benchmarks.stencils.sixty import STAGES, build
from polymat.decide import Decider
from polymat.driver import levels
from polymat.graph.pipeline import Pipeline
from polymat.options import Options
from tests.test_decide import MACHINE

SECONDS = 8.0  # of processor time: deciding takes 2 to 4, the C compiler less


@pytest.mark.parametrize(
    "options", [Options(), Options.paper(), Options.polymage()], ids=lambda o: str(o.cost)
)
@pytest.mark.parametrize("reach", [1, 3])
def test_sixty_stages_are_grouped_in_seconds(reach: int, options: Options) -> None:
    description = build(reach)
    begin = time.process_time()
    found = levels(description.outputs, "many", options, inputs=description.inputs)
    pipeline = next(level for word, level in found if word == "graph")
    assert isinstance(pipeline, Pipeline)
    decider = Decider(pipeline, MACHINE, {"R": 2000, "C": 2000}, options)
    schedule = decider.schedule(decider.grouping())
    spent = time.process_time() - begin
    assert sum(len(plan.group.stages) for plan in schedule.plans) == STAGES
    assert len(schedule.plans) < STAGES
    assert spent < SECONDS
