"""Which inputs may be given as `out=` without a copy (the proof is on exact access relations)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polymat.graph.accesses import reads_of
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, InputArray, Part, Stage, loads_of
from polymat.graph.stepwise import Stepwise
from polymat.lang.affine import Affine, computed_in
from polymat.plan.schedule import Schedule
from polymat.poly.access import Access


def inplace_pairs(pipeline: Pipeline, schedule: Schedule) -> tuple[tuple[int, int], ...]:
    """(input, output) positions such that no element is read after it was overwritten.

    Reads in groups that run earlier are harmless.  In the group that writes the output a point may read only
    the element that it writes itself, and before it writes.  Later reads forbid it.
    """
    pairs = []
    for i, array in enumerate(pipeline.inputs):
        for o, output in enumerate(pipeline.outputs):
            if _may_coincide(pipeline, schedule, array, output):
                pairs.append((i, o))
    return tuple(pairs)


def aliases(pipeline: Pipeline, schedule: Schedule, pairs: Sequence[tuple[int, int]]) -> set[tuple[str, str]]:
    """Arrays that may be one, by name: an input and an output, or what lies in the array of that."""
    found = {(pipeline.inputs[i].name, pipeline.outputs[o]) for i, o in pairs}
    inside = schedule.in_outputs.items()
    return found | {(array, name) for name, output in inside for array, given in found if given == output}


def inplace_in_sections(stepwise: Stepwise[Any]) -> tuple[tuple[int, int], ...]:
    """(input, output) positions such that no section reads the input once one has written of the output."""
    pipeline, sections = stepwise.whole, stepwise.sections
    pairs = []
    for i, array in enumerate(pipeline.inputs):
        reads = [k for k, each in enumerate(sections) if array.name in {view.array for view in each.inputs}]
        for o, output in enumerate(pipeline.outputs):
            written = [{*each.changed, *(view.array for view in each.outputs)} for each in sections]
            writes = [k for k, arrays in enumerate(written) if output in arrays]
            alike = _are_alike(pipeline, array, pipeline.stage(output))
            if alike and max(reads, default=-1) < min(writes, default=-1):
                pairs.append((i, o))
    return tuple(pairs)


def _are_alike(pipeline: Pipeline, array: InputArray, written: Stage) -> bool:
    """Whether an input and an output have the same type and shape, for the caller too."""
    shapes = [pipeline.as_called(each.name, each.extents) for each in (array, written)]
    return written.dtype == array.dtype and written.extents == array.extents and shapes[0] == shapes[1]


def _may_coincide(pipeline: Pipeline, schedule: Schedule, array: InputArray, output: str) -> bool:
    written = pipeline.stage(output)
    if not _are_alike(pipeline, array, written):
        return False
    inside = [name for name, of in schedule.in_outputs.items() if of == output]
    writers = {output, *inside}
    position = next(k for k, plan in enumerate(schedule.plans) if writers & {*plan.group.stages})
    later = [name for plan in schedule.plans[position:] for name in plan.group.stages if name not in writers]
    for name in later:
        if any(load.source.name == array.name for load in pipeline.stage(name).loads()):
            return False
    if inside:
        return all(_starts_with(pipeline.stage(name), array.name) for name in inside)
    plan = schedule.plans[position]
    if array.name in plan.read_late:
        return False
    return _reads_own_element(pipeline, written, plan.accumulation(output), array.name)


def _starts_with(stage: Stage, array: str) -> bool:
    """Whether a recurrence reads an array in its first step alone, each point its own element there."""
    own, first = tuple(map(Affine.name, stage.dims[1:])), stage.box[0][0]
    for part in stage.parts:
        loads = [load for load in loads_of(part) if load.source.name == array]
        later = part.domain.at_least_zero([Affine.name(stage.dims[0]) - first - 1])
        if any(load.indices != own for load in loads) or (loads and not later.is_empty()):
            return False
    return True


def _reads_own_element(pipeline: Pipeline, stage: Stage, kind: str, name: str) -> bool:
    items: list[Part | Accumulation] = [*stage.parts, *stage.accumulations]
    for item in items:
        domain = item.domain.assume(pipeline.context)
        places = computed_in(item.target) if isinstance(item, Accumulation) else ()
        if any(reads_of(domain, atom.value, name) for atom in places):
            return False
        reads = reads_of(domain, item.expr, name)
        if not reads:
            continue
        if isinstance(item, Accumulation) and kind != "reduce":
            return False
        if kind == "private":  # the start values are written after the tiles, or before
            return False
        own = Access.of(domain, _written(stage, item))
        if not all(read.is_subset(own) for read in reads):
            return False
    return True


def _written(stage: Stage, item: Part | Accumulation) -> tuple[Affine, ...]:
    return item.target if isinstance(item, Accumulation) else tuple(Affine.name(d) for d in stage.dims)
