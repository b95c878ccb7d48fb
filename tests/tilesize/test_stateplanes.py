"""What predictions count of states: one plane of those that a step may change in place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from polymat.decide.decider import Decider
from polymat.driver import levels, request_for
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.lang.expr import Load
from polymat.machine.known import ZEN3
from polymat.machine.model import MEMORY
from polymat.plan.tile import TilePlan
from polymat.runtime.host import InstalledLibraries
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.stateplanes import kept_in_place, planes_apart, unchanged_parts
from polymat.tilesize.traffic import traffic
from tests.codegen.test_planes import STARTS, T, crossed, leap, shifted

MACHINE = replace(ZEN3, cores=1)


def one_step(outputs: Any, **more: Any) -> Pipeline:
    """The pipeline of all steps but the first."""
    for name, level in levels(request_for(outputs, **more)):
        if name == "sections":
            assert isinstance(level, Stepwise)
            found = [each.level for each in level.sections if each.steps is not None]
            assert isinstance(found[-1], Pipeline)
            return found[-1]
    raise AssertionError("no sections")


def kernel_step(name: str) -> Pipeline:
    description = next(iter(find_kernel(name).builds.values()))()
    return one_step(description.outputs, inputs=description.inputs, options=pm.Options(tile=False))


def in_place(pipeline: Pipeline) -> list[str]:
    return [stage.name for stage, _ in kept_in_place(pipeline)]


@pytest.mark.parametrize(
    ("step", "expected"), [(leap, ["x_steps", "y_steps"]), (crossed, ["y_steps"]), (shifted, [])]
)
def test_a_state_is_in_place_where_nobody_else_needs_it(step: Any, expected: list[str]) -> None:
    pipeline = one_step(list(pm.iterate(step, STARTS, steps=T)))
    assert pipeline.states == {"x_steps": "x_steps_1", "y_steps": "y_steps_1"}
    assert in_place(pipeline) == expected


def test_states_in_place_are_counted_once() -> None:
    pipeline = kernel_step("fdtd-2d")
    assert len(in_place(pipeline)) == 3
    sizes = {"NX": 600, "NY": 1000, "T": 100}  # 4.8 MB each, of which three fit in the last level
    machine = replace(MACHINE, l3_bytes=16 << 20)
    assert Home.of(pipeline, machine, sizes).level == 3
    decider = Decider(pipeline, machine, sizes, pm.Options(threads=1), InstalledLibraries())
    assert decider.home.level == 3
    together = tuple(stage.name for stage in pipeline.stages)
    tiles = [plan for plan in decider.ways(together) if isinstance(plan, TilePlan)]
    assert tiles
    for plan in tiles:
        assert "hz_t" in [stage.name for stage in planes_apart(pipeline, plan)]  # ex and ey read hz_t_1
        assert Home.of(pipeline, machine, sizes, plan).level == MEMORY
    assert Group(("hz_t",)) in decider.grouping().groups


def test_a_border_reads_no_whole_array() -> None:
    pipeline = kernel_step("jacobi-2d")
    first, _ = pipeline.stages
    sizes = {"N": 1000}
    whole = 8 * 1000**2
    assert 2 * whole < traffic(pipeline, [first], set(), sizes, line_bytes=64) < 2.01 * whole


def test_columns_that_stay_as_they_are_are_not_computed() -> None:
    pipeline = kernel_step("gramschmidt")
    stage = pipeline.stage("a")
    plan = plan_stage(Group((stage.name,)), stage, pipeline.context)
    (kept,) = unchanged_parts(pipeline, plan)["a"]
    assert isinstance(stage.parts[kept].expr, Load)
    early, late = (
        plan_cost(pipeline, plan, MACHINE, {"M": 300, "N": 400, "k": step}, 1, Home(0.0, 1))
        for step in (40, 360)
    )
    assert early.computing > 6 * late.computing
    assert early.bytes > 6 * late.bytes
