"""Which steps run point by point (`polymat.graph.lonepoints`), and what they are predicted to take.

They compute what steps one after the other do, without their passes over memory and their parallel regions,
and copy the states of a block into arrays of the first level and back for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.decide.followedcosts import FollowedCosts
from polymat.decide.followprices import point_costs, telling_of_following
from polymat.decide.opensteps import StepsAsked
from polymat.graph.lonepoints import point_steps
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.machine.model import Machine
from polymat.model.stepcalls import STEP_SECONDS
from polymat.plan.schedule import Schedule
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home


def with_lone_points(stepwise: Stepwise[Schedule], asked: StepsAsked) -> Stepwise[Schedule]:
    """Let points take all steps before others do where they need no others and that is predicted quicker.

    before:  for each step: all points
    after:   for each block of points: all steps
    """
    return stepwise.with_sections(lambda section: _pointwise(section, stepwise, asked))


def _pointwise(
    section: StepSection[Schedule], stepwise: Stepwise[Schedule], asked: StepsAsked
) -> StepSection[Schedule]:
    schedule = asked.open_usual(section)
    if schedule is None or section.steps is None:
        return section
    found = point_steps(section, schedule.grouping.pipeline, stepwise)
    if found is None:
        return section
    here = asked.sizes(section, stepwise)
    count = max(len(section.steps.numbers(here)), 1)
    costs = point_costs(schedule, asked.machine, here, count, asked.threads)
    together = FollowedCosts(count, costs)
    if together.seconds >= _one_by_one(schedule, asked.machine, here, asked.threads):
        return section
    telling = telling_of_following(schedule.telling, together)
    return replace(section, level=replace(schedule, telling=telling), together=found)


def seconds_by_points(
    schedule: Schedule, machine: Machine, sizes: Mapping[str, int], count: int, threads: int
) -> float:
    """Predicted seconds of so many steps that points take by themselves."""
    return count * sum(cost.seconds for cost in point_costs(schedule, machine, sizes, count, threads))


def _one_by_one(schedule: Schedule, machine: Machine, sizes: Mapping[str, int], threads: int) -> float:
    """Predicted seconds of a step by itself."""
    pipeline = schedule.grouping.pipeline
    home = Home.of(pipeline, machine, sizes)
    costs = (plan_cost(pipeline, plan, machine, sizes, threads, home) for plan in schedule.plans)
    return STEP_SECONDS + sum(cost.seconds for cost in costs)
