"""When slices wait for blocks of steps, and what becomes of the arrays between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.npbench import find_program
from benchmarks.polybench.gramschmidt import KERNEL
from polymat.decide.waitingsteps import STEPS, Waits
from polymat.driver import levels, request_for
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.graph.waited import WaitingSlices
from polymat.machine.known import HASWELL, ZEN5
from polymat.model.assumed import assumed_sizes
from polymat.options import Options
from polymat.plan.loops import LoopPlan
from polymat.plan.schedule import Schedule


def planned(sizes: tuple[int, int], **options: Any) -> tuple[Stepwise[Schedule], list[StepSection[Schedule]]]:
    """gramschmidt at sizes, and those of its sections whose slices wait."""
    described = KERNEL.builds["sums"]()
    asked = request_for(
        list(described.outputs),
        inputs=list(described.inputs),
        estimates=dict(zip(described.sizes, sizes, strict=True)),
        options=Options(**options),
    )
    machine = replace(HASWELL, cores=2)
    level = next(level for name, level in levels(replace(asked, machine=machine)) if name == "skews")
    assert isinstance(level, Stepwise)
    return level, [section for section in level.sections if isinstance(section.together, WaitingSlices)]


def test_columns_of_gramschmidt_wait_where_they_leave_the_first_level() -> None:
    level, (section,) = planned((160, 240))
    waiting = section.together
    assert isinstance(waiting, WaitingSlices)
    assert waiting.slices.stages == (("a", 1), ("products", 0))
    assert waiting.slices.wide == 16  # doubles in two lines
    assert planned((20, 30))[1] == []
    assert planned((160, 240), skip=("waits",))[1] == []
    norms = next(held for held in level.held if held.name == "square")
    assert str(norms.planes) == "1"  # which nothing that waits reads


def test_loops_run_over_slices() -> None:
    _, (section,) = planned((160, 240))
    assert isinstance(section.level, Schedule)
    plans = {plan.group.stages[0]: plan for plan in section.level.plans}
    for name in ("a", "products"):
        assert isinstance(plans[name], LoopPlan)
        assert plans[name].parallel == "j"


def test_a_block_has_a_plane_for_each_of_its_steps() -> None:
    described = KERNEL.builds["sums"]()
    sizes = dict(zip(described.sizes, (160, 240), strict=True))
    R = described.outputs[0]  # by itself: Q has two planes
    asked = request_for(R, inputs=list(described.inputs), estimates=sizes, options=Options(threads=1))
    level = next(level for name, level in levels(replace(asked, machine=HASWELL)) if name == "skews")
    assert isinstance(level, Stepwise)
    (column,) = (held for held in level.held if held.name == "Q")
    assert column.planes.const == 2 + STEPS


def test_rows_that_are_added_up_where_they_are_made_are_moved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, (section,) = planned((160, 240))
    assert isinstance(section.level, Schedule)
    (joined,) = section.level.joined
    assert (joined.made, joined.added) == ("a", "products")
    assert f"joined: {joined}" in str(section.level)
    pipeline = section.level.grouping.pipeline
    plans = [plan for plan in section.level.plans if isinstance(plan, LoopPlan)]
    waits = Waits(replace(HASWELL, cores=2), {}, 1, lambda _, __: (), lambda _: 0.0)
    sizes = assumed_sizes(pipeline, {name: 1000 for name in "MN"})
    together, steps = waits._seconds(pipeline, plans, 2, STEPS, sizes)
    monkeypatch.setattr("polymat.decide.waitingsteps.joined_strips", lambda *_: ())
    apart, same = waits._seconds(pipeline, plans, 2, STEPS, sizes)
    assert same == steps
    assert 0.5 * apart < together < 0.95 * apart


def test_slices_that_threads_share_are_planned_for_one_thread() -> None:
    """Eliminations with pivots of many systems, of which each thread computes some by itself."""
    program = find_program("contour_integral")
    described = program.build()
    waiting: dict[int, list[bool]] = {}
    estimates = {size: program.sizes["S"][size.name] for size in described.sizes}
    for threads in (1, 2):
        asked = request_for(
            list(described.outputs),
            inputs=list(described.inputs),
            constraints=described.constraints,
            estimates=estimates,
            options=Options(threads=threads),
        )
        machine = replace(ZEN5, cores=2)
        level = next(level for name, level in levels(replace(asked, machine=machine)) if name == "waits")
        assert isinstance(level, Stepwise)
        shared = [section.level for section in level.sections if section.independent]
        assert shared
        inner = [each for outer in shared if isinstance(outer, Stepwise) for each in outer.sections]
        waiting[threads] = [isinstance(section.together, WaitingSlices) for section in inner]
    assert waiting[2] == waiting[1]
