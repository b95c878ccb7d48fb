"""Which steps run point by point (`polymat.graph.lonepoints`), and what they are predicted to take.

They compute what steps one after the other do, without their passes over memory and their parallel regions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from polymat.decide.followprices import FollowedCosts, telling_of_following
from polymat.decide.opensteps import open_schedule
from polymat.decide.usualplans import Usual, is_usual
from polymat.graph.lonepoints import point_steps
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.model.team import sharing_seconds
from polymat.plan.schedule import Schedule
from polymat.tilesize.cost import PlanCost, plan_cost
from polymat.tilesize.home import Home


def with_lone_points(
    stepwise: Stepwise[Schedule],
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    *,
    given: Mapping[str, str] = MappingProxyType({}),
    usual: Usual = lambda *_: (),
) -> Stepwise[Schedule]:
    """Let points take all steps before others do where they need no others.

    given: schemes of stages by the user.  usual: the plans of a group where there are none: steps run in the
    loops of schemes where the first of these has others.

    before:  for each step: all points
    after:   for each block of points: all steps
    """
    sizes = assumed_sizes(stepwise.whole, estimates)
    return stepwise.with_sections(
        lambda section: _pointwise(section, stepwise, machine, sizes, threads, given, usual)
    )


def _pointwise(
    section: StepSection[Schedule],
    stepwise: Stepwise[Schedule],
    machine: Machine,
    sizes: Mapping[str, int],
    threads: int,
    given: Mapping[str, str],
    usual: Usual,
) -> StepSection[Schedule]:
    schedule = open_schedule(section)
    if schedule is None or section.steps is None:
        return section
    pipeline = schedule.grouping.pipeline
    if not all(is_usual(pipeline, plan.group.stages, given, usual) for plan in schedule.plans):
        return section
    found = point_steps(section, pipeline, stepwise)
    if found is None:
        return section
    count = max(len(section.steps.numbers({**sizes, section.steps.name: 0})), 1)
    costs = _costs(schedule, machine, {**sizes, section.steps.name: 0}, count, threads)
    telling = telling_of_following(schedule.telling, FollowedCosts(count, costs))
    return replace(section, level=replace(schedule, telling=telling), together=found)


def _costs(
    schedule: Schedule, machine: Machine, sizes: Mapping[str, int], count: int, threads: int
) -> tuple[PlanCost, ...]:
    """Of a step, a plan each: its arithmetic, and a share of one pass over memory and one region."""
    pipeline = schedule.grouping.pipeline
    home = Home.of(pipeline, machine, sizes)
    alone = [plan_cost(pipeline, plan, machine, sizes, 1, home) for plan in schedule.plans]
    whole = sum(cost.seconds for cost in alone) * count
    shared = threads > 1 and whole * (threads - 1) >= sharing_seconds(machine) * threads
    team = threads if shared else 1
    entering = sharing_seconds(machine) / count / len(alone) if shared else 0.0
    return tuple(
        PlanCost(
            computing=cost.computing / team,
            moving=cost.moving / count / team,
            entering=entering,
            bytes=cost.bytes / count,
            level=cost.level,
        )
        for cost in alone
    )
