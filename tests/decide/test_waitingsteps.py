"""When slices wait for blocks of steps, and what becomes of the arrays between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.polybench.gramschmidt import KERNEL
from polymat.decide.waitingsteps import STEPS
from polymat.driver import levels, request_for
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.machine.known import HASWELL
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
    return level, [section for section in level.sections if section.waiting is not None]


def test_columns_of_gramschmidt_wait_where_they_leave_the_first_level() -> None:
    level, (section,) = planned((160, 240))
    assert section.waiting is not None
    assert section.waiting.slices.stages == (("a", 1), ("products", 0))
    assert section.waiting.slices.wide == 16  # doubles in two lines
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
