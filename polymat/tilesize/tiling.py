"""What tiles add to the demands of a group: points computed again, and bytes that leave the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import prod

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.model.estimates import once_a_stage
from polymat.model.extents import stage_extents, tile_size
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.shortloops import level_lengths, loop_lengths
from polymat.tilesize.stagework import VECTOR_SHARE, own_name_in
from polymat.tilesize.tileshape import KEPT_SHARE, levels_of_rows
from polymat.tilesize.traffic import array_bytes, nearest_level, sizes_of

# Operations a lane that the ends of a row are worth, at the rate of loops on vectors: the call, what is left
# of the last vector, and two branches that are not foreseen.  Measured (Zen 3, double): 20 ns a row.  Those
# of whole rows in tiles that roll are measured on each machine; rows that are cut also begin anew in memory.
ROW_ENDS = 64.0
# Bytes that the start of a run of neighbours in memory is worth.  Measured (Zen 3): runs of 120 bytes took
# three times as long as planes (docs/measurements/loops.md).
RUN_STARTS = 256.0
PAGE_BYTES = 4096  # of memory, within which processors fetch ahead: longer runs start as often


@dataclass(frozen=True, slots=True, eq=False)
class TileDemand:
    """Demands of tiles; without any, those of a group that has none.

    repeats: how many tiles there are along each dimension.  often: how often points of a stage are computed,
    on average.  anew: the share of them that each further thread computes anew where tiles roll, before its
    first one.  fits: whether what a tile reads and writes stays in the cache of a core, or what rolling
    tiles keep in its share of the last one.  private: bytes of a thread's copies.  padded: bytes to and from
    scratchpads beyond the first-level cache, in that of `level`.  split: tiled dimensions that cut rows, into
    pieces of `piece` bytes.
    ends: operations that the ends of the rows so cut are worth.  copies: those of writing out what tiles own
    of stages that others read in a scratchpad.  near: these stages.
    starts: bytes that the starts of short runs of results are worth, for each byte.  passed: those of
    packed operands of products, which each tile reads anew, from the level `passed_level` that holds them.
    """

    repeats: Sequence[float] = ()
    often: Mapping[str, float] = field(default_factory=dict)
    anew: Mapping[str, float] = field(default_factory=dict)
    fits: bool = True
    scratch: frozenset[str] = frozenset()
    private: float = 0.0
    padded: float = 0.0
    level: int = 2
    split: int = 0
    piece: float = 0.0
    ends: float = 0.0
    copies: float = 0.0
    near: frozenset[str] = frozenset()
    starts: float = 0.0
    passed: float = 0.0
    passed_level: int = 2


def tiling_of(
    pipeline: Pipeline, plan: Plan, stages: Sequence[Stage], machine: Machine, estimates: Mapping[str, int]
) -> TileDemand:
    """Demands of the tiles of a plan, beside those of its loops."""
    if not isinstance(plan, TilePlan):
        return TileDemand()
    by_name = {stage.name: stage for stage in stages}
    repeats = _tile_counts(plan, by_name, estimates)
    kept = plan.kept if plan.rolling else None
    own = [member for member in plan.members if member.stage not in plan.places]
    written = tile_size(by_name, own, estimates, kept)(plan.sizes)
    near = _tile_fits(pipeline, plan, stages, machine, estimates, written)
    fits = near or (plan.rolling and written <= KEPT_SHARE * machine.l3_bytes / machine.cores)
    often = {member.stage: _redundancy(member, plan, repeats) for member in plan.members}
    return TileDemand(
        repeats,
        often,
        {member.stage: _begun_anew(member, plan, repeats) for member in plan.members},
        fits,
        frozenset(plan.scratch if fits else ()),
        sum(array_bytes(by_name[m.stage], estimates) for m in plan.members if m.private),
        _padded_bytes(plan, by_name, machine, estimates, written) if fits else 0.0,
        2 if near else 3,
        len(cut := _cutting_levels(plan)),
        min((plan.sizes[level] for level in cut), default=0) * max(each.dtype.size for each in stages),
        sum(often[m.stage] * _row_ends(m, plan, by_name, machine, estimates, repeats) for m in plan.members),
        sum(prod(stage_extents(by_name[m.stage], estimates)) for m in plan.members if m.copied),
        frozenset(m.stage for m in plan.members if m.copied and fits),
        max((_run_starts(m, plan, by_name[m.stage], machine, estimates) for m in plan.members), default=0.0),
        (passed := _passed_bytes(plan, estimates)) * prod(repeats),
        max(2, nearest_level(machine, passed)),  # rows of a tile and their results fill the first
    )


def _passed_bytes(plan: TilePlan, estimates: Mapping[str, int]) -> float:
    """Bytes of the packed operands that the rows of a tile are multiplied by."""
    return sum(
        prod(each.contraction.length(d, estimates) for d in each.contraction.right_dims) * each.element_bytes
        for each in plan.packed
    )


def _padded_bytes(
    plan: TilePlan,
    stages: Mapping[str, Stage],
    machine: Machine,
    estimates: Mapping[str, int],
    written: float,
) -> float:
    """Bytes to scratchpads in the second-level cache and back; none where the first holds them.

    written: bytes that the stages of one tile write.  What a library writes there is part of its own time.
    """
    if written <= machine.l1_bytes:
        return 0.0
    one = plan.row_loop is not None  # it keeps in memory only what the next tile needs
    loops = [m for m in plan.members if m.scratch and not plan.loops[m.stage].routines]
    pads = [m.stage for m in loops if not one or sum(m.margins[0]) > 0]
    return sum(2 * array_bytes(stages[name], estimates) for name in pads)


def _row_ends(
    member: Member,
    plan: TilePlan,
    stages: Mapping[str, Stage],
    machine: Machine,
    estimates: Mapping[str, int],
    repeats: Sequence[float],
) -> float:
    """Operations that the ends of a stage's rows are worth where tiles cut them; not of a row loop.

    Rolling tiles are a row or two high, so that their calls are worth about as much.
    """
    stage, loops = stages[member.stage], plan.loops[member.stage]
    if plan.row_loop is not None or loops.kind != "map" or len(stage.dims) < 2 or loops.vector is None:
        return 0.0
    size = stage.dtype.size
    calls = _end_operations(machine, size) * prod(repeats) if plan.rolling else 0.0
    if loops.vector not in member.dims:
        return calls
    level = member.dims.index(loops.vector)
    lengths = loop_lengths(stage, estimates)
    rows = prod(length for dim, length in lengths.items() if dim != loops.vector)
    pieces = member.scale(level) * lengths.get(loops.vector, 1.0) / plan.sizes[level]
    return ROW_ENDS * machine.lanes(size) * rows * max(pieces - 1.0, 0.0) + calls


@remembered
def _end_operations(machine: Machine, element_bytes: int) -> float:
    """Operations, at the rate of loops, that the ends of one whole row are worth."""
    measured = machine.row_seconds() * machine.peak_flops(element_bytes) * VECTOR_SHARE
    return measured or ROW_ENDS * machine.lanes(element_bytes)


def _run_starts(
    member: Member, plan: TilePlan, stage: Stage, machine: Machine, estimates: Mapping[str, int]
) -> float:
    """What the starts of runs are worth where tiles cut a result between its first dimension and its rows.

    Of results that the second-level cache does not hold.  Tiles that cut rows: `_cutting_levels`.
    """
    cut = max((k for k, dim in enumerate(stage.dims) if dim in member.dims), default=0)
    if member.scratch or cut == 0 or cut == len(stage.dims) - 1:
        return 0.0
    if array_bytes(stage, estimates) <= machine.l2_bytes:
        return 0.0
    extents = stage_extents(stage, estimates)
    level = member.dims.index(stage.dims[cut])
    points = plan.sizes[level] / member.scale(level)
    if points >= extents[cut]:
        return 0.0
    run = points * prod(extents[cut + 1 :]) * stage.dtype.size
    return RUN_STARTS / max(run, 1.0) if run < PAGE_BYTES else 0.0


def _cutting_levels(plan: TilePlan) -> list[int]:
    """Tiled dimensions that cut contiguous rows into pieces; a row loop asks for what comes itself."""
    if plan.row_loop is not None:
        return []
    rows = levels_of_rows(plan.loops, plan.members)
    return [level for level in range(len(plan.dims)) if level not in rows]


def _tile_fits(
    pipeline: Pipeline,
    plan: TilePlan,
    stages: Sequence[Stage],
    machine: Machine,
    estimates: Mapping[str, int],
    written: float,
) -> bool:
    """Whether what one tile reads and writes, the latter `written` bytes, stays in the second-level cache."""
    by_name = {stage.name: stage for stage in stages}
    sizes = sizes_of(pipeline, estimates)
    pieces: dict[str, float] = {}
    passed = {each.contraction.right.source for each in plan.packed}  # in parts, through the caches
    for member in plan.members:
        for name, along in _reads_along(by_name[member.stage], estimates, member.dims):
            if name in by_name or name in passed:
                continue
            whole = sizes[name]
            for level, length in along:
                whole *= min(1.0, plan.sizes[level] / max(1.0, member.scale(level) * length))
            pieces[name] = max(pieces.get(name, 0.0), whole)
    return written + sum(pieces.values()) <= machine.l2_bytes


@once_a_stage
def _reads_along(
    stage: Stage, estimates: Mapping[str, int], dims: tuple[str | None, ...]
) -> tuple[tuple[str, tuple[tuple[int, float], ...]], ...]:
    """The arrays that a stage reads, with the tiled dimensions that indices follow: their levels and lengths.

    dims: the stage's own dimension along each tiled one.
    """
    lengths = loop_lengths(stage, estimates)
    found = []
    for load in stage.loads():
        used = {name for form in load.indices for name in form.names()}
        levels = [k for k, dim in enumerate(dims) if dim is not None and own_name_in(stage, dim, used)]
        found.append((load.source.name, tuple((k, lengths.get(dims[k] or "", 1.0)) for k in levels)))
    return tuple(dict.fromkeys(found))


def _redundancy(member: Member, plan: TilePlan, repeats: Sequence[float]) -> float:
    """How often a point is computed, on average: more than once in the margins of overlapped tiles.

    A stage without a dimension along a tiled one is computed by each of its `repeats` tiles.
    """
    factor = 1.0
    for level, size in enumerate(plan.sizes):
        own = member.dims[level] is not None
        if plan.rolling and level == 0:
            continue  # every stage goes on where it ended
        factor *= member.points(level, size) * member.scale(level) / size if own else repeats[level]
    return factor


def _begun_anew(member: Member, plan: TilePlan, repeats: Sequence[float]) -> float:
    """The share of a stage's points before the first tile of a thread that goes on from there, rolling."""
    if not plan.rolling or member.dims[0] is None:
        return 0.0
    size = plan.sizes[0]
    before = member.points(0, size) * member.scale(0) - size
    return max(before, 0.0) / (size * repeats[0])


def _tile_counts(plan: TilePlan, stages: Mapping[str, Stage], estimates: Mapping[str, int]) -> list[float]:
    """How many tiles there are along each tiled dimension."""
    lengths = level_lengths(stages, plan.members, estimates)
    return [max(1.0, length / size) for length, size in zip(lengths, plan.sizes, strict=True)]
