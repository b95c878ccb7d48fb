"""Which inputs may be given as `out=` without a copy (the proof is on exact access relations)."""

from __future__ import annotations

from polymat.graph.accesses import reads_of
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, InputArray, Part, Stage
from polymat.lang.affine import Affine
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.library import CallPlan, FilterPlan
from polymat.plan.nest import NestPlan
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
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


def _may_coincide(pipeline: Pipeline, schedule: Schedule, array: InputArray, output: str) -> bool:
    written = pipeline.stage(output)
    shapes = [pipeline.as_called(each.name, each.extents) for each in (array, written)]
    if written.dtype != array.dtype or written.extents != array.extents or shapes[0] != shapes[1]:
        return False
    position = next(k for k, plan in enumerate(schedule.plans) if output in plan.group.stages)
    later = [name for plan in schedule.plans[position:] for name in plan.group.stages if name != output]
    for name in later:
        if any(load.source.name == array.name for load in pipeline.stage(name).loads()):
            return False
    if array.name in _read_by_calls(schedule.plans[position]):
        return False
    return _reads_own_element(pipeline, written, _kind(schedule.plans[position], output), array.name)


def _read_by_calls(plan: Plan) -> set[str]:
    """What library calls read once the result has its start values.

    An operand that a routine overwrites was such a value, unless loops may have to begin again from it.
    """
    if not isinstance(plan, CallPlan):
        return set()
    last = [
        call.operands[:-1] if call.overwrites and not call.row.spreads else call.operands
        for call in plan.idiom.calls
    ]
    return {operand.source for operands in last for operand in operands}


def _kind(plan: Plan, stage: str) -> str:
    """How a stage accumulates; "private" when tiles do it one after the other, or compute points twice.

    So does a stage whose array holds another one's values before its own.
    """
    if isinstance(plan, FilterPlan) or (isinstance(plan, EpiloguePlan) and plan.absorbed):
        return "private"
    if isinstance(plan, NestPlan):
        return plan.kind
    member = next(m for m in plan.members if m.stage == stage)
    return "private" if member.private or member.copied else plan.loops[stage].kind


def _reads_own_element(pipeline: Pipeline, stage: Stage, kind: str, name: str) -> bool:
    items: list[Part | Accumulation] = [*stage.parts, *stage.accumulations]
    for item in items:
        domain = item.domain.assume(pipeline.context)
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
