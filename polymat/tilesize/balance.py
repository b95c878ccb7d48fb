"""What threads lose that share a few pieces: two of them compute three planes in the time of four."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from polymat.graph.stage import Stage
from polymat.tilesize.plain import FEW
from polymat.tilesize.schedule import LoopPlan, Plan, TilePlan
from polymat.tilesize.shortloops import loop_lengths


def pieces(
    plan: Plan, stages: Mapping[str, Stage], repeats: Sequence[float], estimates: Mapping[str, int]
) -> float | None:
    """How many pieces of a dimension of few points threads may share; None for a longer one.

    Of a longer one there are enough, unless the user wants large tiles.  repeats: how many tiles there are.
    """
    if isinstance(plan, TilePlan):
        lengths = [
            member.scale(0) * loop_lengths(stages[member.stage], estimates).get(dim, 1.0)
            for member in plan.members
            if (dim := member.dims[0]) is not None
        ]
        return max(1.0, ceil(repeats[0])) if max(lengths, default=FEW) < FEW else None
    if not isinstance(plan, LoopPlan) or plan.parallel is None:
        return None
    length = loop_lengths(stages[plan.group.stages[-1]], estimates).get(plan.parallel, 1.0)
    return max(1.0, length) if length < FEW else None


def waiting(found: float | None, threads: int) -> float:
    """How many times as long the busiest thread takes as all would that had the same to do."""
    return 1.0 if found is None else ceil(found / threads) * threads / found
