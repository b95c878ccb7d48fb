"""Steps of one dimension whose vectors have a point of each of so many segments of the arrays.

before:  vectors of neighbours, so that what a point reads beside itself is shifted in registers
after:   element s of vector k is point k of segment s, so that neighbours are in vectors before and behind it

All segments are one ring: a segment goes on with the next one, the last with the first, and between the last
point that any stage computes and the first one lie those that stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polymat.graph.pipeline import Pipeline
from polymat.graph.segmented import LineSegments, RowPlace
from polymat.graph.stage import Part, Stage, loads_of
from polymat.graph.stepwise import ONE, HeldArray, StepSection
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Parameter, Unary
from polymat.lang.traverse import walk
from polymat.poly.domain import Domain

# Of a state: it changes in place, or each step makes that of the step after next.
PLANES = (ONE, Affine((), 2))


def segments_of(
    section: StepSection[Any], pipeline: Pipeline, stages: Sequence[Stage], held: Mapping[str, HeldArray]
) -> LineSegments | None:
    """Describe the steps of a section that may run in segments; None where they may not.

    Each stage computes an interval of its array by arithmetic on what others made at a fixed distance, in
    this step or the one before, or on arrays that nobody changes; all other points stay as they are.
    """
    if section.steps is None or section.independent:
        return None
    step = Affine.name(section.steps.name)
    outputs = dict(zip(pipeline.outputs, section.outputs, strict=True))
    if not all(stage.name in outputs and _is_line(stage, stages[0]) for stage in stages):
        return None
    folded = [held[view.array] for view in outputs.values() if view.step == step]
    if len(folded) < len(outputs) or not all(each.is_folded and each.planes in PLANES for each in folded):
        return None
    made = {view.array: name for name, view in outputs.items()}
    before = {}
    for array, view in zip(pipeline.inputs, section.inputs, strict=True):
        if view.array in made and view.step == step - 1:
            before[array.name] = made[view.array]
        elif view.step is not None or view.array in made:
            return None
    extents = {array.name: array.extents for array in pipeline.inputs}
    extents |= {stage.name: stage.extents for stage in stages}
    found = [_span(stage, before, step, pipeline.context) for stage in stages]
    known = [span for span in found if span is not None]
    if len(known) < len(found) or not all((low - known[0][0]).is_constant for low, _ in known):
        return None
    read = {load.source.name for stage in stages for load in loads_of(computed(stage, before))}
    if any(extents[name] != stages[0].extents for name in {*read, *extents.keys() & {*before}, *outputs}):
        return None
    kept = tuple(dict.fromkeys(before[name] for name in before if name in read))
    names = tuple(stage.name for stage in stages)
    spans = tuple(known)
    even = any(each.planes != ONE for each in folded)
    extent = stages[0].extents[0]
    return LineSegments(names, tuple(before.items()), spans, extent, kept, even) if kept else None


def _is_line(stage: Stage, first: Stage) -> bool:
    """Whether a stage has one dimension, and elements like those of the first one."""
    return len(stage.dims) == 1 and not stage.is_reduction and stage.dtype == first.dtype


def computed(stage: Stage, before: Mapping[str, str]) -> Part:
    """The first part of a stage that computes anything."""
    return next((part for part in stage.parts if not _stays(part, stage, before)), stage.parts[0])


def _stays(part: Part, stage: Stage, before: Mapping[str, str]) -> bool:
    """Whether the points of a part stay as they were one step before."""
    match part.expr:
        case Load(source, indices):
            return before.get(source.name) == stage.name and indices == (Affine.name(stage.dims[0]),)
        case _:
            return False


def _span(
    stage: Stage, before: Mapping[str, str], step: Affine, context: Domain
) -> tuple[Affine, Affine] | None:
    """The first and the last point that a stage computes, by the one part that is arithmetic on vectors.

    Those between are computed at all sizes and steps of the context.
    """
    parts = [part for part in stage.parts if not _stays(part, stage, before)]
    if len(parts) != 1:
        return None
    (part,) = parts
    limits = part.domain.limits(stage.dims[0])
    if limits is None or any({*step.names()} & {*form.names()} for form in limits):
        return None
    between = Domain.box(part.domain.params, stage.dims, [limits]).intersect(stage.domain)
    if not between.assume(context).is_subset(part.domain):
        return None
    nodes = [*walk(part.expr)]
    if not all(_has_vectors(node, stage) for node in nodes):
        return None
    return limits if any(isinstance(node, Load) for node in nodes) else None


def _has_vectors(node: Expr, stage: Stage) -> bool:
    """Whether C has this for vectors too; of reads, whether they are a fixed number of points away."""
    match node:
        case Const():
            return node.dtype == stage.dtype or node.dtype.weak
        case Load(_, indices):
            here = Affine.name(stage.dims[0])
            near = len(indices) == 1 and (indices[0] - here).is_constant
            return near and node.dtype == stage.dtype
        case Parameter() | Unary():
            return node.dtype == stage.dtype
        case Binary(op):
            return node.dtype == stage.dtype and op in ("+", "-", "*", "/")
        case _:
            return False


def reads(
    stage: Stage, before: Mapping[str, str], stages: Mapping[str, Stage]
) -> Iterator[tuple[str | None, int, int]]:
    """Yield what the computed part of a stage reads: the stage, how many steps before, and how far away.

    None in place of a stage: an array that nobody changes.
    """
    here = Affine.name(stage.dims[0])
    for load in loads_of(computed(stage, before)):
        name, apart = load.source.name, (load.indices[0] - here).const
        if name in before:
            yield before[name], 1, apart
        else:
            yield name if name in stages else None, 0, apart


def places(
    segments: LineSegments, stages: Mapping[str, Stage], steps: int
) -> tuple[tuple[RowPlace, ...], ...]:
    """Where the stages of so many steps of a pass are: each as close behind as what it needs lets it be.

    What is before the first point of all stages in a segment is right only for those that begin there: rows
    of others begin that much later.
    """
    lows = [low for low, _ in segments.spans]
    least = min((low - lows[0]).const for low in lows)
    begin = max((low - lows[0]).const - least for low in lows)
    before, found = dict(segments.before), []
    known = {(name, -1): RowPlace(0, begin) for name in segments.stages}
    for step in range(steps):
        for name in segments.stages:
            lag, first = 0, begin
            for source, back, apart in reads(stages[name], before, stages):
                place = RowPlace(-apart, 0) if source is None else known[source, step - back]
                lag, first = max(lag, place.lag + apart), max(first, place.first - apart)
            known[name, step] = RowPlace(lag, first)
        found.append(tuple(known[name, step] for name in segments.stages))
    return tuple(found)


def windows(segments: LineSegments, stages: Mapping[str, Stage], steps: int) -> dict[tuple[str, int], int]:
    """How many rows back each stage of a pass is read, of those of the step before the first one, too."""
    placed, before = places(segments, stages, steps), dict(segments.before)
    at = {(name, -1): RowPlace(0, 0) for name in segments.stages}
    at |= {
        (name, step): place
        for step, row in enumerate(placed)
        for name, place in zip(segments.stages, row, strict=True)
    }
    deepest: dict[tuple[str, int], int] = {}
    for step in range(steps):
        for name in segments.stages:
            for source, back, apart in reads(stages[name], before, stages):
                if source is None:
                    continue
                key = source, step - back
                depth = at[name, step].lag - at[key].lag - apart
                deepest[key] = max(deepest.get(key, 0), depth)
    return deepest
