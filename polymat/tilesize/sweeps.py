"""In which direction groups go over their tiles: back and forth over an array that several of them touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.plan.tile import Plan, TilePlan


def back_and_forth(
    pipeline: Pipeline, plans: Sequence[Plan], fixed: frozenset[str] = frozenset()
) -> tuple[Plan, ...]:
    """The plans, those of tiles backwards where the group before went forwards over the same array.

    What it touched last is then found in the cache; in the same direction it would just have been replaced.
    Tiles run in any order, but for those of rolling plans.  fixed: stages whose tiles stay as they are.
    """
    last: dict[str, bool] = {}
    found: list[Plan] = []
    for plan in plans:
        touched = _touched(pipeline, plan)
        known = [last[name] for name in touched if name in last]
        backwards = isinstance(plan, TilePlan) and plan.backwards
        is_fixed = not fixed.isdisjoint(plan.group.stages)
        if isinstance(plan, TilePlan) and not (plan.rolling or is_fixed) and known and not known[0]:
            backwards, plan = True, turned(plan)
        found.append(plan)
        last |= dict.fromkeys(touched, backwards)
    return tuple(found)


def turned(plan: TilePlan) -> TilePlan:
    """The plan with its tiles from the last to the first."""
    return replace(plan, backwards=True, reason=f"{plan.reason}; backwards over what is still cached")


def _touched(pipeline: Pipeline, plan: Plan) -> list[str]:
    """Arrays of two dimensions or more that a group reads or writes, in order, without its scratchpads."""
    scratch = {member.stage for member in plan.members if member.scratch}
    names: dict[str, None] = {}
    for stage in map(pipeline.stage, plan.group.stages):
        names |= {load.source.name: None for load in stage.loads() if len(load.indices) > 1}
        names |= {stage.name: None} if len(stage.dims) > 1 else {}
    return [name for name in names if name not in scratch]
