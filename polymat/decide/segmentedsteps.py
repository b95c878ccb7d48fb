"""Which steps of one dimension go in segments (`polymat.graph.linesegments`), several in one pass.

That pays where arithmetic takes less than what a step by itself does beside it: it shifts vectors for what a
point reads beside itself, loads what the step before has just stored, and stores it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from polymat.decide.opensteps import StepsAsked
from polymat.graph.linesegments import computed, places, reads, segments_of, windows
from polymat.graph.operations import expression_operations
from polymat.graph.pipeline import Pipeline
from polymat.graph.segmented import LineSegments, SegmentedSteps
from polymat.graph.stage import Stage, loads_of
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.machine.model import Machine
from polymat.plan.schedule import Schedule
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home

STEPS = (2, 1)  # of a pass, the most that there are registers for
SPARE_REGISTERS = 4  # for constants, and what a sum is made of
LEAST_LANES = 4
LEAST_ROWS = 3  # times as many as a pass computes beside those of a segment
FEWEST_STEPS = 32  # what it takes to lay arrays out in segments, and back, is spread over these
ROOM_SHARE = 0.75  # of the second-level cache, for all arrays in segments
CLEARLY = 0.9  # of the time of steps one by one: predictions err by more than the rest


def with_segmented_steps(stepwise: Stepwise[Schedule], asked: StepsAsked) -> Stepwise[Schedule]:
    """Let several steps of one dimension go in one pass, where that is predicted to be quicker.

    before:  for each step: all of B, vector by vector, then all of A
    after:   for each two steps: in one loop a vector of B and of A, and of both again, of points far apart
    """
    return stepwise.with_sections(lambda section: _segmented(section, stepwise, asked))


def _segmented(
    section: StepSection[Any], stepwise: Stepwise[Schedule], asked: StepsAsked
) -> StepSection[Any]:
    schedule = asked.open_usual(section)
    if schedule is None or section.steps is None:
        return section
    pipeline, machine = schedule.grouping.pipeline, asked.machine
    stages = [pipeline.stage(name) for plan in schedule.plans for name in plan.group.stages]
    segments = segments_of(section, pipeline, stages, {each.name: each for each in stepwise.held})
    taken = None if segments is None else segmented_steps(segments, stages, machine)
    if taken is None:
        return section
    here = asked.sizes(section, stepwise)
    count = len(section.steps.numbers(here))
    alone = _alone(pipeline, schedule, machine, here, asked.threads)
    if count < FEWEST_STEPS or _seconds(taken, pipeline, schedule, machine, here, count) > CLEARLY * alone:
        return section
    return replace(section, together=taken)


def segmented_steps(
    segments: LineSegments, stages: Sequence[Stage], machine: Machine
) -> SegmentedSteps | None:
    """As many steps in one pass as there are registers for, if there are any."""
    dtype, named = stages[0].dtype, {stage.name: stage for stage in stages}
    lanes = machine.lanes(dtype.size)
    if lanes < LEAST_LANES or dtype.kind != "f":
        return None
    for steps in STEPS:
        deepest = windows(segments, named, steps)
        if sum(deepest.values()) + SPARE_REGISTERS <= machine.vector_registers:
            before = dict(segments.before)
            apart = [abs(far) for stage in stages for _, _, far in reads(stage, before, named)]
            return SegmentedSteps(
                segments,
                lanes,
                steps,
                places(segments, named, steps),
                reach=max(apart, default=0),
                least=LEAST_ROWS,
                fewest=FEWEST_STEPS,
                room=int(ROOM_SHARE * machine.l2_bytes),
            )
    return None


def _alone(
    pipeline: Pipeline, schedule: Schedule, machine: Machine, sizes: Mapping[str, int], threads: int
) -> float:
    """Seconds of a step by itself."""
    home = Home.of(pipeline, machine, sizes)
    return sum(plan_cost(pipeline, plan, machine, sizes, threads, home).seconds for plan in schedule.plans)


def _seconds(
    taken: SegmentedSteps,
    pipeline: Pipeline,
    schedule: Schedule,
    machine: Machine,
    sizes: Mapping[str, int],
    count: int,
) -> float:
    """Seconds of a step in segments: arithmetic alone, what a pass loads and stores, and a part of the rest.

    That is to lay arrays out in segments, and back, element by element.
    """
    home, before = Home.of(pipeline, machine, sizes), dict(taken.segments.before)
    computing = moving = operations = arithmetic = 0.0
    for plan in schedule.plans:
        cost = plan_cost(pipeline, plan, machine, sizes, 1, home)
        computing += cost.computing
        moving += cost.moving
        for name in plan.group.stages:
            stage = pipeline.stage(name)
            part = computed(stage, before)
            arithmetic += expression_operations(part.expr)
            operations += 1 + expression_operations(part.expr) + len({*loads_of(part)})
    passed = 2 * len(taken.segments.kept) / taken.steps
    extent: int = max(taken.segments.extent.evaluate(sizes), 1)
    rows = -(-extent // taken.lanes)
    beside = (rows + taken.beside) / rows
    laid = (len(taken.segments.stages) + len(taken.segments.kept)) * extent / machine.hertz / count
    return computing * (arithmetic + passed) / operations * beside + moving * passed / operations + laid
