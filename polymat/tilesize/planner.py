"""The default implementation of a group: loops for a stage by itself, tiles for several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from polymat.graph.alignment import grid
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.poly.domain import Domain
from polymat.tilesize.assumed import UNKNOWN_EXTENT
from polymat.tilesize.estimates import Estimates, once_a_stage
from polymat.tilesize.joint import joint_sums
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.register import ROWS_REDUCED, ROWS_UPDATED, in_rows, unrolled
from polymat.tilesize.rowloop import row_loop, row_width
from polymat.tilesize.schedule import LoopPlan, Member, NestPlan, Plan, TilePlan

DOT_TILE = 4096  # elements of a sum that has no other loop to share out
INNER_TILE = 512  # elements along the contiguous dimension of a stencil tile
SCRATCH_SHARE = 0.5  # of the second-level cache that the arrays of a tile may fill
MANY_REGISTERS = 32  # vector registers that hold eight rows of two sums
ROLLING_ROWS = 2  # new rows of a rolling tile
ROWS_AHEAD = 2  # rows from the one that is computed to the one that is asked for: those of the next tile
ROLLING_SHARE = 0.5  # of the first-level cache; the rest is for rows on their way from and to memory
ROLLING_PLANE = 16  # of its extents between the first and the contiguous one
ROLLING_WIDTHS = (512, 256)  # elements of its rows
NO_CALLS: Mapping[str, NestPlan] = MappingProxyType({})


def plan_alone(group: Group, stage: Stage, context: Domain, machine: Machine) -> Plan:
    """One stage: its plain loops, register-tiled; a sum without a parallel loop in private parts."""
    plan = unrolled(stage, plan_stage(group, stage, context))
    plan = in_rows(stage, plan, machine, plan.parallel)
    if plan.kind not in ("reduce", "row") or plan.parallel is not None:
        return plan
    return _private(group, stage, plan) if can_be_private(stage) else plan


def can_be_private(stage: Stage) -> bool:
    """Whether parts of its reduced dimensions can be accumulated independently and added up."""
    return (
        len(stage.accumulations) == 1
        and stage.accumulations[0].is_aligned
        and bool(stage.accumulations[0].reduced_dims)
        and stage.domain.is_box()
        and all(low == Affine() for low, _ in stage.box)
    )


def _private(group: Group, stage: Stage, plan: LoopPlan) -> TilePlan:
    """The outermost reduced dimension shared out, each thread adding into a copy of its own."""
    along = stage.accumulations[0].reduced_dims[0]
    size = DOT_TILE if plan.vector == along else ROWS_REDUCED
    loops = replace(plan, unroll=1 if plan.vector == along else plan.unroll)
    member = Member(stage.name, (along,), ((0, 0),), private=True)
    reason = f"{along} is summed over and shared out: each thread adds into a copy of its own"
    return TilePlan(group, (along,), (size,), (member,), {stage.name: loops}, reason)


def plan_tiles(
    pipeline: Pipeline,
    group: Group,
    dims: tuple[str, ...],
    members: Sequence[Member],
    machine: Machine,
    estimates: Mapping[str, int],
    sizes: tuple[int, ...] = (),
    *,
    roll: bool = True,
    calls: Mapping[str, NestPlan] = NO_CALLS,
) -> TilePlan:
    """Several stages in one tile loop; `sizes` forces tile sizes, `roll` lets tiles keep rows.

    calls: the plans of stages that a library computes, for the part of a tile in each.
    """
    stages = {m.stage: pipeline.stage(m.stage) for m in members}
    inner = {m.stage: _loops(stages[m.stage], m, pipeline.context, machine, estimates) for m in members}
    loops: dict[str, NestPlan] = {**inner, **calls}
    rolling = roll and not calls and _can_roll(stages, loops, members)
    joint = () if sizes else joint_sums(stages, members, loops)
    together = row_loop(stages, members, machine) if rolling and len(dims) == 2 and not sizes else None
    if together is not None:
        sizes = (together.rows, row_width(stages, members, machine, together.rows))
    elif not sizes:
        choose = _rolling_sizes if rolling else _call_sizes if calls else _tile_sizes
        sizes = choose(stages, loops, dims, members, machine, estimates)
    sizes = on_grid(sizes[: len(dims)], members)
    reason = f"intermediates stay in the cache: {_scratch_text(members)}"
    if calls:
        reason += f"; {', '.join(calls)} by library calls in each tile"
    if rolling:
        reason += f"; along {dims[0]} each keeps the last points that its readers still need"
        loops = {
            m.stage: _loops(stages[m.stage], m, pipeline.context, machine, estimates, ahead=ROWS_AHEAD)
            for m in members
        }
    for pair in joint:
        reason += f"; {' and '.join(pair)} in one loop, which loads once what both read"
        loops |= {name: _paired(inner[name], machine) for name in pair}
    return TilePlan(group, dims, sizes, tuple(members), loops, reason, rolling, joint, row_loop=together)


def on_grid(sizes: Sequence[int], members: Sequence[Member]) -> tuple[int, ...]:
    """Tile sizes so that every stage has a point where a tile begins."""
    grids = [grid(members, level) for level in range(len(sizes))]
    return tuple(-(-size // each) * each for size, each in zip(sizes, grids, strict=True))


def _paired(plan: LoopPlan, machine: Machine) -> LoopPlan:
    """Blocks of two sums need accumulators, factors and loaded values in registers at the same time."""
    return plan if machine.vector_registers >= MANY_REGISTERS else replace(plan, unroll=ROWS_UPDATED)


def _can_roll(stages: Mapping[str, Stage], loops: Mapping[str, NestPlan], members: Sequence[Member]) -> bool:
    """Whether scratchpads can keep rows from one tile to the next, and that saves computing them again.

    The first tiled dimension has to be an outer loop of every stage: a ring cannot be walked by vectors.
    """
    outer = all(
        loops[m.stage].kind == "map" and m.dims[0] is not None and m.dims[0] != stages[m.stage].dims[-1]
        for m in members
    )
    return outer and any(m.scratch and sum(m.margins[0]) > 0 for m in members)


def _rolling_sizes(
    stages: Mapping[str, Stage],
    loops: Mapping[str, NestPlan],
    dims: tuple[str, ...],
    members: Sequence[Member],
    machine: Machine,
    estimates: Mapping[str, int],
) -> tuple[int, ...]:
    """A few rows at a time, as wide as what the stages write fits in the first-level cache."""
    contiguous = [any(m.dims[level] == loops[m.stage].vector for m in members) for level in range(len(dims))]
    rows = ROLLING_ROWS * _coarsest(members, 0)
    return _first_that_fits(
        [
            (rows, *(width if along else ROLLING_PLANE for along in contiguous[1:]))
            for width in ROLLING_WIDTHS
        ],
        tile_size(stages, members, estimates),
        ROLLING_SHARE * machine.l1_bytes,
    )


def _first_that_fits(
    candidates: Sequence[tuple[int, ...]], size_of: Callable[[Sequence[int]], float], room: float
) -> tuple[int, ...]:
    """The first sizes whose tile takes at most so many bytes; the last ones where none does."""
    return next((sizes for sizes in candidates if size_of(sizes) <= room), candidates[-1])


def _coarsest(members: Sequence[Member], level: int) -> int:
    """Points of a tiled dimension that one point of the coarsest stage takes up."""
    return max(member.scale(level) for member in members)


def _loops(
    stage: Stage,
    member: Member,
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    *,
    ahead: int = 0,
) -> LoopPlan:
    """A stage's loops inside a tile, found once for all tiles along the same of its dimensions."""
    first, private = member.dims[0], member.private
    if not isinstance(estimates, Estimates):
        return replace(_inside(stage, first, private, context, machine), ahead=ahead)
    key = (stage, first, private, ahead)
    if key not in estimates.loops:
        found = _inside(stage, first, private, context, machine)
        estimates.loops[key] = replace(found, ahead=ahead) if ahead else found
    loops: LoopPlan = estimates.loops[key]
    return loops


def _inside(stage: Stage, first: str | None, private: bool, context: Domain, machine: Machine) -> LoopPlan:
    """A stage's loops inside a tile; blocks of rows only where the tile's first dimension is the row."""
    plan = replace(plan_stage(Group((stage.name,)), stage, context), parallel=None)
    plan = in_rows(stage, plan, machine, first)
    if plan.kind == "row" and private:
        plan = replace(plan, order=(*stage.dims[:-1], *stage.accumulations[0].reduced_dims, stage.dims[-1]))
    blocks = first is not None and first != plan.vector and (plan.kind == "reduce" or first == plan.order[0])
    return unrolled(stage, plan) if blocks else plan


def _tile_sizes(
    stages: Mapping[str, Stage],
    loops: Mapping[str, NestPlan],
    dims: tuple[str, ...],
    members: Sequence[Member],
    machine: Machine,
    estimates: Mapping[str, int],
) -> tuple[int, ...]:
    """Blocks of rows for sums; for maps the largest tile whose scratchpads fit in the second-level cache."""
    if any(stage.is_reduction for stage in stages.values()):
        contiguous = {(name, plan.vector) for name, plan in loops.items() if len(plan.order) > 1}
        along = [[(m.stage, m.dims[level]) for m in members] for level in range(len(dims))]
        return tuple(
            INNER_TILE if contiguous.intersection(own) else ROWS_REDUCED * _coarsest(members, level)
            for level, own in enumerate(along)
        )
    if len(dims) == 1 and all(m.dims[0] == loops[m.stage].vector for m in members):
        return (4 * INNER_TILE,)
    return _first_that_fits(
        [(rows, *(INNER_TILE for _ in dims[1:])) for rows in (128, 64, 32, 16, 8)],
        tile_size(stages, members, estimates),
        SCRATCH_SHARE * machine.l2_bytes,
    )


def _call_sizes(
    stages: Mapping[str, Stage],
    loops: Mapping[str, NestPlan],
    dims: tuple[str, ...],
    members: Sequence[Member],
    machine: Machine,
    estimates: Mapping[str, int],
) -> tuple[int, ...]:
    """As many points of the coarsest stage, a block of a filter say, as stay in the first-level cache.

    One of them where none does.
    """
    steps = [_coarsest(members, level) for level in range(len(dims))]
    return _first_that_fits(
        [tuple(points * step for step in steps) for points in (16, 8, 4, 2, 1)],
        tile_size(stages, members, estimates),
        machine.l1_bytes,
    )


def tile_size(
    stages: Mapping[str, Stage], members: Sequence[Member], estimates: Mapping[str, int]
) -> Callable[[Sequence[int]], float]:
    """The bytes that one tile's stages write, margins included, as a function of its sizes."""
    known = []
    for member in members:
        stage = stages[member.stage]
        whole = float(stage.dtype.size)
        levels = []
        for dim, length in zip(stage.dims, stage_extents(stage, estimates), strict=True):
            if dim in member.dims:
                levels.append(member.dims.index(dim))
            else:
                whole *= length
        known.append((member, whole, levels))

    def size_of(sizes: Sequence[int]) -> float:
        total = 0.0
        for member, count, levels in known:
            for level in levels:
                count *= member.points(level, sizes[level])
            total += count
        return total

    return size_of


@once_a_stage
def stage_extents(stage: Stage, estimates: Mapping[str, int]) -> tuple[float, ...]:
    """Extents of the dimensions of a stage's result at the estimates."""
    return tuple(extent(high - low + 1, estimates) for low, high in stage.box)


def extent(form: Affine, estimates: Mapping[str, int]) -> float:
    """A size form at the estimates."""
    values = {name: estimates.get(name, UNKNOWN_EXTENT) for name in form.names()}
    return max(float(form.evaluate(values)), 0.0)


def _scratch_text(members: Sequence[Member]) -> str:
    pads = [m.stage for m in members if m.scratch]
    return f"{', '.join(pads)} in scratchpads" if pads else "one pass over what the stages share"
