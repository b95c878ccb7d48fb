"""Which results are written past the caches: asked of each plan when candidates are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import computed_in
from polymat.machine.model import Machine
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import TilePlan
from polymat.product.ways import Way
from polymat.tilesize.kernelplanner import blocking_of, described
from polymat.tilesize.traffic import array_bytes

LEAST_LEVELS = 4  # times the last-level cache that a core can count on: others of its lines may be free


def past_caches(pipeline: Pipeline, stage: Stage, plan: LoopPlan, machine: Machine) -> LoopPlan:
    """The loops of a stage by itself, its result past the caches where it is too large to stay in one.

    Of results that nobody in the call reads again, written along their rows.  Look-ups are left to their own
    ways, beside which the lines of a result are little.
    """
    if any(computed_in(load.indices) for load in stage.loads()):
        return plan
    if plan.kind != "map" or plan.lanes == 1 or not stage.dims or plan.vector != stage.dims[-1]:
        return plan
    if _is_small(stage, machine) or _is_read(pipeline, stage):
        return plan
    return replace(plan, streamed=_limit(machine), reason=_reason(plan.reason, machine))


def tiles_past_caches(pipeline: Pipeline, plan: TilePlan, machine: Machine) -> TilePlan:
    """Tiles with their results past the caches, as of stages by themselves; not of those that roll.

    Rolling tiles ask for the lines that they write next, so that these are in a cache by then.
    """
    past = dict(plan.loops)
    for member in plan.members:
        loops, stage = plan.loops[member.stage], pipeline.stage(member.stage)
        whole = not (plan.rolling or member.scratch or member.copied or member.private)
        if whole and isinstance(loops, LoopPlan):
            past[member.stage] = past_caches(pipeline, stage, loops, machine)
    if all(past[name] is loops for name, loops in plan.loops.items()):
        return plan
    return replace(plan, loops=past, reason=_reason(plan.reason, machine))


def product_past_caches(
    pipeline: Pipeline, stage: Stage, plan: KernelPlan, machine: Machine, estimates: Mapping[str, int]
) -> KernelPlan:
    """A product by register blocks, its result past the caches where it is too large to stay in one.

    Of a result that nobody in the call reads again, one product without a triangle, and only where the
    vectors are lines of cache.
    """
    is_plain = plan.contraction.triangle is None and not plan.contraction.more
    is_whole = is_plain and plan.blocks.vector_bytes == machine.line_bytes
    if not is_whole or _is_small(stage, machine) or _is_read(pipeline, stage):
        return plan
    past = described(replace(plan, streamed=_limit(machine)), estimates)
    if blocking_of(past, estimates).way in (Way.FEW_ROWS, Way.FEW_COLUMNS):
        return past  # the large operand is waited for, not the result
    return replace(past, reason=_reason(past.reason, machine))


def _is_small(stage: Stage, machine: Machine) -> bool:
    """Whether the extents of a result, all known, keep it from ever being too large for the caches."""
    known = all(form.is_constant for bounds in stage.box for form in bounds)
    return known and array_bytes(stage, {}) <= _limit(machine)


def _is_read(pipeline: Pipeline, stage: Stage) -> bool:
    return any(load.source.name == stage.name for other in pipeline.stages for load in other.loads())


def _limit(machine: Machine) -> int:
    return LEAST_LEVELS * machine.l3_bytes


def _reason(reason: str, machine: Machine) -> str:
    return f"{reason}; a result of more than {_limit(machine) / 1e6:.2g} MB is written past the caches"
