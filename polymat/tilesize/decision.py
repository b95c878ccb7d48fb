"""What the models say of the plan of a group, for `explain()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt

from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.tilesize.model import Nest
from polymat.tilesize.movement import movement
from polymat.tilesize.paperplan import stage_scores
from polymat.tilesize.schedule import Decision, LoopPlan, Plan, TilePlan


def decision(
    plan: Plan,
    nest: Nest,
    stages: Sequence[Stage],
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    *,
    terms: str,
    seconds: float,
) -> Decision:
    """What the models say of a plan whose stages form this nest."""
    scores = {stage.name: stage_scores(stage, estimates) for stage in stages}
    if isinstance(plan, TilePlan):
        dims = [dim for dim in plan.dims if dim in nest.names]
        order = (*dims, *(dim for dim in nest.names if dim not in dims))
        tiles = [dict(zip(plan.dims, plan.sizes, strict=True))]
        scratch = [member.stage for member in plan.members if member.scratch]
    else:
        order = plan.order if sorted(plan.order) == sorted(nest.names) else nest.names
        tiles, scratch = [] if isinstance(plan, LoopPlan) else [_blocks(nest, stages, machine)], []
    used = threads if plan_is_parallel(plan) else 1
    moved = movement(nest, order, tiles, machine, threads=used, scratch=scratch)
    return Decision(terms, seconds, moved, scores)


def _blocks(nest: Nest, stages: Sequence[Stage], machine: Machine) -> dict[str, int]:
    """What packed products and libraries work on: blocks of operands that fill half of the second level."""
    item = max(stage.dtype.size for stage in stages)
    return dict.fromkeys(nest.names, max(1, isqrt(machine.l2_bytes // (6 * item))))


def plan_is_parallel(plan: Plan) -> bool:
    """Whether threads share the work: tiles always, loops along their parallel dimension."""
    return isinstance(plan, TilePlan) or plan.parallel is not None
