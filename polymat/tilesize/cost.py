"""Predicted seconds of a group: the larger of its arithmetic and of its data movement, plus fixed costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.types import real_part
from polymat.machine.model import MEMORY, Machine
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import FlatPlan, NestPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.product.shares import Share
from polymat.tilesize.balance import pieces, waiting
from polymat.tilesize.entering import entering_seconds
from polymat.tilesize.farresults import results_again
from polymat.tilesize.farrows import rows_again
from polymat.tilesize.home import Home
from polymat.tilesize.kernelplanner import computing_operations, tiled_operations
from polymat.tilesize.loopprice import OVERLAP_LOSS, loop_operations
from polymat.tilesize.rowends import has_ends
from polymat.tilesize.shortloops import computed_bytes
from polymat.tilesize.stagework import VECTOR_SHARE, part_points, stage_operations
from polymat.tilesize.stateplanes import planes_apart, unchanged_parts
from polymat.tilesize.tiling import TileDemand, tiling_of
from polymat.tilesize.traffic import array_bytes, sizes_of, traffic

# What it costs to read rows in pieces, since hardware prefetch starts anew with each: of caches, and of
# memory where nobody measured it.
SPLIT_ROWS = 0.05


@dataclass(frozen=True, slots=True)
class PlanCost:
    """The predicted time of a plan, by its parts.

    computing, moving, entering: seconds of arithmetic, of data movement, and to enter a parallel region.
    bytes: that go from and to the arrays of the pipeline, wherever these live.
    level: the nearest one of memory that holds all of these arrays; some bytes may come from nearer ones.
    apart: seconds of the movement that arithmetic waits for.
    """

    computing: float
    moving: float
    entering: float
    bytes: float
    level: int
    apart: float = 0.0

    @property
    def seconds(self) -> float:
        """The longer of arithmetic and data movement, what it does not hide of the shorter, and the rest."""
        shorter, longer = sorted((self.computing, self.moving))
        apart = min(self.apart, shorter)
        return longer + apart + OVERLAP_LOSS * (shorter - apart) + self.entering

    def explain(self) -> str:
        """The terms in words."""
        place = "memory" if self.level == MEMORY else f"L{self.level}"
        return (
            f"{self.seconds:.3g} s: computing {self.computing:.3g} s, "
            f"{self.bytes:.3g} bytes from and to {place} {self.moving:.3g} s, "
            f"parallel region {self.entering:.3g} s"
        )


def plan_cost(
    pipeline: Pipeline,
    plan: Plan,
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    home: Home,
) -> PlanCost:
    """Predicted time of one group's plan; `home` is where the pipeline's arrays live between groups.

    A group runs on the calling thread where that is faster, or where nothing of it can be shared.  Where a
    plan needs both planes of a state, what would be one array is two, which may live further away.
    """
    if planes_apart(pipeline, plan):
        home = Home.of(pipeline, machine, estimates, plan, as_measured=home.as_measured)
    demand = _demand(pipeline, plan, machine, estimates)
    alone = _cost_on(demand, machine, estimates, 1, home)
    if threads == 1 or not plan.is_shared:
        return alone
    last = pipeline.stage(plan.group.stages[-1])
    entering = entering_seconds(plan, last, machine, estimates, threads)
    together = _cost_on(demand, machine, estimates, threads, home, entering)
    return min(alone, together, key=lambda cost: cost.seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Demand:
    """What a plan asks of a machine, by however many threads it is carried out.

    operations: of loops, whose speed the team does not change.  anew: those of each further thread besides,
    which begins in the middle.  others: the stages that are no loops, their plans, how often their points are
    computed, and what of them a tile has.  widest: bytes of the largest real number.  moved: bytes between
    tiles and where arrays live.  again: bytes of rows that are read again, by the level that they come from;
    rewritten: those of results that sums read and write again.
    pieces: that threads may share, if anything says how many.  tiling: what its tiles add.
    copied: bytes of arrays that are copied while nothing is computed.
    """

    operations: float
    anew: float
    others: tuple[tuple[Stage, NestPlan, float, Share], ...]
    widest: int
    moved: float
    again: Mapping[int, float]
    rewritten: Mapping[int, float]
    pieces: float | None
    tiling: TileDemand
    copied: float


def _demand(pipeline: Pipeline, plan: Plan, machine: Machine, estimates: Mapping[str, int]) -> _Demand:
    stages = [pipeline.stage(name) for name in plan.group.stages]
    by_name = {stage.name: stage for stage in stages}
    tiling = tiling_of(pipeline, plan, stages, machine, estimates)
    operations, anew, widest = 0.0, 0.0, max(computed_bytes(stage) for stage in stages)
    others = []
    again: dict[int, float] = defaultdict(float)
    rewritten: dict[int, float] = defaultdict(float)
    unchanged = unchanged_parts(pipeline, plan)
    for stage in stages:
        loops, often = plan.part(stage.name), tiling.often.get(stage.name, 1.0)
        if isinstance(loops, LoopPlan):
            parts = unchanged.get(stage.name, frozenset())
            ends = has_ends(pipeline, plan, stage, loops, estimates)
            known = loop_operations(plan, stage, loops, machine, estimates, widest, parts, ends=ends)
            operations += known * often
            anew += known * often * tiling.anew.get(stage.name, 0.0)
            for level, size in _rows_again(plan, stage, loops, machine, estimates).items():
                again[level] += size * often
            member, sizes = plan.member(stage.name), [*plan.tile_sizes.values()]
            for level, size in results_again(stage, loops, machine, estimates, member, sizes).items():
                rewritten[level] += size * often
        else:
            others.append((stage, loops, often, _in_tile(plan, loops, estimates)))
    operations += tiling.ends + tiling.copies
    moved = _moved(pipeline, plan, by_name, tiling, unchanged, machine, estimates)
    return _Demand(
        operations,
        anew,
        tuple(others),
        widest,
        moved,
        again,
        rewritten,
        pieces(plan, by_name, tiling.repeats, estimates),
        tiling,
        sum(sizes_of(pipeline, estimates)[name] for name in sorted(plan.copied_first)),
    )


def _moved(
    pipeline: Pipeline,
    plan: Plan,
    by_name: Mapping[str, Stage],
    tiling: TileDemand,
    unchanged: Mapping[str, frozenset[int]],
    machine: Machine,
    estimates: Mapping[str, int],
) -> float:
    """Bytes between tiles and where arrays live; unchanged: parts of stages that stay as they are."""
    scratch = {*tiling.scratch, *plan.absorbed}
    lines, fits, stages = machine.line_bytes, tiling.fits, [*by_name.values()]
    moved = traffic(pipeline, stages, scratch, estimates, line_bytes=lines, near=tiling.near, again=not fits)
    moved -= sum(array_bytes(by_name[name], estimates) for name in plan.read_back)
    moved += sum(2 * array_bytes(by_name[name], estimates) for name in plan.added_to)
    moved += sum(array_bytes(stage, estimates) for stage in planes_apart(pipeline, plan))  # fetched to write
    moved -= sum(
        2 * by_name[name].dtype.size * part_points(by_name[name], by_name[name].parts[number], estimates)
        for name, parts in unchanged.items()
        if name in by_name
        for number in parts
    )
    return moved if plan.moved is None else plan.moved


def _rows_again(
    plan: Plan, stage: Stage, loops: LoopPlan, machine: Machine, estimates: Mapping[str, int]
) -> Mapping[int, float]:
    """Rows that a stage reads again by level; of stages in one loop over rows, registers keep them."""
    if plan.row_loop is not None:
        return {}
    return rows_again(stage, loops, machine, estimates, plan.member(stage.name), [*plan.tile_sizes.values()])


def _cost_on(
    demand: _Demand,
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    home: Home,
    entering: float = 0.0,
) -> PlanCost:
    """Predicted time on so many threads, of which some wait where the pieces do not go round."""
    widest, tiling = demand.widest, demand.tiling
    runs = threads if demand.pieces is None else min(threads, demand.pieces)
    arithmetic = demand.operations + (runs - 1) * demand.anew
    arithmetic += sum(
        _nest_operations(stage, loops, share, estimates, machine, widest, threads) * often
        for stage, loops, often, share in demand.others
    )
    peak = machine.peak_flops(widest, threads) * VECTOR_SHARE / waiting(demand.pieces, threads)
    moved = demand.moved + threads * tiling.private
    return PlanCost(
        computing=arithmetic / peak,
        moving=home.seconds(moved, machine, threads)
        * (1.0 + _split_loss(tiling, machine, home) + tiling.starts)
        + tiling.padded / machine.bandwidth(tiling.level, threads)
        + tiling.passed / machine.bandwidth(tiling.passed_level, threads)
        + sum(size / machine.bandwidth(far, threads) for far, size in demand.again.items())
        + sum(size / machine.bandwidth(far, threads, "copy") for far, size in demand.rewritten.items()),
        entering=entering,
        bytes=moved,
        level=home.level,
        apart=home.seconds(min(demand.copied, moved), machine, threads),
    )


def _split_loss(tiling: TileDemand, machine: Machine, home: Home) -> float:
    """What rows in pieces add to the time of movement, a share of it."""
    if not tiling.split:
        return 0.0
    measured = machine.pieces_loss(tiling.piece) if home.level == MEMORY else None
    return tiling.split * SPLIT_ROWS if measured is None else measured


def _in_tile(plan: Plan, loops: NestPlan, estimates: Mapping[str, int]) -> Share:
    """How much of a product's dimensions the rows of a tile have; nothing of one that is computed whole."""
    if not isinstance(plan, TilePlan) or not isinstance(loops, KernelPlan):
        return {}
    member = next(each for each in plan.members if each.stage in loops.group.stages)
    tiled = zip(member.dims, plan.sizes, strict=True)
    return {
        dim: min(size, loops.contraction.length(dim, estimates)) for dim, size in tiled if dim is not None
    }


def _nest_operations(
    stage: Stage,
    loops: NestPlan,
    share: Share,
    estimates: Mapping[str, int],
    machine: Machine,
    widest: int,
    threads: int,
) -> float:
    """Operations of a stage in loops on elements of `widest` bytes that would take the time of its plan."""
    match loops:
        case KernelPlan():
            peaks = [machine.peak_flops(size, threads) for size in (widest, loops.element_bytes)]
            if share:
                operations = tiled_operations(loops, estimates, share, threads)
            else:
                operations = computing_operations(loops, estimates, threads)
            return operations * VECTOR_SHARE * peaks[0] / peaks[1]
        case FlatPlan():  # whose price is in operations on elements of the result
            sizes = (widest, real_part(loops.stage.dtype).size)
            peaks = [machine.peak_flops(size, threads) for size in sizes]
            return stage_operations(stage, estimates) * loops.slowdown(threads) * peaks[0] / peaks[1]
        case _:
            return stage_operations(stage, estimates) * loops.slowdown(threads)
