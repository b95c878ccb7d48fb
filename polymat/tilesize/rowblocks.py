"""Tiles of rows in which register blocks compute products, one after the other, with loops between them.

What a product of the group gives for some rows is read by the stages after it while it is in the second-level
cache, and never leaves that: softmax(Q K') V, two products in a row, layers of a network.  The operand that
all rows are multiplied by is packed once, before the first tile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from polymat.graph.aligned import Member
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.plan.kernel import KernelPlan
from polymat.plan.nest import NestPlan
from polymat.product.blocks import whole_units
from polymat.tilesize.tileshape import KEPT_SHARE, UnsizedTile

PANEL_SHARE = 0.5  # of the first-level cache that a packed panel takes: strips of the rows pass beside it
AT_ONCE = (8, 4, 2, 1)  # rows of loops
STRIPS = (16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)  # of register blocks that the rows of a tile are


def in_rows_of_tiles(
    plan: KernelPlan, member: Member, group: Collection[str], machine: Machine
) -> KernelPlan | None:
    """The plan of a product for the rows of a tile; None where register blocks do not compute some rows.

    group: the stages that share the tile.
    """
    found = plan.contraction
    if plan.pairs or found.triangle is not None or found.others or member.private or member.scales:
        return None
    tiled = [dim for dim in member.dims if dim is not None]
    if found.rows not in tiled or not {*tiled} <= {*found.outer, *found.all_rows}:
        return None
    blocks = replace(plan.blocks, turned_depth=0)
    plain = not (found.outer or found.sums or found.more_columns or found.more)
    if not plain or found.right.source in group:
        return replace(plan, blocks=blocks, parallel=None, streamed=0)
    row = blocks.columns * plan.element_bytes
    depth = whole_units(PANEL_SHARE * machine.l1_bytes / row, 32)
    return replace(plan, blocks=blocks, parallel=None, streamed=0, packed_depth=depth)


def is_chain(members: Sequence[Member], products: Mapping[str, KernelPlan], pipeline: Pipeline) -> bool:
    """Whether a product gains by sharing tiles: it reads stages of the group, or one of its sums reads it.

    Through whichever stages between.  What reads a single product point by point is computed in its register
    blocks, or on parts of its result; products beside each other have nothing to hand on.
    """
    rows = {m.dims.index(products[m.stage].contraction.rows) for m in members if m.stage in products}
    if rows != {len(members[0].dims) - 1}:
        return False
    behind: set[str] = set()  # products, and what reads them
    before: set[str] = set()
    for member in members:
        stage = pipeline.stage(member.stage)
        read = {load.source.name for load in stage.loads()}
        if (stage.is_reduction and read & behind) or (member.stage in products and read & before):
            return True
        before.add(stage.name)
        if member.stage in products or read & behind:
            behind.add(stage.name)
    return False


def overwritten(stages: Mapping[str, Stage], members: Sequence[Member]) -> dict[str, str]:
    """Stages whose scratchpad may be that of a stage which they read at their points, and nobody later."""
    places: dict[str, str] = {}
    for position, member in enumerate(members):
        stage = stages[member.stage]
        if not member.scratch or stage.is_reduction or stage.reads_itself:
            continue
        own = tuple(map(Affine.name, stage.dims))
        for earlier in members[:position]:
            source = stages[earlier.stage]
            loads = [load for load in stage.loads() if load.source.name == source.name]
            later = (stages[other.stage] for other in members[position + 1 :])
            if (
                loads
                and all(load.indices == own for load in loads)
                and _is_alike(stage, source, member, earlier)
                and not any(load.source.name == source.name for each in later for load in each.loads())
                and source.name not in places.values()
            ):
                places[stage.name] = places.get(source.name, source.name)
                break
    return places


def _is_alike(stage: Stage, source: Stage, member: Member, earlier: Member) -> bool:
    """Whether the scratchpads of two stages have the same elements at the same places."""
    return (
        earlier.scratch
        and stage.dtype == source.dtype
        and stage.box == source.box
        and _levels(stage, member) == _levels(source, earlier)
        and (member.margins, member.scales) == (earlier.margins, earlier.scales)
    )


def _levels(stage: Stage, member: Member) -> list[int | None]:
    """The tiled dimension that each dimension of a stage runs along."""
    return [member.dims.index(dim) if dim in member.dims else None for dim in stage.dims]


def row_block_sizes(tile: UnsizedTile, unit: int) -> tuple[int, ...]:
    """Rows of whole register blocks, as many as stay in the second level, of one point of the others."""
    candidates = [(*(1 for _ in tile.dims[1:]), unit * strips) for strips in STRIPS]
    return tile.first_that_fits(candidates, KEPT_SHARE * tile.machine.l2_bytes)


def at_once(tile: UnsizedTile, products: Mapping[str, NestPlan], rows: int) -> int:
    """Rows at a time of the loops between products: as many as stay in the first-level cache, one at least.

    All of a tile (0) where points beside it are computed again.
    """
    if any(any(map(any, member.margins)) or member.scales for member in tile.members):
        return 0
    loops = replace(tile, members=[member for member in tile.members if member.stage not in products])
    candidates = [(*(1 for _ in tile.dims[1:]), count) for count in AT_ONCE]
    return min(rows, loops.first_that_fits(candidates, KEPT_SHARE * tile.machine.l1_bytes)[-1])
