"""Tiles for every level of memory: the sizes that the reuse equation of a group has at each cache.

Algorithm 3 of the PolyMage matrix thesis (section 4.3) solves it for the first level.  A tile for a farther
one computes less in its margins and cuts rows into fewer pieces, and moves more between the nearer levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, prod

from polymat.graph.aligned import grid
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Cache, Machine
from polymat.model.associativity import CacheShape, stays_resident
from polymat.model.extents import stage_extents
from polymat.model.loopnest import LoopNest
from polymat.model.select import choose_tiles_levels
from polymat.plan.tile import TilePlan
from polymat.tilesize.register import ROWS_REDUCED
from polymat.tilesize.tileshape import INNER_TILE, KEPT_SHARE

LEAST_ROW = 128  # elements of a row in a tile: shorter ones are mostly the ends of vectors
LEAST_TILES = 4  # a thread, so that none waits long for the last of another


def plans_by_level(
    pipeline: Pipeline,
    plan: TilePlan,
    nest: LoopNest,
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int = 1,
) -> tuple[TilePlan, ...]:
    """The plan with the tile sizes of every cache, nearest first, but those that it has already.

    nest: of the group, at the estimates.  Dimensions without a loop over tiles are in every tile whole.  Left
    out are tiles of short rows, too few tiles to share out, and scratchpads that evict each other.  A loop
    over the rows of all stages is left out too: it is written for rows of its own.
    """
    inner = _contiguous(plan)
    found: dict[tuple[int, ...], TilePlan] = {}
    levels = choose_tiles_levels(
        nest, machine, inner=inner, inner_tile=INNER_TILE, threads=threads, fill=KEPT_SHARE, tiled=plan.dims
    )
    for tiles, cache in zip(levels, machine.caches, strict=False):
        sizes = tuple(
            max(unit, tiles.by_dim.get(dim, 1) // unit * unit)
            for dim, unit in ((dim, _unit(plan, level)) for level, dim in enumerate(plan.dims))
        )
        reason = f"{plan.reason}; {tiles.explain()}"
        sized = replace(plan, sizes=sizes, solved=tiles, reason=reason, row_loop=None)
        if sizes == plan.sizes or not _stays(_pads(pipeline, sized, estimates), cache):
            continue
        if _has_rows(sized, inner, nest) and _tiles(sized, nest) >= LEAST_TILES * threads:
            found.setdefault(sizes, sized)
    return tuple(found.values())


def overflows(pipeline: Pipeline, plan: TilePlan, machine: Machine, estimates: Mapping[str, int]) -> bool:
    """Whether the scratchpads of a tile do not fit in the second-level cache."""
    return sum(_pads(pipeline, plan, estimates).values()) > machine.l2_bytes


def _contiguous(plan: TilePlan) -> str | None:
    """The tiled dimension along which rows of arrays run; the last of several."""
    rows = {(stage, loops.vector) for stage, loops in plan.loops.items() if len(loops.order) > 1}
    along = [
        dim
        for level, dim in enumerate(plan.dims)
        if any((member.stage, member.dims[level]) in rows for member in plan.members)
    ]
    return along[-1] if along else None


def _unit(plan: TilePlan, level: int) -> int:
    """What a tile size is a multiple of: a point of every stage, and the rows of a block of sums."""
    blocks = any(
        (loops := plan.loops[member.stage]).jammed > 1 and member.dims[level] == loops.order[0]
        for member in plan.members
    )
    return grid(plan.members, level) * (ROWS_REDUCED if blocks else 1)


def _has_rows(plan: TilePlan, inner: str | None, nest: LoopNest) -> bool:
    size = dict(zip(plan.dims, plan.sizes, strict=True)).get(inner or "")
    return size is None or size >= min(LEAST_ROW, nest.extents.get(inner or "", size))


def _tiles(plan: TilePlan, nest: LoopNest) -> int:
    """How many tiles there are."""
    extents = nest.extents
    return prod(ceil(extents.get(dim, 1) / size) for dim, size in zip(plan.dims, plan.sizes, strict=True))


def _stays(pads: Mapping[str, float], cache: Cache) -> bool:
    """Whether scratchpads, each in one piece, leave each other room in the sets of a cache."""
    return stays_resident(pads, CacheShape(cache.sets, cache.ways, cache.line_bytes))


def _pads(pipeline: Pipeline, plan: TilePlan, estimates: Mapping[str, int]) -> dict[str, float]:
    """Bytes of the scratchpad of every stage that has one."""
    pads: dict[str, float] = {}
    for member in plan.members:
        if not member.scratch:
            continue
        stage = pipeline.stage(member.stage)
        size = float(stage.dtype.size)
        for dim, length in zip(stage.dims, stage_extents(stage, estimates), strict=True):
            size *= plan.pad_extent(member, member.dims.index(dim)) if dim in member.dims else length
        pads[member.stage] = size
    return pads
