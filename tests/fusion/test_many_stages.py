"""Pipelines of many stages are decided by few questions, and are not too much C for the compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.stencils.sixty import STAGES, build
from polymat.codegen.lower import lower
from polymat.codegen.units import render
from polymat.decide.decider import Decider
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.options import Options
from polymat.plan.tile import TilePlan
from polymat.runtime.host import InstalledLibraries
from tests.decide.test_decider import MACHINE

RANGES = STAGES * (STAGES + 1) // 2  # of a chain of so many stages: no other groups of them are connected
# One loop over vectors for all stages of a tile (512 bits) is more C than loops of single stages (256), whose
# 40 lines a stage gcc 12 compiles in 3 s; 70 in 9 to 10.
LINES = {256: 45, 512: 75}  # of C for each stage


def sixty(reach: int, options: Options) -> Pipeline:
    description = build(reach)
    found = levels(request_for(description.outputs, name="many", inputs=description.inputs, options=options))
    pipeline = next(level for word, level in found if word == "graph")
    assert isinstance(pipeline, Pipeline)
    return pipeline


@pytest.mark.parametrize(
    "options", [Options(), Options.paper(), Options.polymage()], ids=lambda o: str(o.cost)
)
@pytest.mark.parametrize("reach", [1, 3])
def test_sixty_stages_are_grouped_by_pricing_ranges_alone(reach: int, options: Options) -> None:
    pipeline = sixty(reach, options)
    decider = Decider(pipeline, MACHINE, {"R": 2000, "C": 2000}, options, InstalledLibraries())
    schedule = decider.schedule(decider.grouping())
    assert sum(len(plan.group.stages) for plan in schedule.plans) == STAGES
    assert len(schedule.plans) < STAGES
    assert len(schedule.considered) <= RANGES


@pytest.mark.parametrize("bits", LINES)
def test_sixty_stages_are_not_too_much_for_a_compiler(bits: int) -> None:
    options = Options()
    machine = replace(MACHINE, vector_bits=bits, vector_registers=bits // 16)
    decider = Decider(sixty(1, options), machine, {"R": 2000, "C": 2000}, options, InstalledLibraries())
    schedule = decider.schedule(decider.grouping())
    in_one_loop = any(isinstance(plan, TilePlan) and plan.row_loop for plan in schedule.plans)
    assert in_one_loop == (bits == 512)
    text = render(lower(schedule, "many", options).file)
    assert text.count("\n") < LINES[bits] * STAGES
