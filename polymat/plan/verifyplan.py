"""What must hold of a partition and of a schedule, whatever was decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from polymat.errors import InternalError
from polymat.graph.aligned import Member
from polymat.graph.group import Grouping
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan, TilePlan


def check_grouping(grouping: Grouping) -> None:
    """Raise an `InternalError` where a stage is in no group or in several, or reads what comes later."""
    _refuse(_grouping_faults(grouping, {}))


def check_schedule(schedule: Schedule) -> None:
    """Raise an `InternalError` where a group has no plan, or one that cannot be carried out."""
    _refuse(_grouping_faults(schedule.grouping, schedule.in_outputs))
    _refuse(_schedule_faults(schedule))


def _refuse(faults: Iterator[str]) -> None:
    for fault in faults:
        raise InternalError(f"bug in polymat: {fault}")


def _grouping_faults(grouping: Grouping, inside: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with a partition; inside: stages in no group, by what is computed in their arrays."""
    counted = Counter(name for group in grouping.groups for name in group.stages)
    stages = {stage.name: stage for stage in grouping.pipeline.stages}
    elsewhere = {*inside.values()}
    wrong = (name for name in stages if counted[name] != (0 if name in elsewhere else 1))
    yield from (f"{name} is in {counted[name]} groups" for name in wrong)
    yield from (f"the groups have a stage {name}, the pipeline has none" for name in counted.keys() - stages)
    done: set[str] = set()
    for group in grouping.groups:
        for name in group.stages:
            done |= {name, *([inside[name]] if name in inside else [])}
            for load in stages[name].loads():
                if load.source.name in stages and load.source.name not in done:
                    yield f"{name} reads {load.source.name}, which is computed after it"


def _schedule_faults(schedule: Schedule) -> Iterator[str]:
    pipeline, groups, plans = schedule.grouping.pipeline, schedule.grouping.groups, schedule.plans
    planned = [plan.group for plan in plans]
    if planned != [*groups]:
        texts = " | ".join("+".join(group.stages) for group in planned)
        yield f"the groups are {schedule.grouping.summary}, and the plans are for {texts}"
    stages = {stage.name: stage for stage in pipeline.stages}
    yield from (f"{name} is kept, and is no stage" for name in sorted(schedule.kept - stages.keys()))
    yield from (*_fold_faults(schedule), *_output_faults(schedule))
    for plan in plans:
        for fault in (*_hidden_faults(pipeline, plan), *_own_faults(plan, stages)):
            yield f"{'+'.join(plan.group.stages)}: {fault}"


def _fold_faults(schedule: Schedule) -> Iterator[str]:
    """Only loops of a stage that reads itself leave elements out, and not of what callers get."""
    pipeline = schedule.grouping.pipeline
    plans = {plan.group.stages[-1]: plan for plan in schedule.plans}
    for name, places in schedule.folds.items():
        plan = plans.get(name)
        folds = isinstance(plan, EliminationPlan) or (
            isinstance(plan, LoopPlan) and plan.recurrence is not None
        )
        if not folds or name in pipeline.outputs:
            yield f"{name} keeps few of its elements, and is no recurrence between others"
        elif len(places) != len(pipeline.stage(name).dims) or any(k is not None and k < 1 for k in places):
            yield f"{name} keeps {places} of its elements"


def _output_faults(schedule: Schedule) -> Iterator[str]:
    """In the array of an output lies one recurrence in blocks of steps, with one place for all steps."""
    pipeline = schedule.grouping.pipeline
    plans = {plan.group.stages[-1]: plan for plan in schedule.plans}
    for name, output in schedule.in_outputs.items():
        places = schedule.folds.get(name, ())
        if output not in pipeline.outputs:
            yield f"{name} lies in {output}, which is no output"
        elif not isinstance(plans.get(name), EliminationPlan) or places[:1] != (1,):
            yield f"{name} lies in {output}, and is no elimination with one place for all steps"
    if len({*schedule.in_outputs.values()}) < len(schedule.in_outputs):
        yield "two recurrences lie in one output"


def _hidden_faults(pipeline: Pipeline, plan: Plan) -> Iterator[str]:
    """What has no array of its own is read in its group alone."""
    hidden = plan.hidden
    yield from (f"the output {name} has no array" for name in pipeline.outputs if name in hidden)
    for stage in pipeline.stages:
        if stage.name not in plan.group.stages:
            read = {load.source.name for load in stage.loads()} & hidden
            yield from (f"{stage.name} reads {name}, which has no array" for name in sorted(read))


def _own_faults(plan: Plan, stages: Mapping[str, Stage]) -> Iterator[str]:
    match plan:
        case TilePlan():
            return _tile_faults(plan, stages)
        case LoopPlan():
            return _loop_faults(plan)
        case _:
            return _nest_faults(plan)


def _nest_faults(plan: NestPlan) -> Iterator[str]:
    if len({*plan.order}) < len(plan.order):
        yield f"a loop stands twice in {plan.order}"


def _loop_faults(plan: LoopPlan) -> Iterator[str]:
    yield from _nest_faults(plan)
    yield from (
        f"the loop along {dim} is none of {plan.order}"
        for dim in (plan.parallel, plan.vector)
        if dim is not None and dim not in plan.order
    )
    if plan.planes is not None and plan.planes.dim not in plan.order[:-1]:
        yield f"planes of {plan.planes.dim} run together inside of all loops but the last"
    if plan.lines > 1 and not plan.order[1:-1]:
        yield f"lines run together in {plan.order}, where there are none within the outermost loop"
    counts = plan.unroll, plan.addends, plan.lanes, plan.lines
    if min(counts) < 1 or min(plan.block, plan.ahead, plan.streamed) < 0:
        yield "of a loop at least one point runs at a time"


def _tile_faults(plan: TilePlan, stages: Mapping[str, Stage]) -> Iterator[str]:
    if len(plan.sizes) != len(plan.dims) or len({*plan.dims}) < len(plan.dims) or min(plan.sizes) < 1:
        yield f"tiles of {plan.sizes} along {plan.dims}"
    if dict(plan.levels) != dict(enumerate(plan.sizes)) or (plan.nest and plan.is_ordered):
        yield f"tiles of {plan.sizes} in a nest of {plan.nest}"
    if {member.stage for member in plan.members} != {*plan.group.stages}:
        yield f"its members are {', '.join(member.stage for member in plan.members)}"
    for member in plan.members:
        if member.stage not in plan.loops:
            yield f"{member.stage} has no loops"
        else:
            yield from _own_faults(plan.loops[member.stage], stages)
        yield from _member_faults(member, plan, stages[member.stage])
    for name in (name for pair in plan.places.items() for name in pair if name not in plan.scratch):
        yield f"{name} shares a scratchpad, and has none"
    paired = {name for pair in plan.joint for name in pair}
    yield from (f"{name} runs jointly, and is no member" for name in sorted(paired - {*plan.group.stages}))


def _member_faults(member: Member, plan: TilePlan, stage: Stage) -> Iterator[str]:
    depth = len(plan.dims)
    if len(member.dims) != depth or len(member.margins) != depth or len(member.scales) not in (0, depth):
        yield f"{member.stage} lies along {member.dims} with margins {member.margins}"
    if any(scale < 1 for scale in member.scales):
        yield f"{member.stage} has the scales {member.scales}"
    own = {*stage.dims, *(dim for item in stage.accumulations for dim in item.dims)}
    yield from (f"{member.stage} has no dimension {dim}" for dim in member.dims if dim and dim not in own)
