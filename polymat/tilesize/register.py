"""Register tiling: how many iterations of an outer loop run together (unroll and jam).

A block of rows shares what it loads of the other operand, and its accumulators are independent of each other,
so that the latency of one addition does not stop the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.graph.aligned import Member
from polymat.graph.planesbeside import Planes, planes_beside
from polymat.graph.stage import Stage
from polymat.lang.expr import Load
from polymat.lang.reduction import EXTREMES
from polymat.lang.traverse import loads_in, walk
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.plan.loops import LoopPlan
from polymat.tilesize.loopprice import pairing_gain

ROWS_REDUCED = 8  # accumulators of a block of sums: half of the vector registers of the smaller machines
ROWS_COMPLEX = 4  # complex accumulators, each of which takes two registers
ADDENDS = 4  # of an element of a row of results for which it is loaded and stored once
SHIFTED_BITS = 512  # of vectors that one instruction shifts
ROLLING_ROWS = 2  # new rows of a rolling tile, which a stencil computes side by side
ROWS_UPDATED = 4  # rows of results in memory, each of which is loaded and stored
WAYS = 8  # rows of an array that are read side by side: those that pages lie between meet in one set


def in_rows(
    stage: Stage, plan: LoopPlan, machine: Machine, first: str | None, *, free: bool = False
) -> LoopPlan:
    """The plan with explicit vectors: of sums, and of rows where the machine shifts across a whole vector.

    first: the dimension that the nest runs along in parts; rows that two of its points share are loaded once.
    free: whether two rows of results are stored side by side as quickly as one after the other
    (`loopprice.stores_free`); else they have to load less by more than that costs.

    With 512 bits nearly every read beside the point crosses a cache line, and one instruction takes any 16
    neighbours out of two registers; with 256 bits every other read crosses one, and a shift takes several
    instructions: there two rows of a tile share what both load, and the C compiler makes the vectors.
    """
    in_registers = stage.segments is not None or stage.op in EXTREMES
    sums = plan.kind == "reduce" or (plan.kind == "row" and in_registers)
    if sums and stage.dtype.kind == "f":
        return replace(plan, lanes=machine.lanes(stage.dtype.size))
    if plan.kind != "map" or stage.dtype.kind != "f":
        return plan
    shares = first is not None and first != stage.dims[-1] and shares_rows(stage, first)
    if machine.vector_bits < SHIFTED_BITS:
        return replace(plan, unroll=ROLLING_ROWS) if shares and plan.parallel is None else plan
    single = replace(plan, lanes=machine.lanes(stage.dtype.size), unroll=1)
    pair = replace(single, unroll=ROLLING_ROWS)
    paired = shares and (free or pairing_gain(stage, pair, first, machine) > 0.0)
    return pair if paired else single


@remembered
def beside(stage: Stage, plan: LoopPlan, ranged: tuple[str | None, ...]) -> LoopPlan:
    """The plan of a map with its planes side by side, where these share something.

    ranged: the dimensions of which the nest is given a part.
    """
    planes = None if plan.within else planes_of(stage, plan)
    return plan if planes is None or planes.dim in ranged else replace(plan, planes=planes)


def planes_of(stage: Stage, plan: LoopPlan) -> Planes | None:
    """The planes that loops of a map may have side by side, in vectors along its rows."""
    is_of_rows = plan.kind == "map" and bool(stage.dims) and plan.vector == stage.dims[-1]
    return planes_beside(stage) if is_of_rows else None


def side_by_side(stage: Stage, member: Member, members: Sequence[Member]) -> int:
    """The tiled dimension along which blocks of a stage's rows run: the first where two of them share loads.

    Before it there are tiles of one point alone, planes say: blocks are the outermost loop in a tile.
    """
    if stage.is_reduction or stage.reads_itself:
        return 0
    for level, dim in enumerate(member.dims):
        if dim is not None and dim != stage.dims[-1] and shares_rows(stage, dim):
            return level
        if any(each.margins[level] != (0, 0) for each in members):
            break
    return 0


@remembered
def shares_rows(stage: Stage, dim: str) -> bool:
    """Whether points next to each other along a dimension read the same elements."""
    rows: dict[tuple[int, object], set[int]] = {}
    for load in stage.loads():
        for position, form in enumerate(load.indices):
            if (step := form.coefficient(dim)) > 0:
                others = tuple(other for k, other in enumerate(load.indices[:-1]) if k != position)
                key = step, (load.source.name, position, others, form - form.const)
                rows.setdefault(key, set()).add(form.const)
    return any(row + step in found for (step, _), found in rows.items() for row in found)


def unrolled(stage: Stage, plan: LoopPlan, along: str | None = None) -> LoopPlan:
    """The plan with its outermost loop unrolled, where iterations share loads.

    along: the dimension of a tile of which iterations run together, instead of the outermost one.
    "reduce": points of the result side by side, but for what is computed before it is compared: that fills
    rows of terms first; "row": rows of results side by side, or (over the outermost loop) addends side by
    side, for one row what is compared, too, pair by pair, since C compilers do not vectorise a chain of
    comparisons (measured: 3 to 15 times slower).  Sums between bounds that data give have rows of their own.
    """
    if not plan.adds_up or not plan.order or stage.segments is not None:
        return plan
    if plan.kind == "reduce" and compares_computed(stage):
        return replace(plan, terms=True)
    summed = ROWS_COMPLEX if stage.dtype.kind == "c" else ROWS_REDUCED
    if plan.kind == "row" and len(stage.dims) < 2:
        return replace(plan, addends=ADDENDS) if stage.op in EXTREMES else replace(plan, unroll=summed)
    loads = sum(isinstance(n, Load) for a in stage.accumulations for n in walk(a.expr))
    if not stage.dims or loads > ROWS_REDUCED:
        return plan
    if plan.kind == "reduce":
        return replace(plan, unroll=summed) if _is_safe(stage, plan.order[-1]) else plan
    return replace(plan, unroll=_rows_updated(stage, along or plan.order[0]), addends=ADDENDS)


def _rows_updated(stage: Stage, along: str) -> int:
    """Rows of results side by side: fewer sums where each of them adds up rows of its own."""
    if stage.op in EXTREMES:
        return ROWS_UPDATED
    vector = stage.dims[-1]

    def is_apart(load: Load, reduced: Sequence[str]) -> bool:
        names = {name for form in load.indices for name in form.names()}
        is_row = bool(load.indices) and bool(load.indices[-1].coefficient(vector))
        return is_row and along in names and not names.isdisjoint(reduced)

    apart = any(
        is_apart(node, added.reduced_dims)
        for added in stage.accumulations
        for node in walk(added.expr)
        if isinstance(node, Load)
    )
    return min(ROWS_UPDATED, WAYS // ADDENDS) if apart else ROWS_UPDATED


def compares_computed(stage: Stage) -> bool:
    """Whether a stage is the least or largest of what is computed from elements, not of elements."""
    if stage.op not in EXTREMES or stage.dtype.kind != "f":
        return False
    return not any(isinstance(a.expr, Load) for a in stage.accumulations)


def _is_safe(stage: Stage, inner: str) -> bool:
    """Whether gcc reads no more than what a block of sums needs.

    Of complex sums side by side, gcc 12 loads an operand whose steps along the sum are not neighbours also
    from the next iterations, beyond the end of the array.
    """
    if stage.dtype.kind != "c":
        return True
    loads = (n for a in stage.accumulations for n in loads_in(a.expr))
    return all(
        load.indices[-1].coefficient(inner) in (0, 1)
        and not any(f.coefficient(inner) for f in load.indices[:-1])
        for load in loads
        if load.indices
    )
