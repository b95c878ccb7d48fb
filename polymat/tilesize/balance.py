"""What threads lose that share a few pieces: two of them compute three planes in the time of four."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod

from polymat.graph.stage import Stage
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.plain import FEW
from polymat.tilesize.shortloops import loop_lengths
from polymat.tilesize.tilesforthreads import IDLE_ROUNDS


def pieces(
    plan: Plan, stages: Mapping[str, Stage], repeats: Sequence[float], estimates: Mapping[str, int]
) -> float | None:
    """How many pieces threads may share: tiles, or points of a dimension of few; None for a longer one.

    Of large tiles that the user wants there may be one.  repeats: how many there are along each dimension.
    """
    match plan:
        case TilePlan():
            counts = [max(1, ceil(count)) for count in repeats]
            shared = prod(counts) if plan.is_numbered else counts[0]
            return None if plan.forced else shared
        case LoopPlan(parallel=str(dim)):
            length = loop_lengths(stages[plan.group.stages[-1]], estimates).get(dim, 1.0)
            return max(1.0, length) if length < FEW else None
        case _:
            return None


def waiting(found: float | None, threads: int) -> float:
    """How many times as long the busiest thread takes as all would that had the same to do."""
    if found is None or found >= IDLE_ROUNDS * threads:
        return 1.0
    return ceil(found / threads) * threads / found
