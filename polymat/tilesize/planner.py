"""The default implementation of a group: loops for a stage by itself, tiles for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from polymat.graph.aligned import Member
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.poly.domain import Domain
from polymat.tilesize.copied import can_be_private, can_scatter_apart
from polymat.tilesize.joint import joint_sums
from polymat.tilesize.loopprice import stores_free
from polymat.tilesize.plain import FEW, NO_SIZES, plan_stage
from polymat.tilesize.register import (
    ROLLING_ROWS,
    ROWS_REDUCED,
    ROWS_UPDATED,
    beside,
    in_rows,
    side_by_side,
    unrolled,
)
from polymat.tilesize.rowblocks import at_once, overwritten, row_block_sizes
from polymat.tilesize.rowloop import row_loop, row_width
from polymat.tilesize.tileshape import (
    DOT_TILE,
    UnsizedTile,
    call_sizes,
    kept_points,
    levels_of_rows,
    on_grid,
    rolling_sizes,
    tile_sizes,
)

MANY_REGISTERS = 32  # vector registers that hold eight rows of two sums
NO_CALLS: Mapping[str, NestPlan] = MappingProxyType({})


def plan_alone(
    group: Group,
    stage: Stage,
    context: Domain,
    machine: Machine,
    *,
    shared: bool = True,
    given: Mapping[str, int] = NO_SIZES,
    free: bool = False,
) -> Plan:
    """One stage: its plain loops, register-tiled; a sum without a parallel loop in private parts.

    shared: whether threads may share loops within it, which are entered again and again.
    given: what the user expects of sizes.  free: whether rows are stored side by side for nothing more.
    """
    plan = unrolled(stage, plan_stage(group, stage, context, machine.vector_bits, given))
    if plan.recurrence is not None and plan.recurrence.turns is not None:
        plan = replace(plan, lanes=machine.lanes(stage.dtype.size))
    if plan.recurrence is not None and not shared:
        return replace(plan, parallel=None, outwards=False)
    plan = beside(stage, in_rows(stage, plan, machine, plan.parallel, free=free), (plan.parallel,))
    if plan.kind == "scatter" and plan.parallel is None and can_scatter_apart(stage):
        return _scattered_apart(group, stage, plan)
    if not plan.adds_up or plan.parallel is not None:
        return plan
    return _private(group, stage, plan) if can_be_private(stage) else plan


def _private(group: Group, stage: Stage, plan: LoopPlan) -> TilePlan:
    """The outermost reduced dimension shared out, each thread adding into a copy of its own."""
    along = stage.accumulations[0].reduced_dims[0]
    size = DOT_TILE if plan.vector == along else ROWS_REDUCED
    loops = replace(plan, unroll=1 if plan.vector == along else plan.unroll)
    member = Member(stage.name, (along,), ((0, 0),), private=True)
    reason = f"{along} is summed over and shared out: each thread adds into a copy of its own"
    return TilePlan(group, (along,), (size,), (member,), {stage.name: loops}, reason)


def _scattered_apart(group: Group, stage: Stage, plan: LoopPlan) -> TilePlan:
    """The outermost dimension of a sum into computed places shared out, with a copy for each thread."""
    item = stage.accumulations[0]
    sizes = [high - low + 1 for low, high in item.box]
    long = (dim for dim, n in zip(item.dims, sizes, strict=True) if not n.is_constant or n.const >= FEW)
    along = next(long, item.dims[0])
    size = DOT_TILE if along == item.dims[-1] else 1
    member = Member(stage.name, (along,), ((0, 0),), private=True)
    reason = (
        f"{along} is shared out: each thread adds into a copy of its own, and these are added up in order"
    )
    return TilePlan(group, (along,), (size,), (member,), {stage.name: plan}, reason)


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
    inner = _loops_of(stages, members, pipeline.context, machine)
    inner |= _in_nearer_blocks(stages, inner, members, pipeline.context, machine, estimates)
    loops: dict[str, NestPlan] = {**inner, **calls}
    rolling = roll and not calls and _can_roll(stages, loops, members)
    kept = kept_points(stages, members) if rolling else None
    joint = () if sizes else joint_sums(stages, members, loops)
    together = row_loop(stages, members, machine) if rolling and len(dims) == 2 and not sizes else None
    if together is not None:
        sizes = (together.rows, row_width(stages, members, machine, together.rows, kept or {}))
    elif not sizes:
        choose = rolling_sizes if rolling else call_sizes if calls else tile_sizes
        sizes = choose(UnsizedTile(stages, loops, dims, members, machine, estimates, kept))
    sizes = on_grid(sizes[: len(dims)], members)
    if rolling:
        ahead = ROLLING_ROWS if machine.asks_for_rows() else 0  # those of the next tile
        loops = {**_loops_of(stages, members, pipeline.context, machine, rolls=True, ahead=ahead)}
    loops |= {name: _paired(inner[name], machine) for pair in joint for name in pair}
    reason = _reason(members, calls, dims[0] if rolling else None, joint)
    return TilePlan(
        group, dims, sizes, tuple(members), loops, reason, rolling, joint, row_loop=together, kept=kept or {}
    )


def plan_row_blocks(
    pipeline: Pipeline,
    group: Group,
    dims: tuple[str, ...],
    members: Sequence[Member],
    machine: Machine,
    estimates: Mapping[str, int],
    products: Mapping[str, KernelPlan],
) -> TilePlan:
    """Several stages in one loop over tiles of rows, in which register blocks compute products."""
    stages = {m.stage: pipeline.stage(m.stage) for m in members}
    inner = _loops_of(stages, members, pipeline.context, machine)
    inner |= _in_nearer_blocks(stages, inner, members, pipeline.context, machine, estimates)
    tile = UnsizedTile(stages, {**inner, **products}, dims, members, machine, estimates)
    places = overwritten(stages, members)
    own = replace(tile, members=[m for m in members if m.stage not in places])
    sizes = row_block_sizes(own, max(plan.blocks.rows for plan in products.values()))
    rows = at_once(tile, products, sizes[-1])
    reason = f"intermediates stay in the cache: {_scratch_text(members)}"
    reason += f"; {', '.join(products)} by register blocks in each tile"
    packed = [plan.contraction.right.source for plan in products.values() if plan.packed_depth]
    if packed:
        reason += f", {' and '.join(dict.fromkeys(packed))} packed once before"
    return TilePlan(
        *(group, dims, sizes, tuple(members), tile.loops, reason), rows_at_once=rows, places=places
    )


def _reason(
    members: Sequence[Member],
    calls: Mapping[str, NestPlan],
    rolling: str | None,
    joint: Sequence[Sequence[str]],
) -> str:
    """What speaks for tiles, in words; rolling: the dimension along which they keep rows."""
    parts = [f"intermediates stay in the cache: {_scratch_text(members)}"]
    if calls:
        parts.append(f"{', '.join(calls)} by library calls in each tile")
    if rolling is not None:
        parts.append(f"along {rolling} each keeps the last points that its readers still need")
    parts += [f"{' and '.join(pair)} in one loop, which loads once what both read" for pair in joint]
    return "; ".join(parts)


def _paired(plan: LoopPlan, machine: Machine) -> LoopPlan:
    """Blocks of two sums need accumulators, factors and loaded values in registers at the same time."""
    few = machine.vector_registers < MANY_REGISTERS
    return replace(plan, unroll=min(plan.unroll, ROWS_UPDATED)) if few else plan


def _can_roll(stages: Mapping[str, Stage], loops: Mapping[str, NestPlan], members: Sequence[Member]) -> bool:
    """Whether scratchpads can keep rows from one tile to the next, and that saves computing them again.

    The first tiled dimension has to be an outer loop of every stage: a ring cannot be walked by vectors.
    """
    outer = all(
        loops[m.stage].kind == "map" and m.dims[0] is not None and m.dims[0] != stages[m.stage].dims[-1]
        for m in members
    )
    return outer and any(m.scratch and sum(m.margins[0]) > 0 for m in members)


def _loops_of(
    stages: Mapping[str, Stage],
    members: Sequence[Member],
    context: Domain,
    machine: Machine,
    *,
    rolls: bool = False,
    ahead: int = 0,
) -> dict[str, LoopPlan]:
    """The loops of all stages of a tile, before any is found to be better off otherwise."""
    return {
        m.stage: _loops(
            stage, m, context, machine, rolls=rolls, ahead=ahead, block=side_by_side(stage, m, members)
        )
        for m in members
        for stage in (stages[m.stage],)
    }


def _loops(
    stage: Stage,
    member: Member,
    context: Domain,
    machine: Machine,
    *,
    rolls: bool = False,
    ahead: int = 0,
    block: int = 0,
) -> LoopPlan:
    """A stage's loops inside a tile; rolls: of one that rolls."""
    free = stores_free(member, rolls=rolls)
    found = _ahead(machine, stage, context, member.dims[block], member.private, free, ahead, block)
    return beside(stage, found, member.dims)


@remembered
def _ahead(
    machine: Machine,
    stage: Stage,
    context: Domain,
    first: str | None,
    private: bool,
    free: bool,
    ahead: int,
    block: int,
) -> LoopPlan:
    """The same, found once for all tiles along the same of its dimensions."""
    found = _inside(stage, first, private, context, machine, free=free)
    return replace(found, ahead=ahead, block=block) if ahead or block else found


def _inside(
    stage: Stage, first: str | None, private: bool, context: Domain, machine: Machine, *, free: bool
) -> LoopPlan:
    """A stage's loops inside a tile; first: the tiled dimension that blocks of rows would run along."""
    plan = plan_stage(Group((stage.name,)), stage, context, machine.vector_bits)
    plan = replace(plan, parallel=None)
    plan = in_rows(stage, plan, machine, first, free=free)
    if plan.kind == "row" and private:
        plan = replace(plan, order=(*stage.dims[:-1], *stage.accumulations[0].reduced_dims, stage.dims[-1]))
    rows = first == plan.order[0] or first in stage.dims[1:-1]
    blocks = first is not None and first != plan.vector and (plan.kind == "reduce" or rows)
    return unrolled(stage, plan, first) if blocks else plan


def _in_nearer_blocks(
    stages: Mapping[str, Stage],
    loops: Mapping[str, LoopPlan],
    members: Sequence[Member],
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
) -> dict[str, LoopPlan]:
    """The loops of those stages of a group with sums whose blocks are along a later dimension than the first.

    Rows that are neighbours in memory are computed together, so that a tile may be one point of the others.
    """
    if not any(stage.is_reduction for stage in stages.values()):
        return {}
    found = {}
    levels = levels_of_rows(loops, members)
    for member in members:
        block = max((level for level in levels if member.dims[level] is not None), default=0)
        if block > 0:
            stage = stages[member.stage]
            found[member.stage] = _loops(stage, member, context, machine, block=block)
    return found


def _scratch_text(members: Sequence[Member]) -> str:
    pads = [m.stage for m in members if m.scratch]
    return f"{', '.join(pads)} in scratchpads" if pads else "one pass over what the stages share"
