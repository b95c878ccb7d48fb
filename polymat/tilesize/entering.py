"""How often threads meet to compute a group, and what that costs beside what they compute.

before:  for each block of steps: what it adds to later rows is shared out
after:   as many regions as there are blocks
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.model.team import sharing_seconds
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan
from polymat.tilesize.shortloops import loop_lengths


def entering_seconds(
    plan: Plan, last: Stage, machine: Machine, estimates: Mapping[str, int], threads: int
) -> float:
    """The cost of threads that share a group: a region, or several, and waiting for each other inside.

    last: the stage that the group ends with.
    """
    lengths = loop_lengths(last, estimates)
    if isinstance(plan, LoopPlan) and plan.trailing is not None:
        steps, rows = (lengths.get(dim, 1.0) for dim in plan.order[:2])
        waits = steps * max(1.0, rows / plan.trailing.rows)
        return sharing_seconds(machine) + machine.region_seconds * waits / threads
    return sharing_seconds(machine) * _regions(plan, lengths)


def _regions(plan: Plan, lengths: Mapping[str, float]) -> float:
    """Parallel regions: one, or one for each turn of the loops around the one that threads share."""
    match plan:
        case EliminationPlan():
            steps = lengths.get(plan.elimination.dims[0], 1.0)
            return max(1.0, steps / plan.least) * (2.0 if plan.by_rows else 1.0)
        case LoopPlan(parallel=str(dim)) if plan.recurrence is not None and not plan.outwards:
            outer = plan.order[: plan.order.index(dim)] if dim in plan.order else ()
            return max(1.0, prod(lengths.get(each, 1.0) for each in outer))
        case _:
            return 1.0
