"""What the models say of the plan of a group, for `explain()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isqrt

from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.model.loopnest import LoopNest
from polymat.model.movement import Traffic, movement
from polymat.model.workingset import TILE, HeldReuse, held_reuses, tile_nest
from polymat.plan.loops import LoopPlan
from polymat.plan.registerblocks import kernel_of, scheme_of
from polymat.plan.schedule import Decision
from polymat.plan.tile import Plan, TilePlan
from polymat.product.schememovement import scheme_movement
from polymat.tilesize.kernelplanner import blocking_of
from polymat.tilesize.paperplan import stage_scores


def decision(
    plan: Plan,
    nest: LoopNest,
    stages: Sequence[Stage],
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    *,
    terms: str,
    seconds: float,
) -> Decision:
    """The decision for a plan whose stages form this nest: its price, and what the models say of it."""
    scores = {stage.name: stage_scores(stage, estimates) for stage in stages}
    scheme = scheme_of(plan)
    if scheme is not None and {*scheme.contraction.bounds} == {*nest.names}:
        moved = scheme_movement(nest, scheme.contraction, scheme.atoms, machine, threads=threads)
        return Decision(terms, seconds, moved, scores)
    order: Sequence[str] | Sequence[Sequence[str]] = _order(plan, nest)
    tiles: Sequence[Mapping[str, int]] = [plan.tile_sizes] if plan.tile_sizes else []
    if plan.by_blocks:
        tiles = [_blocks(nest, stages, machine)]
    kernel = kernel_of(plan)
    if kernel is not None and not kernel.pairs and {*kernel.contraction.bounds} == {*nest.names}:
        way = blocking_of(kernel, estimates)
        (order, tiles), nest = way.bands(nest.extents), way.packed(nest)
    used = threads if plan.is_shared else 1
    moved = movement(nest, order, tiles, machine, threads=used, scratch=plan.scratch)
    if kernel is not None and len(nest.statements) > 1:
        parts = [replace(nest, statements=(each,)) for each in nest.statements]
        apart = [movement(part, order, tiles, machine, threads=used).traffic[0] for part in parts]
        moved = replace(moved, traffic=(_sum(apart), *moved.traffic[1:]))
    return Decision(terms, seconds, moved, scores, _reuses(plan, nest, machine, used))


def _order(plan: Plan, nest: LoopNest) -> tuple[str, ...]:
    """The loops of a nest as a plan runs them, outermost first."""
    if isinstance(plan, TilePlan):
        dims = [dim for dim in plan.dims if dim in nest.names]
        return (*dims, *(dim for dim in nest.names if dim not in dims))
    return plan.order if sorted(plan.order) == sorted(nest.names) else nest.names


def _reuses(plan: Plan, nest: LoopNest, machine: Machine, threads: int) -> tuple[HeldReuse, ...]:
    """The working sets of loops and tiles as they run; scratchpads are used again within a tile alone."""
    if not isinstance(plan, TilePlan | LoopPlan):
        return ()
    order, whole = _order(plan, nest), tile_nest(nest, plan.tile_sizes) if plan.tile_sizes else nest
    outside = [f"{dim}{TILE}" for dim in order if f"{dim}{TILE}" in whole.names]
    shared = [name for name in (f"{plan.parallel}{TILE}", plan.parallel) if name in whole.names][:1]
    found = held_reuses(
        whole, machine, (*outside, *order), parallel=shared if threads > 1 else (), threads=threads
    )
    return tuple(each for each in found if each.array not in plan.scratch or each.loop not in outside)


def _sum(parts: Sequence[Traffic]) -> Traffic:
    """What statements move that take turns in the registers, as an epilogue does with its product."""
    volumes: dict[str, float] = {}
    for array, volume in (item for part in parts for item in part.volumes):
        volumes[array] = volumes.get(array, 0.0) + volume
    total, seconds = sum(part.bytes for part in parts), sum(part.seconds for part in parts)
    return Traffic(parts[0].level, tuple(volumes.items()), total, seconds)


def _blocks(nest: LoopNest, stages: Sequence[Stage], machine: Machine) -> dict[str, int]:
    """What libraries work on: blocks of operands that fill half of the second level."""
    item = max(stage.dtype.size for stage in stages)
    return dict.fromkeys(nest.names, max(1, isqrt(machine.l2_bytes // (6 * item))))
