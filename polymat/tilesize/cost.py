"""Predicted seconds of a group: the larger of its arithmetic and of its data movement, plus fixed costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polymat.graph.alignment import Member
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.types import real_part
from polymat.machine.model import MEMORY, Machine
from polymat.model.estimates import once_a_stage
from polymat.model.extents import tile_size
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import FlatPlan, NestPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.balance import pieces, waiting
from polymat.tilesize.kernel import computing_operations
from polymat.tilesize.shortloops import (
    computed_bytes,
    loop_lengths,
    short_rows_slowdown,
    starting_operations,
)
from polymat.tilesize.stagework import loop_slowdown, own_name_in, stage_operations
from polymat.tilesize.tileshape import levels_of_rows
from polymat.tilesize.traffic import array_bytes, input_bytes, traffic

SPLIT_ROWS = 0.05  # what it costs to read rows in pieces: hardware prefetch starts anew with each
OVERLAP_LOSS = 0.3  # of the shorter one of arithmetic and data movement that the longer one does not hide
VECTOR_SHARE = 0.25  # of the peak that compiler-vectorised loops reach
ROW_LOOP_SHARE = 0.4  # of the peak that stages in one loop over registers reach


@dataclass(frozen=True, slots=True)
class PlanCost:
    """The predicted time of a plan, by its parts.

    computing, moving, entering: seconds of arithmetic, of data movement, and to enter a parallel region.
    operations: scalar operations, slowed down and repeated ones counted as often.  bytes: moved from and to
    the level of memory where the pipeline's arrays live.
    """

    computing: float
    moving: float
    entering: float
    operations: float
    bytes: float
    level: int

    @property
    def seconds(self) -> float:
        """The longer of arithmetic and data movement, what it does not hide of the shorter, and the rest."""
        shorter, longer = sorted((self.computing, self.moving))
        return longer + OVERLAP_LOSS * shorter + self.entering

    def explain(self) -> str:
        """The terms in words."""
        place = "memory" if self.level == MEMORY else f"L{self.level}"
        return (
            f"{self.seconds:.3g} s: {self.operations:.3g} operations {self.computing:.3g} s, "
            f"{self.bytes:.3g} bytes from and to {place} {self.moving:.3g} s, "
            f"parallel region {self.entering:.3g} s"
        )


def plan_cost(
    pipeline: Pipeline,
    plan: Plan,
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    level: int,
) -> PlanCost:
    """Predicted time of one group's plan; `level` is where the pipeline's arrays live between groups.

    A group runs on the calling thread where that is faster, or where nothing of it can be shared.
    """
    demand = _demand(pipeline, plan, machine, estimates)
    alone = _cost_on(demand, machine, estimates, 1, level)
    if threads == 1 or (isinstance(plan, NestPlan) and plan.parallel is None):
        return alone
    together = _cost_on(demand, machine, estimates, threads, level)
    return min(alone, together, key=lambda cost: cost.seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Demand:
    """What a plan asks of a machine, by however many threads it is carried out.

    operations: of loops, whose speed the team does not change.  others: the stages that are no loops, their
    plans, and how often their points are computed.  widest: bytes of the largest real
    number.  moved: bytes between tiles and where arrays live.  private: bytes of a thread's copies.  padded:
    bytes to and from scratchpads beyond the first-level cache.  split: tiled dimensions that cut rows.
    share: of the peak that its loops reach.  pieces: that threads may share, if anything says how many.
    """

    operations: float
    others: tuple[tuple[Stage, NestPlan, float], ...]
    widest: int
    moved: float
    private: float
    padded: float
    split: int
    share: float
    pieces: float | None


def _demand(pipeline: Pipeline, plan: Plan, machine: Machine, estimates: Mapping[str, int]) -> _Demand:
    stages = [pipeline.stage(name) for name in plan.group.stages]
    by_name = {stage.name: stage for stage in stages}
    members = {m.stage: m for m in plan.members} if isinstance(plan, TilePlan) else {}
    repeats = _tile_counts(plan, by_name, estimates)
    operations = 0.0
    others = []
    for stage in stages:
        loops, often = _plan_of(stage, plan), redundancy(members.get(stage.name), plan, repeats)
        if isinstance(loops, LoopPlan):
            operations += _loop_operations(stage, loops, machine, estimates) * often
        else:
            others.append((stage, loops, often))
    written = 0.0
    if isinstance(plan, TilePlan):
        written = tile_size(by_name, plan.members, estimates)(plan.sizes)
    fits = _tile_fits(pipeline, plan, stages, machine, estimates, written)
    scratch = {m.stage for m in members.values() if m.scratch} if fits else set()
    scratch.update(plan.absorbed if isinstance(plan, NestPlan) else ())
    moved = traffic(pipeline, stages, scratch, estimates, again=not fits)
    if isinstance(plan, EpiloguePlan) and plan.product not in scratch:
        moved -= array_bytes(stages[0], estimates)  # written, and read from the cache
    return _Demand(
        operations,
        tuple(others),
        max(computed_bytes(stage) for stage in stages),
        moved,
        sum(array_bytes(by_name[name], estimates) for name, m in members.items() if m.private),
        _padded(plan, by_name, machine, estimates, written) if fits else 0.0,
        _split_rows(plan),
        ROW_LOOP_SHARE if isinstance(plan, TilePlan) and plan.row_loop is not None else VECTOR_SHARE,
        pieces(plan, by_name, repeats, estimates),
    )


def _loop_operations(stage: Stage, loops: LoopPlan, machine: Machine, estimates: Mapping[str, int]) -> float:
    """Operations that a stage's loops are worth."""
    lanes = machine.lanes(computed_bytes(stage)), machine.lanes(stage.dtype.size)
    return _operations_of(stage, estimates, loops, *lanes)


@once_a_stage
def _operations_of(
    stage: Stage, estimates: Mapping[str, int], loops: LoopPlan, computed: int, stored: int
) -> float:
    """The same, found once for all groups in which the stage has these loops; lanes of its vectors."""
    each = stage_operations(stage, estimates) * loop_slowdown(loops, 1)
    each *= short_rows_slowdown(stage, loops, computed, VECTOR_SHARE)
    return each + starting_operations(stage, loops, estimates, stored)


def _cost_on(
    demand: _Demand, machine: Machine, estimates: Mapping[str, int], threads: int, level: int
) -> PlanCost:
    """Predicted time on so many threads, of which some wait where the pieces do not go round."""
    widest = demand.widest
    arithmetic = demand.operations + sum(
        _nest_operations(stage, loops, estimates, machine, widest, threads) * often
        for stage, loops, often in demand.others
    )
    peak = machine.peak_flops(widest, threads) * demand.share / waiting(demand.pieces, threads)
    moved = demand.moved + threads * demand.private
    speed = machine.bandwidth(level, threads) / (1.0 + SPLIT_ROWS * demand.split)
    return PlanCost(
        computing=arithmetic / peak,
        moving=moved / speed + demand.padded / machine.bandwidth(2, threads),
        entering=machine.region_seconds if threads > 1 else 0.0,
        operations=arithmetic,
        bytes=moved,
        level=level,
    )


def _plan_of(stage: Stage, plan: Plan) -> NestPlan:
    """The plan of one stage of a group."""
    if isinstance(plan, NestPlan):
        return plan.part(stage.name) if isinstance(plan, EpiloguePlan) else plan
    return plan.loops[stage.name]


def _nest_operations(
    stage: Stage, loops: NestPlan, estimates: Mapping[str, int], machine: Machine, widest: int, threads: int
) -> float:
    """Operations of a stage in loops on elements of `widest` bytes that would take the time of its plan."""
    if isinstance(loops, KernelPlan):
        peaks = [machine.peak_flops(size, threads) for size in (widest, loops.element_bytes)]
        return computing_operations(loops, estimates, threads) * VECTOR_SHARE * peaks[0] / peaks[1]
    if isinstance(loops, FlatPlan):  # whose price is in operations on elements of the result
        peaks = [machine.peak_flops(size, threads) for size in (widest, real_part(loops.stage.dtype).size)]
        return stage_operations(stage, estimates) * loops.slowdown(threads) * peaks[0] / peaks[1]
    return stage_operations(stage, estimates) * loop_slowdown(loops, threads)


def _padded(
    plan: Plan, stages: Mapping[str, Stage], machine: Machine, estimates: Mapping[str, int], written: float
) -> float:
    """Bytes to scratchpads in the second-level cache and back; none where the first holds them.

    written: bytes that the stages of one tile write.  What a library writes there is part of its own time.
    """
    if not isinstance(plan, TilePlan) or written <= machine.l1_bytes:
        return 0.0
    one = plan.row_loop is not None  # it keeps in memory only what the next tile needs
    loops = [m for m in plan.members if m.scratch and not plan.loops[m.stage].routines]
    pads = [m.stage for m in loops if not one or sum(m.margins[0]) > 0]
    return sum(2 * array_bytes(stages[name], estimates) for name in pads)


def _split_rows(plan: Plan) -> int:
    """Tiled dimensions that cut contiguous rows into pieces; a row loop asks for what comes itself."""
    if not isinstance(plan, TilePlan) or plan.row_loop is not None:
        return 0
    return len(plan.dims) - len(levels_of_rows(plan.loops, plan.members))


def _tile_fits(
    pipeline: Pipeline,
    plan: Plan,
    stages: Sequence[Stage],
    machine: Machine,
    estimates: Mapping[str, int],
    written: float,
) -> bool:
    """Whether what one tile reads and writes, the latter `written` bytes, stays in the second-level cache."""
    if not isinstance(plan, TilePlan):
        return True
    by_name = {stage.name: stage for stage in stages}
    inputs = {array.name: array for array in pipeline.inputs}
    pieces: dict[str, float] = {}
    for member in plan.members:
        stage = by_name[member.stage]
        for load in stage.loads():
            name = load.source.name
            if name in by_name:
                continue
            if name in inputs:
                whole = input_bytes(inputs[name], estimates)
            else:
                whole = array_bytes(pipeline.stage(name), estimates)
            used = {n for form in load.indices for n in form.names()}
            for level, dim in enumerate(member.dims):
                if dim is not None and own_name_in(stage, dim, used):
                    length = member.scale(level) * _length(stage, dim, estimates)
                    whole *= min(1.0, plan.sizes[level] / max(1.0, length))
            pieces[name] = max(pieces.get(name, 0.0), whole)
    return written + sum(pieces.values()) <= machine.l2_bytes


def redundancy(member: Member | None, plan: Plan, repeats: Sequence[float]) -> float:
    """How often a point is computed, on average: more than once in the margins of overlapped tiles.

    A stage without a dimension along a tiled one is computed by each of its `repeats` tiles.
    """
    if member is None or not isinstance(plan, TilePlan):
        return 1.0
    factor = 1.0
    for level, size in enumerate(plan.sizes):
        own = member.dims[level] is not None
        if plan.rolling and level == 0:
            continue  # every stage goes on where it ended
        factor *= member.points(level, size) * member.scale(level) / size if own else repeats[level]
    return factor


def _tile_counts(plan: Plan, stages: Mapping[str, Stage], estimates: Mapping[str, int]) -> list[float]:
    """How many tiles there are along each tiled dimension."""
    if not isinstance(plan, TilePlan):
        return []
    counts = []
    for level, size in enumerate(plan.sizes):
        lengths = [
            m.scale(level) * _length(stages[m.stage], dim, estimates)
            for m in plan.members
            if (dim := m.dims[level]) is not None
        ]
        counts.append(max(1.0, max(lengths, default=1.0) / size))
    return counts


def _length(stage: Stage, dim: str, estimates: Mapping[str, int]) -> float:
    """Extent of a dimension of a stage, one of the result or a reduced one."""
    return loop_lengths(stage, estimates).get(dim, 1.0)
