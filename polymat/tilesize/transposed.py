"""Tiles for a stage that walks an array across its rows, a transposition say.

Along the innermost loop each element of such an array lies in another line, which is needed again at the next
points of another loop: a tile as long as a line along that loop and as wide as lines stay in the first-level
cache uses every line whole.  How many stay depends on how far the rows are apart: where that is a multiple of
the bytes of one way, all of them compete for one set (`associativity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from polymat.graph.aligned import Member
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.machine.model import Machine
from polymat.model.associativity import CacheShape, rows_that_stay
from polymat.model.extents import extent
from polymat.model.select import INNER_TILE
from polymat.plan.tile import MOST_TILED, TilePlan
from polymat.plan.tileloops import Crossing
from polymat.tilesize.planner import plan_tiles


def plan_transposed(
    pipeline: Pipeline, group: Group, stage: Stage, machine: Machine, estimates: Mapping[str, int]
) -> TilePlan | None:
    """The stage in tiles of whole lines; None where it reads no array across its rows, or little in all."""
    if stage.is_reduction or stage.reads_itself or len(stage.dims) < 2 or not stage.domain.is_box():
        return None
    loads = [found for load in stage.loads() if (found := _across(stage, load)) is not None]
    if not loads or _fits(stage, machine):
        return None
    first = min(stage.dims.index(dim) for dim, _ in loads)
    dims = stage.dims[first:]
    if len(dims) > MOST_TILED:
        return None
    line = max(2, machine.line_bytes // max(load.dtype.size for _, load in loads))
    crossing = Crossing(
        CacheShape.of(machine.l1_bytes, machine.l1_ways, machine.line_bytes),
        INNER_TILE,
        tuple(dict.fromkeys(_apart(pipeline, stage, load) for _, load in loads)),
    )
    along = {dim for dim, _ in loads}
    sizes = (*(line if dim in along else 1 for dim in dims[:-1]), _width(crossing, estimates))
    member = Member(stage.name, dims, ((0, 0),) * len(dims))
    plan = plan_tiles(pipeline, group, dims, [member], machine, estimates, sizes, roll=False)
    names = ", ".join(dict.fromkeys(load.source.name for _, load in loads))
    reason = (
        f"{names} is read across its rows: tiles use whole lines, and are as wide along {dims[-1]} "
        f"as lines of rows that far apart stay in the cache, up to {INNER_TILE}"
    )
    return replace(plan, reason=reason, crossing=crossing)


def _across(stage: Stage, load: Load) -> tuple[str, Load] | None:
    """The outer loop along which a load is contiguous, if the innermost one goes to other rows."""
    inner = stage.dims[-1]
    if not load.indices or inner in load.indices[-1].names():
        return None
    if not any(form.coefficient(inner) for form in load.indices[:-1]):
        return None
    along = [dim for dim in stage.dims[:-1] if load.indices[-1].coefficient(dim) in (1, -1)]
    return (along[0], load) if len(along) == 1 else None


def _fits(stage: Stage, machine: Machine) -> bool:
    """Whether the extents are known, and so small that lines stay in the cache anyway."""
    extents = [high - low + 1 for low, high in stage.box]
    known = all(form.is_constant for form in extents)
    return known and prod(form.const for form in extents) * stage.dtype.size <= machine.l1_bytes // 2


def _apart(pipeline: Pipeline, stage: Stage, load: Load) -> tuple[int, tuple[Affine, ...]]:
    """The distance in bytes of what a load reads at neighbours of the innermost loop, as factors."""
    inner = stage.dims[-1]
    position = next(k for k, form in enumerate(load.indices) if form.coefficient(inner))
    factor = abs(load.indices[position].coefficient(inner)) * load.dtype.size
    return factor, pipeline.extents[load.source.name][position + 1 :]


def _width(crossing: Crossing, estimates: Mapping[str, int]) -> int:
    """The width at the estimates."""
    widths = [
        rows_that_stay(int(factor * prod(extent(form, estimates) for form in forms)), crossing.cache)
        for factor, forms in crossing.apart
    ]
    return min(crossing.most, *widths)
