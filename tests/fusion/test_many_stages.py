"""Pipelines of many stages are decided in seconds."""

from __future__ import annotations

import time

import pytest

import polymat as pm
from polymat.decide import Decider
from polymat.driver import levels
from polymat.graph.pipeline import Pipeline
from polymat.options import Options
from tests.test_decide import MACHINE

STAGES = 60
SECONDS = 8.0  # of processor time: deciding takes 3 to 4, the C compiler as long again


def chain(reach: int) -> tuple[pm.Function, pm.Image]:
    """Blurs along rows and columns in turn; every stage also reads the one `reach` before."""
    R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    image = pm.Image(pm.Float, "image", [R, C])
    stages: list[pm.Function | pm.Image] = [image]
    for k in range(STAGES):
        spans = [pm.Interval(pm.Int, k + 1, extent - 2 - k) for extent in (R, C)]
        stage = pm.Function(([i, j], spans), pm.Float, f"s{k}")
        last, before = stages[-1], stages[-min(reach, len(stages))]
        down, across = k % 2, 1 - k % 2
        near = last(i - down, j - across) + last(i + down, j + across)
        stage.defn = [near * 0.25 + before(i, j) * 0.5]
        stages.append(stage)
    final = stages[-1]
    assert isinstance(final, pm.Function)
    return final, image


@pytest.mark.parametrize("reach", [1, 3])
def test_sixty_stages_are_grouped_in_seconds(reach: int) -> None:
    final, image = chain(reach)
    begin = time.process_time()
    found = levels([final], "many", Options(), inputs=[image])
    pipeline = next(level for word, level in found if word == "graph")
    assert isinstance(pipeline, Pipeline)
    decider = Decider(pipeline, MACHINE, {"R": 2000, "C": 2000}, Options())
    schedule = decider.schedule(decider.grouping())
    spent = time.process_time() - begin
    assert sum(len(plan.group.stages) for plan in schedule.plans) == STAGES
    assert len(schedule.plans) < STAGES
    assert spent < SECONDS
