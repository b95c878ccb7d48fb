"""Stages that read themselves and of whose elements few are needed at a time: each gets so few places.

before:  u(t, i, j) has T + 1 planes
after:   u(t, i, j) is at (t mod 2, i, j), where u(t - 1, .) and u(T, .) are all that is read
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from polymat.graph.recurrence import copies, later_reads, recurrence_statements
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.schedule import Decision, Schedule
from polymat.poly.domain import Domain
from polymat.poly.lifespan import Folds, folds, lifespans

MOST = 64  # places along a dimension; where more are needed, all elements have one


def fold_storage(schedule: Schedule, said: Container[str] = ()) -> Schedule:
    """Say of each stage that reads itself how few places its elements need, along each dimension.

    The order of its points is that of its plan; what other stages read is read behind all of them.  said: the
    stages whose loops somebody else has said: these run.
    """
    pipeline = schedule.grouping.pipeline
    found: dict[str, Folds] = {}
    for plan in schedule.plans:
        name = plan.group.stages[-1]
        if isinstance(plan, EliminationPlan):
            found[name] = plan.places
        elif isinstance(plan, LoopPlan) and plan.recurrence is not None and name not in pipeline.outputs:
            known = _folds(schedule, pipeline.stage(name), plan)
            if any(known):
                found[name] = known
    return _in_outputs(replace(schedule, folds=found), said) if found else schedule


def _in_outputs(schedule: Schedule, said: Container[str]) -> Schedule:
    """Compute eliminations in the array of the output that is their last step, if there is one.

    before:  W(k, i, j) has one place for all k; L(i, j) = W(N, i, j), a copy
    after:   W(k, i, j) is at L(i, j), and L is in no group: there is nothing to be done for it

    Once: a schedule that has been told of is folded again for its clock.
    """
    if schedule.kept or schedule.others or schedule.in_outputs:
        return schedule
    pipeline, found = schedule.grouping.pipeline, dict[str, str]()
    plans = {plan.group.stages: plan for plan in schedule.plans}
    for plan in (each for each in schedule.plans if isinstance(each, EliminationPlan)):
        stage = pipeline.stage(plan.group.stages[-1])
        outputs = (pipeline.stage(name) for name in pipeline.outputs if name not in said)
        alone = (each for each in outputs if isinstance(plans.get((each.name,)), LoopPlan))
        output = next((each for each in alone if _is_last_step(each, stage, pipeline.context)), None)
        if output is not None:
            found[stage.name] = output.name
    return _without_copies(schedule, found) if found else schedule


def _without_copies(schedule: Schedule, inside: Mapping[str, str]) -> Schedule:
    """The schedule with recurrences in outputs, which then have neither a group nor a plan nor a price."""
    outputs = {(output,) for output in inside.values()}
    kept = [number for number, plan in enumerate(schedule.plans) if plan.group.stages not in outputs]
    grouping, telling = schedule.grouping, schedule.telling

    def told() -> tuple[Decision, ...]:
        decisions = telling()
        return tuple(decisions[number] for number in kept) if decisions else ()

    return replace(
        schedule,
        grouping=replace(grouping, groups=tuple(grouping.groups[number] for number in kept)),
        plans=tuple(schedule.plans[number] for number in kept),
        telling=told,
        in_outputs=inside,
    )


def _is_last_step(output: Stage, stage: Stage, context: Domain) -> bool:
    """Whether an output is one step of a recurrence of the same points, element by element."""
    if len(output.parts) != 1 or output.accumulations or output.dtype != stage.dtype:
        return False
    (part,) = output.parts
    loaded, own = part.expr, tuple(map(Affine.name, output.dims))
    if not isinstance(loaded, Load) or loaded.source.name != stage.name or loaded.indices[1:] != own:
        return False
    step, (first, _) = loaded.indices[0], stage.box[0]
    points = stage.domain.assume(context).onto(stage.dims[1:])
    alike = (
        first.is_constant and {*output.dims}.isdisjoint(step.names()) and output.extents == stage.extents[1:]
    )
    return alike and points.equals(output.domain.assume(context))


def _folds(schedule: Schedule, stage: Stage, plan: LoopPlan) -> Folds:
    """Of one stage; empty where nothing can be known."""
    pipeline = schedule.grouping.pipeline
    most = _most(schedule, stage)
    if plan.recurrence is None or not any(most):
        return ()
    shared = stage.dims.index(plan.parallel) if plan.outwards and plan.parallel else None
    statements = recurrence_statements(stage, pipeline.context)
    order = replace(plan.recurrence, trailing=plan.trailing)
    spans = lifespans(statements, order, shared=shared, later=[*later_reads(pipeline, stage)])
    return folds(spans, most, [*copies(stage)])


def _most(schedule: Schedule, stage: Stage) -> list[int]:
    """The most places along each dimension that would be fewer than all, and that its readers can read.

    Readers that are plain loops compute each place; for others what they read must lie as in the whole array
    but for where it begins: their index along the outermost dimension is the same at all of their points.
    """
    lengths = [high - low + 1 for low, high in stage.box]
    most = [min(length.const - 1, MOST) if length.is_constant else MOST for length in lengths]
    for plan in schedule.plans:
        for reader in (schedule.grouping.pipeline.stage(name) for name in plan.group.stages):
            if reader.name == stage.name:
                continue
            plain = isinstance(plan, LoopPlan)
            dims = {*reader.dims, *(dim for item in reader.accumulations for dim in item.dims)}
            for load in (each for each in reader.loads() if each.source.name == stage.name):
                for k, form in enumerate(load.indices):
                    fixed = dims.isdisjoint(form.names())
                    most[k] = min(most[k], MOST if fixed and (plain or k == 0) else int(plain))
    return [max(places, 0) for places in most]
