"""The steps of a circle: which there are, and how far back its stages read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.graph.circles import Axes, StepAxis, has_own, inner_reads, possible_axes
from polymat.graph.onestep import at_step
from polymat.graph.pipeline import Pipeline
from polymat.graph.recurrence import recurrence_statements
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Ref, Stage
from polymat.graph.strong import components
from polymat.graph.toldapart import told_apart
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Load
from polymat.memo import remembered
from polymat.poly.domain import Domain
from polymat.poly.order import Circle, find_order

Distances: TypeAlias = Mapping[str, frozenset[int | None]]
SliceGroup: TypeAlias = tuple[tuple[str, int], ...]
"""Stages that run slice by slice, each with the dimension whose indices tell its slices apart."""


@dataclass(frozen=True, slots=True, eq=False)
class CircleSteps:
    """A circle that runs step by step.

    name: of the step, a size of the pipelines that run at one.  first, last: the steps.
    distances: how many steps earlier each stage is read within the circle; None where that is open.
    context: what is known of the sizes and the step.  independent: no step needs another one.
    """

    members: tuple[Stage, ...]
    axes: Axes
    name: str
    first: Affine
    last: Affine
    distances: Distances
    context: Domain
    independent: bool = False

    def span(self, member: Stage) -> tuple[Affine, Affine]:
        """The first and the last step of a stage."""
        return _span(member, self.axes)

    @property
    def step(self) -> Affine:
        """The step as a form."""
        return Affine.name(self.name)


def recurrences(pipeline: Pipeline) -> Iterator[tuple[str, ...]]:
    """The circles of a pipeline, and the functions over several dimensions that read themselves alone."""
    for stage in pipeline.stages:
        if stage.circle and stage.name == stage.circle[0]:
            yield stage.circle
        elif not stage.circle and stage.reads_itself and len(stage.dims) > 1:
            yield (stage.name,)


@remembered
def circle_steps(pipeline: Pipeline, names: tuple[str, ...]) -> CircleSteps | None:
    """How a circle of a pipeline runs step by step; None where no choice of dimensions allows it."""
    stages = tuple(stage for stage in pipeline.stages if stage.name in names)
    for members, axes in possible_axes(stages, pipeline.context):
        found = _steps(pipeline, members, axes)
        if found is not None and all(_is_orderable(found, group) for group in same_step(found)):
            return found
    return None


@remembered
def slice_steps(pipeline: Pipeline, group: SliceGroup) -> CircleSteps | None:
    """The slices of a group as steps of which none needs another one; None where some does."""
    positions = dict(group)
    stages = tuple(stage for stage in pipeline.stages if stage.name in positions)
    if not all(has_own(stage, positions[stage.name]) for stage in stages):
        return None
    members = told_apart(stages, positions, pipeline.context)
    found = _steps(pipeline, members, {name: StepAxis(place) for name, place in group})
    if found is None or not all(distances <= {0} for distances in found.distances.values()):
        return None
    if not all(_is_orderable(found, each) for each in same_step(found)):
        return None
    return replace(found, independent=True)


def takes_steps(pipeline: Pipeline, stage: Stage) -> bool:
    """Whether a stage that needs itself alone runs step by step, as circles do.

    Data say which elements of earlier steps it reads, adds to, or sums up: at one step all of that is known.
    """
    if stage.circle or not stage.reads_itself or (len(stage.dims) < 2 and not stage.is_reduction):
        return False
    own = (load for load in stage.loads() if load.source.name == stage.name)
    computed = any(computed_in(load.indices) for load in own) or _has_computed_places(stage)
    return (computed or stage.segments is not None) and circle_steps(pipeline, (stage.name,)) is not None


def _has_computed_places(stage: Stage) -> bool:
    return any(computed_in(item.target) for item in stage.accumulations)


def _steps(pipeline: Pipeline, members: tuple[Stage, ...], axes: Axes) -> CircleSteps | None:
    spans = [_span(member, axes) for member in members]
    first = _least([low for low, _ in spans], pipeline.context)
    last = _least([-high for _, high in spans], pipeline.context)
    if first is None or last is None:
        return None
    name = _step_name(pipeline, members, axes)
    step = Affine.name(name)
    wide = pipeline.context.with_params((name,))
    context = wide.at_least_zero([step - first, -last - step])
    needs = [*inner_reads(members, {key: axis.position for key, axis in axes.items()}, pipeline.context)]
    distances = {
        member.name: frozenset(need.distance(axes) for need in needs if need.producer == member.name)
        for member in members
    }
    return CircleSteps(members, axes, name, first, -last, distances, context)


def _span(member: Stage, axes: Axes) -> tuple[Affine, Affine]:
    axis = axes[member.name]
    low, high = (axis.step(form) for form in member.box[axis.position])
    return (low, high) if axis.sign > 0 else (high, low)


def _least(forms: Sequence[Affine], context: Domain) -> Affine | None:
    """The form that is never larger than another one; None where that depends on the sizes."""
    distinct = list(dict.fromkeys(forms))
    for form in distinct:
        if all(context.at_least_zero([form - other - 1]).is_empty() for other in distinct):
            return form
    return None


def _step_name(pipeline: Pipeline, members: Sequence[Stage], axes: Axes) -> str:
    """The user's name of the first dimension of steps, where no dimension that is left has it."""
    sums = [(item, stage) for stage in members for item in stage.accumulations]
    left = {dim for stage in members for dim in _others(stage.dims, axes[stage.name].position)}
    for item, stage in sums:
        own = next(item.target[axes[stage.name].position].names())
        left |= {*item.dims} - {own}
    plain = all(axis.index(Affine.name("s")) == Affine.name("s") for axis in axes.values())
    left |= set() if plain else {dim for stage in members for dim in stage.dims}
    first = members[0]
    taken = {*names_taken(pipeline), *pipeline.context.params, *left}
    return free_name(first.dims[axes[first.name].position], taken)


def _others(dims: Sequence[str], position: int) -> set[str]:
    return {dim for place, dim in enumerate(dims) if place != position}


def same_step(steps: CircleSteps) -> list[tuple[Stage, ...]]:
    """The stages at any one step by what they need of each other there, producers first."""

    def relink(load: Load, indices: tuple[Affine, ...]) -> Load:
        axis = steps.axes.get(load.source.name)
        if axis is None or load.source.is_input:
            return Load(load.source, indices, load.dtype, load.at)
        index, rest = axis.split(indices)
        here = steps.step == axis.step(index)
        name = load.source.name if here else f"{load.source.name} before"
        rest = indices if computed_in([index]) else rest  # what data say is the value of some index
        return Load(Ref(name, load.dtype, is_input=not here), rest, load.dtype, load.at)

    sliced = (
        at_step(stage, steps.axes[stage.name], steps.step, steps.context, relink) for stage in steps.members
    )
    return [*in_circles([stage for stage in sliced if stage is not None])]


def in_circles(stages: Sequence[Stage]) -> Iterator[tuple[Stage, ...]]:
    """Stages by what they need of each other, producers first; those of a circle say so."""
    known = {stage.name: stage for stage in stages}

    def producers(stage: Stage) -> list[Stage]:
        names = dict.fromkeys(load.source.name for load in stage.loads() if not load.source.is_input)
        return [known[name] for name in names if name in known and name != stage.name]

    yield from components(stages, producers)


def marked(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Stages in an order in which they can run, those of a circle with a note of it."""
    found: list[Stage] = []
    for group in in_circles(stages):
        names = tuple(stage.name for stage in group) if len(group) > 1 else ()
        found += (stage if stage.circle == names else replace(stage, circle=names) for stage in group)
    return tuple(found)


def _is_orderable(steps: CircleSteps, group: tuple[Stage, ...]) -> bool:
    """Whether stages that need each other, or themselves, at one step have an order there."""
    if len(group) > 1:
        names = tuple(stage.name for stage in group)
        return circle_steps(_at_one_step(steps, group), names) is not None
    (stage,) = group
    if not any(load.source.name == stage.name and not load.source.is_input for load in stage.loads()):
        return True
    if _has_computed_places(stage):
        return False
    statements = recurrence_statements(stage, steps.context)
    return not isinstance(find_order(statements, steps.context), Circle)


def _at_one_step(steps: CircleSteps, group: tuple[Stage, ...]) -> Pipeline:
    """Stages at one step as a pipeline, for questions about their order."""
    return Pipeline((), (), (), group, (), (), steps.context)
