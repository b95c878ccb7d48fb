"""Which steps follow each other over the rows of their arrays (`polymat.graph.skews`), and how many.

That pays where the arrays lie in no cache of a core: a row is then fetched once for many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from polymat.decide.followedcosts import FollowedCosts
from polymat.decide.followprices import followed_costs, telling_of_following
from polymat.decide.opensteps import StepsAsked, open_schedule
from polymat.graph.pipeline import Pipeline
from polymat.graph.skewed import SkewedSteps, Skews
from polymat.graph.skews import skews_of
from polymat.graph.stage import Stage, ends
from polymat.graph.stepwise import HeldArray, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.machine.model import MEMORY, Machine
from polymat.model.assumed import assumed_sizes
from polymat.model.team import team_cost
from polymat.plan.followingsteps import asked, following
from polymat.plan.loops import LoopPlan
from polymat.plan.planscheme import loop_atoms
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from polymat.tilesize.home import Home
from polymat.tilesize.pace import paces
from polymat.tilesize.register import SHIFTED_BITS, in_rows, shares_rows
from polymat.tilesize.schemetiles import says_any
from polymat.tilesize.stateplanes import kept_in_place

ROOM_SHARE = 0.8  # of the second-level cache, for the rows of all steps at work, which come round again
LEAST_SHARE = 0.75  # of it: smaller arrays stay there from step to step anyway
PIECE_SHARE = 0.25  # of the first-level cache, for rows that run together
MOST_STEPS = 32  # that follow each other: what more of them save is a small share of the passes over memory
LEAST_STEPS = 2  # that follow each other
ROWS_TOGETHER = 4  # of a result whose rows share what they read
PLANES_TOGETHER = 2  # that these lie in where rows share along two dimensions, two lines of each
SHIFTED_PLACES = 3  # of a row

Held = Mapping[str, HeldArray]
Planned = Callable[[Pipeline], Schedule]


def keep_apart(stepwise: Stepwise[Pipeline]) -> Stepwise[Pipeline]:
    """Note of the steps of functions that are to follow each other that each stage has loops of its own."""
    followed = {*stepwise.whole.followed}
    levels = [
        replace(section.level, apart=True)
        if isinstance(section.level, Pipeline) and section.goes_on and followed & {*section.level.outputs}
        else section.level
        for section in stepwise.sections
    ]
    return stepwise.with_levels(levels)


def followed(
    section: StepSection[Any],
    stepwise: Stepwise[Pipeline],
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    planned: Planned,
) -> FollowedCosts | None:
    """The cost of the steps of a section where they follow each other; None where they do not.

    planned: the schedule of a pipeline whose stages have loops of their own; those may be none over rows.
    """
    level, held = section.level, {each.name: each for each in stepwise.held}
    if section.steps is None or not isinstance(level, Pipeline) or not section.goes_on:
        return None
    if not all(held[view.array].is_folded for view in section.outputs):
        return None
    order = skews_of(section, level, level.stages, held)
    if order is None:
        return None
    once = {stage.name for stage, _ in kept_in_place(level)}
    skewed = _steps(section, level, level.stages, order, held, machine, ROWS_TOGETHER, once)
    sizes = {**assumed_sizes(stepwise.whole, estimates), section.steps.name: 0}
    count = len(section.steps.numbers(sizes))
    if not following(skewed).follow.holds(asked(skewed, sizes, count)):
        return None
    schedule = planned(level)
    if _order(section, schedule, held) is None:
        return None
    rows = _plans(schedule, order, machine, sizes)
    return followed_costs(level, schedule.plans, rows, skewed, machine, sizes, count, threads)


def _steps(
    section: StepSection[Any],
    pipeline: Pipeline,
    stages: Sequence[Stage],
    order: Skews,
    held: Held,
    machine: Machine,
    unit: int,
    once: Collection[str] = (),
) -> SkewedSteps:
    """Steps in an order, of so many rows of a stage at a time; once: arrays that will have one plane."""
    return SkewedSteps(
        order,
        tuple(_spans(stages, order)),
        tuple(_arrays(section, pipeline, held, once)),
        unit,
        piece=int(PIECE_SHARE * machine.l1_bytes),
        room=int(ROOM_SHARE * machine.l2_bytes),
        least=int(LEAST_SHARE * machine.l2_bytes),
        fewest=LEAST_STEPS,
        most=MOST_STEPS,
        meeting=team_cost(machine).meeting,
    )


def with_skewed_steps(stepwise: Stepwise[Schedule], asked: StepsAsked) -> Stepwise[Schedule]:
    """Let steps follow each other that were kept apart for that, where plans and storage allow it.

    Steps that would have other loops than the user gives run one by one.

    before:  for each step: all rows of B, then all rows of A
    after:   for 32 steps at a time: for a few rows: of each step those of B and A that lie far enough behind
    """
    return stepwise.with_sections(lambda section: _skewed(section, stepwise, asked))


def _skewed(
    section: StepSection[Schedule], stepwise: Stepwise[Schedule], asked: StepsAsked
) -> StepSection[Schedule]:
    schedule, held = open_schedule(section), {each.name: each for each in stepwise.held}
    if schedule is None or section.steps is None or not schedule.grouping.pipeline.apart:
        return section
    order = _order(section, schedule, held)
    if order is None:
        return section
    pipeline, stages, machine = schedule.grouping.pipeline, _stages(schedule), asked.machine
    here = asked.sizes(section, stepwise)
    plans = _plans(schedule, order, machine, here)
    given = [asked.given.get(stage.name) for stage in stages]
    if not all(map(_has_same_loops, schedule.plans, plans, given)):
        return section
    rows = max(plan.unroll * plan.lines for plan in plans)
    skewed = _steps(section, pipeline, stages, order, held, machine, rows)
    count = len(section.steps.numbers(here))
    costs = followed_costs(pipeline, schedule.plans, plans, skewed, machine, here, count, asked.threads)
    telling = schedule.telling if costs is None else telling_of_following(schedule.telling, costs)
    team = team_cost(machine, paces(pipeline, plans, machine, here, Home.of(pipeline, machine, here)))
    level = replace(schedule, plans=plans, team=team, telling=telling)
    return replace(section, level=level, together=skewed)


def _has_same_loops(plan: Plan, other: LoopPlan, given: str | None) -> bool:
    """Whether a stage has the loops that somebody gave it, if that is so, in the other plan, too."""
    if says_any(other, other.group.stages[-1], given):
        return True
    return isinstance(plan, LoopPlan) and [*loop_atoms(plan)] == [*loop_atoms(other)]


def _order(section: StepSection[Any], schedule: Schedule, held: Held) -> Skews | None:
    """The order of steps whose stages run by such plans; None where these or the storage allow none."""
    if section.steps is None or schedule.others or schedule.kept or schedule.folds:
        return None
    stages = _stages(schedule)
    if not all(map(_is_by_rows, stages, schedule.plans)):
        return None
    order = skews_of(section, schedule.grouping.pipeline, stages, held)
    if order is None:
        return None
    forms = (form for span in _spans(stages, order) for side in span for form in side)
    return None if any(section.steps.name in form.names() for form in forms) else order


def _stages(schedule: Schedule) -> list[Stage]:
    """The stage of each plan, of groups of one."""
    return [schedule.grouping.pipeline.stage(plan.group.stages[-1]) for plan in schedule.plans]


def _is_by_rows(stage: Stage, plan: Any) -> bool:
    """Whether parts of the rows of a stage may be computed by themselves, in any order."""
    return isinstance(plan, LoopPlan) and plan.kind == "map" and plan.parallel == stage.dims[0]


def _plans(
    schedule: Schedule, order: Skews, machine: Machine, sizes: Mapping[str, int]
) -> tuple[LoopPlan, ...]:
    """The loops of all stages over a few rows that are in a cache."""
    near = Home.of(schedule.grouping.pipeline, machine, sizes).level != MEMORY
    pairs = zip(_stages(schedule), schedule.plans, strict=True)
    return tuple(_plan(stage, plan, order, machine, near=near) for stage, plan in pairs)


def _plan(stage: Stage, plan: Any, order: Skews, machine: Machine, *, near: bool) -> LoopPlan:
    """The loops of a stage over a few rows that are in a cache; near: so are all of its arrays, in some."""
    alone = replace(plan, parallel=None, ahead=0, streamed=0, lanes=1)
    found = in_rows(stage, alone, machine, stage.dims[0])
    within = stage.dims[1 : len(order.along)]
    if found.unroll > 1 and stage.dtype.kind == "f" and _reads_around(stage):
        planes = _planes_together(stage, plan, within, machine) if near else ROWS_TOGETHER
        lanes, lines = machine.lanes(stage.dtype.size), ROWS_TOGETHER // planes
        found = replace(found, unroll=planes, lines=lines, lanes=lanes)
    return replace(found, parallel=plan.parallel, within=within)


def _planes_together(stage: Stage, plan: LoopPlan, within: Sequence[str], machine: Machine) -> int:
    """How many of the rows that run together lie along the first dimension; the others, along the second.

    Two by two share more than four planes do, and have fewer addresses.  But vectors beside them are loaded,
    and a machine that shifts by one instruction gains more by that; and where arrays come from memory
    two lines of a plane were slower, perhaps as two streams in one page.
    """
    both = len(within) == 1 and plan.order[1:2] == within and shares_rows(stage, within[0])
    return PLANES_TOGETHER if both and machine.vector_bits < SHIFTED_BITS else ROWS_TOGETHER


def _reads_around(stage: Stage) -> bool:
    """Whether a row is read at so many places that vectors of it are better shifted than loaded."""
    rows: dict[object, set[int]] = {}
    for load in stage.loads():
        if load.indices:
            key = (load.source.name, load.indices[:-1], load.indices[-1] - load.indices[-1].const)
            rows.setdefault(key, set()).add(load.indices[-1].const)
    return any(len(places) >= SHIFTED_PLACES for places in rows.values())


def _spans(stages: Sequence[Stage], order: Skews) -> Iterator[tuple[tuple[Affine, ...], tuple[Affine, ...]]]:
    return (ends(stage.box[level] for stage in stages) for level in range(len(order.along)))


def _arrays(
    section: StepSection[Any], pipeline: Pipeline, held: Held, once: Collection[str]
) -> Iterator[tuple[int, tuple[Affine, ...]]]:
    """The arrays whose rows steps go over: of each the bytes of an element of all planes, and its extents.

    once: those that are going to have one plane.
    """
    written = set()
    for name, view in zip(pipeline.outputs, section.outputs, strict=True):
        stage, planes = pipeline.stage(name), held[view.array].planes
        written.add(view.array)
        several = planes.const if planes.is_constant and name not in once else 1
        yield stage.dtype.size * several, stage.extents
    rank = max(len(stage.dims) for stage in pipeline.stages)
    for array, view in zip(pipeline.inputs, section.inputs, strict=True):
        if view.array not in written and len(array.extents) == rank:
            yield array.dtype.size, array.extents
