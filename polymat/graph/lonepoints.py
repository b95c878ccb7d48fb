"""Steps of points that need no other point: each may take all of them before the next one begins.

before:  step t over all points, then step t + 1 over all points, ...
after:   all steps of a few points, whose states stay in a cache, then of the next ones
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from polymat.graph.pipeline import Pipeline
from polymat.graph.pointsteps import PointSteps, elements
from polymat.graph.sections import sections_if_any
from polymat.graph.stage import Stage
from polymat.graph.stepwise import HeldArray, StepSection, Stepwise
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Const, Expr, Load, SelectExpr
from polymat.lang.sharing import evaluated
from polymat.lang.traverse import loads_in, names_of, walk
from polymat.lang.types import STORED, Int


def point_steps(section: StepSection[Any], pipeline: Pipeline, stepwise: Stepwise[Any]) -> PointSteps | None:
    """How the points of a section take their steps by themselves; None where they need others.

    All that a step makes is a state, or what makes the states of this step alone, at the same points, of what
    the step before and the same step made of the point alone, and of what no step changes.  Others read what
    the last step made alone.
    """
    states = _of_points(section, pipeline, stepwise)
    if states is None or section.steps is None:
        return None
    if {*pipeline.outputs} != {*states.values()}:
        return None
    step = section.steps.name
    made = [pipeline.stage(name) for name in pipeline.outputs]
    is_alike = not any(step in names_of([stage.parts[0].expr]) for stage in pipeline.stages)
    changing = _changing(made, states) if is_alike else {}
    return PointSteps(step, pipeline.stages[0].box, states, changing)


def takes_steps_by_points(pipeline: Pipeline, names: Collection[str]) -> bool:
    """Whether the points of a circle need no others, so that these steps are to run point by point."""
    stepwise = sections_if_any(pipeline)
    if stepwise is None:
        return False
    found = []
    for section in stepwise.sections:
        level = section.level
        if isinstance(level, Pipeline) and section.goes_on and not {*names}.isdisjoint(level.outputs):
            found.append(_of_points(section, level, stepwise) is not None)
    return bool(found) and all(found)


def _of_points(
    section: StepSection[Any], pipeline: Pipeline, stepwise: Stepwise[Any]
) -> dict[str, str] | None:
    """The inputs that have what the step before made, with what makes it; None where points need others."""
    if section.steps is None or section.steps.every != 1 or section.changed:
        return None
    if not _hands_the_last_on(section, stepwise):
        return None
    step, states, box = section.steps.name, _states(section, pipeline), pipeline.stages[0].box
    if states is None or not all(_is_plain(stage, step) and stage.box == box for stage in pipeline.stages):
        return None
    alone = all(_reads_its_point(stage, pipeline, states, step) for stage in pipeline.stages)
    return states if alone else None


def _hands_the_last_on(section: StepSection[Any], stepwise: Stepwise[Any]) -> bool:
    """Whether of the arrays that it makes nothing is kept, or read elsewhere, but what its last step made."""
    assert section.steps is not None
    held: Mapping[str, HeldArray] = {each.name: each for each in stepwise.held}
    step, ends = Affine.name(section.steps.name), section.steps.last
    written = {view.array for view in section.outputs}
    alike = all(view.step == step and held[view.array].is_folded for view in section.outputs)
    readers = (view for each in stepwise.sections if each is not section for view in each.inputs)
    return (
        len({*ends}) == 1
        and len(written) == len(section.outputs)
        and alike
        and all(view.step == ends[0] for view in readers if view.array in written)
    )


def _states(section: StepSection[Any], pipeline: Pipeline) -> dict[str, str] | None:
    """The inputs that have what the step before made, with the stages that make it; None where others do."""
    assert section.steps is not None
    step = Affine.name(section.steps.name)
    makers = {view.array: name for name, view in zip(pipeline.outputs, section.outputs, strict=True)}
    found: dict[str, str] = {}
    for array, view in zip(pipeline.inputs, section.inputs, strict=True):
        if view.array in makers:
            if view.step != step - 1:
                return None
            found[array.name] = makers[view.array]
        elif view.step is not None and section.steps.name in view.step.names():
            return None
    return found


def _is_plain(stage: Stage, step: str) -> bool:
    """Whether all its points have one definition, in loops whose ends no other loop and no step changes."""
    forms = {name for low, high in stage.bounds for form in (low, high) for name in form.names()}
    alone = len(stage.parts) == 1 and stage.parts[0].condition is None and not stage.parts[0].fills
    whole = alone and stage.parts[0].domain == stage.domain
    return (
        whole
        and bool(stage.dims)
        and not stage.is_reduction
        and stage.dtype not in STORED
        and not forms & {*stage.dims, step}
    )


def _reads_its_point(stage: Stage, pipeline: Pipeline, states: Mapping[str, str], step: str) -> bool:
    """Whether it reads states at its own point, and else what is there whatever is chosen, at all steps."""
    here = tuple(map(Affine.name, stage.dims))
    before = {each.name for each in pipeline.stages[: pipeline.stages.index(stage)]}
    (part,) = stage.parts
    anyway = elements(walk(part.expr, evaluated))
    for load in loads_in(part.expr):
        name = load.source.name
        if name in states or not load.source.is_input:
            if load.indices != here or (name not in states and name not in before):
                return False
        elif not elements([load]) <= anyway or computed_in(load.indices) or step in names_of([load]):
            return False
    return True


def _changing(stages: Sequence[Stage], states: Mapping[str, str]) -> dict[str, Expr]:
    """By stage that makes a state, whether a step may change a point; empty where that is not known of all.

    A point that no step changes stays as it is for ever, where all steps are alike.
    """
    found: dict[str, Expr] = {}
    for stage in stages:
        (part,) = stage.parts
        changes = _changes(stage, part.expr, states)
        if changes is None:
            return {}
        found[stage.name] = changes
    return found


def _changes(stage: Stage, expr: Expr, states: Mapping[str, str]) -> Expr | None:
    """Where a choice is not what the point had before; None where the expression is no such choice."""
    if not isinstance(expr, SelectExpr) or expr.dtype != stage.dtype:
        return None

    def stays(value: Expr) -> bool:
        return isinstance(value, Load) and states.get(value.source.name) == stage.name

    if not stays(expr.then) and not stays(expr.otherwise):
        return None
    then, otherwise = (Const(int(not stays(value)), Int) for value in (expr.then, expr.otherwise))
    return SelectExpr(expr.condition, then, otherwise, Int)
