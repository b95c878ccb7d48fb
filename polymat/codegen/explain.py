"""What the levels decided, collected for `Compiled.explain()`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod

from polymat.codegen.c.abi import Signature
from polymat.codegen.memory.storage import Buffer
from polymat.codegen.productreport import Products
from polymat.codegen.report import NO_ARRAY, GroupReport, Prediction, Report
from polymat.graph.pipeline import Pipeline
from polymat.lang.types import BFloat16, ScalarType
from polymat.machine.memory import total_memory
from polymat.model.assumed import assumed_sizes
from polymat.plan.planscheme import schemes_of
from polymat.plan.schedule import Decision, Schedule
from polymat.plan.tile import Plan

_SURELY_THERE = 1 << 30  # bytes for which the system is not asked how many it has


def make_report(
    built: Pipeline,
    schedule: Schedule,
    signature: Signature,
    buffers: Iterable[Buffer],
    estimates: Mapping[str, int],
    seconds: Mapping[str, float],
    products: Products | None = None,
    page: Callable[[Report], str] | None = None,
) -> Report:
    """Collect what the levels decided; products: who is asked about other sizes; page: who draws it."""
    pipeline = schedule.grouping.pipeline
    arrays = {buffer.name: buffer for buffer in buffers}
    kept = {stage.name for stage in pipeline.stages}
    decisions = schedule.decisions or (None,) * len(schedule.plans)
    groups = tuple(
        _with(_group(pipeline, plan, arrays), plan, decision)
        for plan, decision in zip(schedule.plans, decisions, strict=True)
    )
    sizes = assumed_sizes(pipeline, estimates)
    assumed = {name: size for name, size in sizes.items() if name not in estimates}
    beyond = bool(assumed) and _is_beyond_memory(pipeline, sizes)
    if beyond:
        groups = tuple(replace(group, cost="", movement=None, reuses=()) for group in groups)
    every_call = [group for group in groups if "kept" not in group.storage.values()]
    return Report(
        name=signature.name,
        groups=groups,
        predicted=total([group.predicted for group in every_call if group.predicted is not None]),
        inlined=tuple(stage.name for stage in built.stages if stage.name not in kept),
        inplace=tuple((signature.inputs[i].name, signature.outputs[o].name) for i, o in signature.inplace),
        seconds=dict(seconds),
        notes=(*pipeline.notes, *schedule.notes),
        considered=schedule.considered,
        partition=schedule.grouping.guarantee,
        assumed=assumed,
        beyond_memory=beyond,
        asked=products,
        page=page,
    )


def _types(pipeline: Pipeline, plan: Plan) -> dict[str, str]:
    return {name: _told(pipeline.stage(name).dtype) for name in plan.group.stages}


def _told(dtype: ScalarType) -> str:
    """NumPy's name of a type, or ours where it has none."""
    return dtype.name.lower() if dtype == BFloat16 else dtype.dtype


def _folds(pipeline: Pipeline, plan: Plan, arrays: Mapping[str, Buffer]) -> dict[str, str]:
    """How few of the elements of its arrays have places, in words."""
    told = {}
    for stage in (pipeline.stage(name) for name in plan.group.stages if name in arrays):
        sides = zip(arrays[stage.name].folds, stage.dims, stage.box, strict=False)
        parts = [f"{few} of {high - low + 1} along {dim}" for few, dim, (low, high) in sides if few]
        if parts:
            told[stage.name] = ", ".join(parts)
    return told


def _is_beyond_memory(pipeline: Pipeline, sizes: Mapping[str, int]) -> bool:
    """Whether inputs and outputs of these sizes are more than the machine has room for."""
    outputs = [pipeline.stage(name) for name in pipeline.outputs]
    shapes = [(array.dtype.size, array.extents) for array in pipeline.inputs]
    shapes += [(stage.dtype.size, tuple(high + 1 for _, high in stage.box)) for stage in outputs]
    total: int = sum(
        size * prod(max(form.evaluate(sizes), 0) for form in extents) for size, extents in shapes
    )
    return total > _SURELY_THERE and total > total_memory()


def _with(group: GroupReport, plan: Plan, decision: Decision | None) -> GroupReport:
    """The report of a group with what speaks for it."""
    if decision is None:
        return group
    traffic = decision.movement.traffic
    # Where a plan computes in another way than by the sums of the definition, only what has to be read and
    # written is the same.
    looped = plan.by_definition
    shown = traffic if looped else traffic[-1:]
    predicted = Prediction(
        decision.seconds,
        {entry.level: round(entry.bytes) for entry in shown},
        {entry.level: entry.seconds for entry in shown if looped},
    )
    return replace(
        group,
        cost=decision.terms,
        movement=decision.movement if looped else None,
        reuses=decision.reuses if looped else (),
        scores={name: found.explain() for name, found in decision.scores.items()},
        predicted=predicted,
    )


def total(groups: Sequence[Prediction]) -> Prediction:
    """Add up what groups cost, one after the other."""
    levels = dict.fromkeys(level for group in groups for level in group.bytes)
    return Prediction(
        sum(group.seconds or 0.0 for group in groups) if groups else None,
        {level: sum(group.bytes.get(level, 0) for group in groups) for level in levels},
        {
            level: sum(group.level_seconds[level] for group in groups if level in group.level_seconds)
            for level in levels
            if any(level in group.level_seconds for group in groups)
        },
    )


def _place(buffer: Buffer) -> str:
    return f"{buffer.place} {buffer.of}" if buffer.of else buffer.place


def _group(pipeline: Pipeline, plan: Plan, arrays: Mapping[str, Buffer]) -> GroupReport:
    places = {name: _place(arrays[name]) if name in arrays else NO_ARRAY for name in plan.group.stages}
    return GroupReport(
        stages=plan.group.stages,
        kind=plan.kind,
        order=plan.shown_order,
        tile_sizes=plan.tile_sizes,
        parallel=plan.parallel,
        vector=plan.shown_vector,
        storage=places,
        library_calls=plan.routines,
        reason=plan.why,
        inside=plan.inside,
        types=_types(pipeline, plan),
        folds=_folds(pipeline, plan, arrays),
        scheme={name: str(scheme) for name, scheme in schemes_of(plan).items()},
    )
