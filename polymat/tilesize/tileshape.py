"""How large the tiles of several stages are, where no equation is solved for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member, grid
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.model.extents import tile_size
from polymat.plan.nest import NestPlan
from polymat.tilesize.plain import own_names
from polymat.tilesize.register import ROLLING_ROWS, ROWS_REDUCED

INNER_TILE = 512  # elements along the contiguous dimension of a stencil tile
KEPT_SHARE = 0.5  # of a cache that what tiles keep there may fill; the rest is for lines on their way
DOT_TILE = 4096  # elements of a sum that has no other loop to share out
ROWS_MAPPED = (128, 64, 32, 16, 8)  # of maps: with fewer, what is computed again in margins counts
ROWS_ALONE = (4, 2, 1)  # of maps that read each other at their own rows alone
ROWS_APART = (64, 32, 16, 8, 4, 2, 1)  # of sums that share nothing
APART_SHARE = 0.25  # of the first-level cache that what such a tile writes may fill
PLANES = 16  # of the extents of a tile before its rows, where points beside it are computed again
ROLLING_PLANE = 16  # of its extents between the first and the contiguous one
ROLLING_WIDTHS = (512, 256)  # elements of its rows


@dataclass(frozen=True, slots=True, eq=False)
class UnsizedTile:
    """Stages that share tiles of sizes that are to be chosen.

    loops: the plan of each of them.  dims: the names of the tiled dimensions, outermost first.  kept: of
    rolling tiles, the points beside a tile's that rings have room for (`TilePlan.kept`).
    """

    stages: Mapping[str, Stage]
    loops: Mapping[str, NestPlan]
    dims: tuple[str, ...]
    members: Sequence[Member]
    machine: Machine
    estimates: Mapping[str, int]
    kept: Mapping[str, int] | None = None

    @property
    def coarsest(self) -> list[int]:
        """Points of each tiled dimension that one point of the coarsest stage takes up."""
        return [max(member.scale(level) for member in self.members) for level in range(len(self.dims))]

    def first_that_fits(self, candidates: Sequence[tuple[int, ...]], room: float) -> tuple[int, ...]:
        """The first sizes whose tile takes at most so many bytes; the last ones where none does."""
        size_of = tile_size(self.stages, self.members, self.estimates, self.kept)
        return next((sizes for sizes in candidates if size_of(sizes) <= room), candidates[-1])


def kept_points(stages: Mapping[str, Stage], members: Sequence[Member]) -> dict[str, int]:
    """How many points of the first dimension, beside a tile's, the readers of each scratchpad go back to.

    A reader's margins lie within those of what it reads, so that it reads nothing further from its own points
    than the margins differ.
    """
    sums = {member.stage: sum(member.margins[0]) for member in members}
    nearest: dict[str, int] = {}
    for member in members:
        for name in {load.source.name for load in stages[member.stage].loads()} & sums.keys():
            nearest[name] = min(nearest.get(name, sums[name]), sums[member.stage])
    return {m.stage: sums[m.stage] - nearest[m.stage] for m in members if m.scratch and m.stage in nearest}


def rolling_sizes(tile: UnsizedTile) -> tuple[int, ...]:
    """A few rows at a time, as wide as what the stages write fits in the first-level cache."""
    inner = range(1, len(tile.dims))
    contiguous = [any(m.dims[level] == tile.loops[m.stage].vector for m in tile.members) for level in inner]
    rows = ROLLING_ROWS * tile.coarsest[0]
    return tile.first_that_fits(
        [(rows, *(width if along else ROLLING_PLANE for along in contiguous)) for width in ROLLING_WIDTHS],
        KEPT_SHARE * tile.machine.l1_bytes,
    )


def tile_sizes(tile: UnsizedTile) -> tuple[int, ...]:
    """Blocks of rows for sums; for maps the largest tile whose scratchpads fit in the second-level cache."""
    if any(stage.is_reduction for stage in tile.stages.values()):
        return _sum_sizes(tile)
    if len(tile.dims) == 1 and all(m.dims[0] == tile.loops[m.stage].vector for m in tile.members):
        return (4 * INNER_TILE,)
    return tile.first_that_fits(_map_sizes(tile), KEPT_SHARE * tile.machine.l2_bytes)


def _map_sizes(tile: UnsizedTile) -> list[tuple[int, ...]]:
    """Numbers of rows that are neighbours in memory, largest first, and parts of these rows.

    Of what lies further apart, planes say, a tile has as little as can be; several of them where it computes
    the points beside them again.
    """
    levels = range(len(tile.dims))
    margins = [any(member.margins[level] != (0, 0) for member in tile.members) for level in levels]
    along = [any(m.dims[level] == tile.loops[m.stage].vector for m in tile.members) for level in levels]
    nearest = max((level for level in levels if not along[level]), default=0)
    apart = [step * (PLANES if again else 1) for step, again in zip(tile.coarsest, margins, strict=True)]
    return [
        tuple(count if k == nearest else INNER_TILE if along[k] else apart[k] for k in levels)
        for count in (ROWS_MAPPED if any(margins) else (*ROWS_MAPPED, *ROWS_ALONE))
    ]


def _sum_sizes(tile: UnsizedTile) -> tuple[int, ...]:
    """Blocks of rows along all dimensions, or as many of the nearest rows as fit in the second-level cache.

    Where each thread adds up along the only loop that there is, no row is to be shared: a long piece of it.
    Where no two rows of a sum load the same, as few as stay in a part of the first level: what comes from
    memory is then waited for while the rows before are computed, which a processor does for so far ahead.
    """
    steps, rows = tile.coarsest, levels_of_rows(tile.loops, tile.members)
    if any(m.private for m in tile.members) and all(len(plan.order) == 1 for plan in tile.loops.values()):
        return (DOT_TILE * steps[0],)
    blocks = tuple(ROWS_REDUCED * step if level in rows else INNER_TILE for level, step in enumerate(steps))

    def nearest(count: int) -> tuple[int, ...]:
        return tuple(
            blocks[level] if level not in rows else step * (count if level == rows[-1] else 1)
            for level, step in enumerate(steps)
        )

    if rows and not any(
        _shares_loads(tile.stages[m.stage], tile.loops[m.stage], m, rows[-1]) for m in tile.members
    ):
        return tile.first_that_fits([*map(nearest, ROWS_APART)], APART_SHARE * tile.machine.l1_bytes)
    fewer = [max(ROWS_REDUCED // share, 1) for share in (1, 2, 4, ROWS_REDUCED)]
    return tile.first_that_fits([blocks, *map(nearest, fewer)], KEPT_SHARE * tile.machine.l2_bytes)


def _shares_loads(stage: Stage, loops: NestPlan, member: Member, level: int) -> bool:
    """Whether rows of a sum next to each other along a tiled dimension load, or add to, the same elements."""
    dim = member.dims[level]
    if not stage.is_reduction:
        return False
    if loops.kind != "reduce" or dim is None or member.private:
        return True
    return _has_fixed_loads(stage, dim)


@remembered
def _has_fixed_loads(stage: Stage, dim: str) -> bool:
    """Whether a sum loads elements that stay the same along a dimension of its result."""
    names = {own_names(stage, accumulation)[dim] for accumulation in stage.accumulations}
    return any(
        names.isdisjoint(name for form in load.indices for name in form.names()) for load in stage.loads()
    )


def call_sizes(tile: UnsizedTile) -> tuple[int, ...]:
    """As many points of the coarsest stage, a block of a filter say, as stay in the first-level cache.

    One of them where none does.
    """
    counts = (16, 8, 4, 2, 1)
    candidates = [tuple(points * step for step in tile.coarsest) for points in counts]
    return tile.first_that_fits(candidates, tile.machine.l1_bytes)


def levels_of_rows(loops: Mapping[str, NestPlan], members: Sequence[Member]) -> list[int]:
    """The tiled dimensions along which no rows of arrays run.

    Those of a number a row, its mean say, count for nothing beside the rows themselves.
    """
    found = []
    for level in range(len(members[0].dims)):
        along = [(len(loops[m.stage].order), loops[m.stage], dim) for m in members if (dim := m.dims[level])]
        most = max(
            (count for count, plan, dim in along if plan.kind == "reduce" and dim != plan.vector), default=0
        )
        if not any(dim == plan.vector and count > 1 and count >= most for count, plan, dim in along):
            found.append(level)
    return found


def on_grid(sizes: Sequence[int], members: Sequence[Member]) -> tuple[int, ...]:
    """Tile sizes so that every stage has a point where a tile begins."""
    grids = [grid(members, level) for level in range(len(sizes))]
    return tuple(-(-size // each) * each for size, each in zip(sizes, grids, strict=True))
