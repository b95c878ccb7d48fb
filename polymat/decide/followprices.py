"""What steps that follow each other are predicted to take, stage by stage.

Their arithmetic is that of single steps, and rows side by side share what they load.  Rows move from and to
the second-level cache at each step, and from and to where the arrays live once a round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from polymat.decide.followedcosts import NEAR, FollowedCosts
from polymat.graph.operations import expression_operations
from polymat.graph.pipeline import Pipeline
from polymat.graph.pointsteps import PointSteps
from polymat.graph.skewed import SkewedSteps
from polymat.graph.stage import Stage
from polymat.graph.stepwise import Together
from polymat.lang.expr import Load
from polymat.lang.traverse import loads_in
from polymat.machine.model import Machine
from polymat.model.team import sharing_seconds
from polymat.plan.followingsteps import asked, following
from polymat.plan.loops import LoopPlan
from polymat.plan.schedule import Decision, Schedule
from polymat.plan.tile import Plan
from polymat.tilesize.cost import PlanCost, plan_cost
from polymat.tilesize.home import Home

COPIES = 2  # of what a point has: into the arrays of its block before its steps, and out of them behind


def followed_costs(
    pipeline: Pipeline,
    plans: Sequence[Plan],
    by_rows: Sequence[LoopPlan],
    skewed: SkewedSteps,
    machine: Machine,
    sizes: Mapping[str, int],
    count: int,
    threads: int,
) -> FollowedCosts | None:
    """The cost of a step of `count`, a stage each; None where the steps do not follow each other.

    On one thread or several, whichever is predicted to be quicker.  plans: of steps one by one.  by_rows: of
    a few rows of each stage.
    """
    values = asked(skewed, sizes, count, threads)
    decided, home = following(skewed), Home.of(pipeline, machine, sizes)
    if not decided.follow.holds({**values}):
        return None
    alone = [
        _by_rows(
            plan_cost(pipeline, plan, machine, sizes, 1, home), pipeline.stage(rows.group.stages[-1]), rows
        )
        for plan, rows in zip(plans, by_rows, strict=True)
    ]
    found = []
    for team in sorted({1, int(decided.crew.at({**values}))}):
        taken = decided.taken
        steps, rounds, fronts, sides = (
            each.at({**values, "team": float(team)})
            for each in (taken.steps, taken.rounds, taken.fronts, taken.sides)
        )
        waiting = 1 + (team - 1) / rounds
        meetings = fronts * sides * rounds / team if team > 1 else 0.0
        entering = meetings * machine.region_seconds / count / len(alone)
        costs = tuple(_followed(cost, machine, steps, team, waiting, entering) for cost in alone)
        found.append(FollowedCosts(int(steps), costs))
    return min(found, key=lambda each: each.seconds)


def _by_rows(cost: PlanCost, stage: Stage, rows: LoopPlan) -> PlanCost:
    """The cost of a stage in rows side by side, which share loads: these are counted beside arithmetic."""
    part = max(stage.parts, key=lambda each: expression_operations(each.expr))
    arithmetic = 1 + expression_operations(part.expr)
    loads = loads_in(part.expr)
    each = arithmetic + _loaded(stage, loads, 1, 1, shifted=False)
    loaded = _loaded(stage, loads, rows.unroll, rows.lines, shifted=rows.lanes > 1 and rows.lines == 1)
    shared = arithmetic + loaded / (rows.unroll * rows.lines)
    return replace(cost, computing=cost.computing * shared / each)


def _loaded(stage: Stage, loads: Sequence[Load], rows: int, lines: int, *, shifted: bool) -> int:
    """The vectors that a point of so many rows needs; shifted: those of a row that are neighbours are one.

    lines: how many along the second dimension there are of each row.
    """
    found = set()
    for load, *numbers in product(loads, range(rows), range(lines)):
        moves = [*zip(stage.dims, numbers, strict=False)]
        forms = [form + sum(n * form.coefficient(dim) for dim, n in moves) for form in load.indices]
        last = forms[-1] - forms[-1].const if forms and shifted else forms[-1] if forms else None
        found.add((load.source.name, *forms[:-1], last))
    return len(found)


def _followed(
    alone: PlanCost, machine: Machine, steps: float, team: int, waiting: float, entering: float
) -> PlanCost:
    """The cost of a stage, of what it costs on one thread in steps one by one."""
    near = alone.bytes / machine.bandwidth(NEAR, team)
    far = alone.bytes / steps / machine.bandwidth(alone.level, team) if alone.level > NEAR else 0.0
    return PlanCost(
        computing=alone.computing / team * waiting,
        moving=(near + far) * waiting,
        entering=entering,
        bytes=alone.bytes / steps,
        level=alone.level,
    )


def point_costs(
    schedule: Schedule, machine: Machine, sizes: Mapping[str, int], count: int, threads: int
) -> tuple[PlanCost, ...]:
    """Of a step whose points take all by themselves, a plan each.

    Its arithmetic, and a share of one pass over memory, copies, and one region.
    """
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
            moving=(cost.moving + COPIES * cost.bytes / machine.bandwidth(1)) / count / team,
            entering=entering,
            bytes=cost.bytes / count,
            level=cost.level,
        )
        for cost in alone
    )


def costs_together(
    together: Together | None,
    schedule: Schedule,
    machine: Machine,
    sizes: Mapping[str, int],
    count: int,
    threads: int,
) -> FollowedCosts | None:
    """The cost of a step of `count`, a plan each, as several run together; None where they cost as alone."""
    if isinstance(together, SkewedSteps):
        rows = [plan for plan in schedule.plans if isinstance(plan, LoopPlan)]
        alone = [replace(plan, unroll=1, lines=1, lanes=1) for plan in rows]
        pipeline = schedule.grouping.pipeline
        return followed_costs(pipeline, alone, rows, together, machine, sizes, count, threads)
    if isinstance(together, PointSteps):
        return FollowedCosts(count, point_costs(schedule, machine, sizes, count, threads))
    return None


def telling_of_following(
    telling: Callable[[], tuple[Decision, ...]], found: FollowedCosts
) -> Callable[[], tuple[Decision, ...]]:
    """Tell of steps that follow each other, by what speaks for the plans of single ones."""

    def told() -> tuple[Decision, ...]:
        return tuple(_told(each, cost, found) for each, cost in zip(telling(), found.costs, strict=True))

    return told


def _told(decision: Decision, cost: PlanCost, found: FollowedCosts) -> Decision:
    terms = f"{cost.explain()}; {found.steps} steps in one pass"
    movement = found.movement(decision.movement)
    return replace(decision, terms=terms, seconds=cost.seconds, movement=movement)
