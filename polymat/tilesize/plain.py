"""Plain loops: the user's own order, parallel outside, contiguous inside, untiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import lcm
from types import MappingProxyType

from polymat.errors import InternalError
from polymat.graph.group import Group
from polymat.graph.recurrence import recurrence_statements
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine, FloorDiv
from polymat.lang.expr import Binary, Load
from polymat.lang.traverse import loads_in, walk
from polymat.model.extents import extent
from polymat.plan.loops import LoopPlan
from polymat.poly.access import Access
from polymat.poly.blockwise import blocks_are_parallel
from polymat.poly.domain import Domain
from polymat.poly.order import Assignment, Circle, Order, accumulation_is_parallel, find_order
from polymat.poly.pipelined import pipelined
from polymat.poly.staggered import staggered

IN_ORDER = "points run after those that they read"
IN_TURNS = f"{IN_ORDER}; rows take turns, so that none waits for the point right before it"
FEW = 16  # points of a dimension that many threads, or two, cannot share evenly: of three planes, two and one
SPARE = 1  # columns more between rows that are lanes of a vector: it is shifted while the next turn runs
SHORT_BYTES = 32  # of a row of addends, of known length, that is not worth a vector of its own
LEAST_LANES = 8  # of vectors of which a row of addends has to fill some before it is worth them
SHORT_VECTORS = 2  # so many of such
NO_SIZES: Mapping[str, int] = MappingProxyType({})


def plan_stage(
    group: Group,
    stage: Stage,
    context: Domain,
    vector_bits: int = 0,
    given: Mapping[str, int] = NO_SIZES,
) -> LoopPlan:
    """The loops of one stage by itself.

    vector_bits: of vectors, 0 where that does not matter.  given: what the user expects of sizes.
    """
    if stage.reads_itself:
        return _recurrence(group, stage, context)
    outer = shared_dim(stage)
    if not stage.is_reduction:
        inner = stage.dims[-1] if stage.dims else None
        return LoopPlan(group, "map", stage.dims, outer, inner, "every point is independent")
    if not all(accumulation.is_aligned for accumulation in stage.accumulations):
        return _scatter(group, stage, context)
    reduced = max((a.reduced_dims for a in stage.accumulations), key=len)
    lanes = vector_bits // 8 // stage.dtype.size
    is_long = lanes >= LEAST_LANES and len(stage.dims) > 1  # one row alone may be longer than the caches
    few = max(SHORT_BYTES // stage.dtype.size, SHORT_VECTORS * lanes if is_long else 0)
    if stage.dims and _prefers_row(stage, few, given):
        return _by_rows(group, stage, reduced, few, given)
    return LoopPlan(
        group,
        "reduce",
        (*stage.dims, *reduced),
        outer,
        reduced[-1] if reduced else None,
        "each point is summed up in a register",
    )


def _by_rows(
    group: Group, stage: Stage, reduced: tuple[str, ...], few: int, given: Mapping[str, int]
) -> LoopPlan:
    """Rows of results: threads share blocks of them, along the outermost loop, and of one row its points.

    Not those of one row whose addends are far apart: its parts would read parts of many lines.
    """
    row = stage.dims[-1]
    short = all(
        _is_short(stage, a, few, given) and _is_contiguous(a, a.reduced_dims[-1]) for a in stage.accumulations
    )
    why = f"and {reduced[-1]} has too few points for a vector" if short else f"not along {', '.join(reduced)}"
    return LoopPlan(
        group,
        "row",
        (*stage.dims[:-1], *reduced, row),
        shared_dim(stage) if short else stage.dims[0] if len(stage.dims) > 1 else None,
        row,
        f"the loads are contiguous along {row}, {why}",
    )


def shared_dim(stage: Stage) -> str | None:
    """The dimension that threads share: the outermost, and of a few planes their rows."""
    sizes = [high - low + 1 for low, high in stage.box]
    long = (dim for dim, n in zip(stage.dims, sizes, strict=True) if not n.is_constant or n.const >= FEW)
    return next(long, stage.dims[0] if stage.dims else None)


def _recurrence(group: Group, stage: Stage, context: Domain) -> LoopPlan:
    statements = recurrence_statements(stage, context)
    order = find_order(statements, context)
    if isinstance(order, Circle):
        raise InternalError(f"bug in polymat: {stage.name} was verified but has no order")
    order = staggered(order, statements, SPARE if _divides(stage) else 0)
    order = pipelined(order, statements) if _has_every_step(stage, statements) else order
    names = _level_names(stage, order)
    parallel = next((names[level] for level in order.loops if order.parallel[level]), None)
    reason = IN_ORDER if order.turns is None else IN_TURNS
    alone = next((dim for dim, flag in zip(stage.dims, order.independent, strict=False) if flag), None)
    outwards = alone is not None and alone != stage.dims[0]
    if order.trailing is not None:
        parallel = stage.dims[0]
        reason += f"; threads take steps along {parallel} by turns, each behind the one before"
    if outwards:
        parallel = alone
        reason += f"; none reads at another {alone}, so each thread runs all loops for a part of its range"
    return LoopPlan(group, "recurrence", names, parallel, None, reason, order, outwards)


def _has_every_step(stage: Stage, statements: Sequence[Assignment]) -> bool:
    """Whether something runs right before each step but the first of the box: threads wait for it."""
    step, first = stage.dims[0], stage.box[0][0]
    if any(each.domain.dims[:1] != (step,) for each in statements):
        return False
    steps = reduce(Domain.union, (each.domain.onto([step]) for each in statements))
    begins = steps.subtract(steps.moved(step, 1))
    return begins.subtract(begins.between(step, first, first + 1)).is_empty()


def _divides(stage: Stage) -> bool:
    """Whether points divide, which vectors do in less time than one point after the other."""
    nodes = (node for part in stage.parts for node in walk(part.expr))
    return any(isinstance(node, Binary) and node.op == "/" for node in nodes)


def _level_names(stage: Stage, order: Order) -> tuple[str, ...]:
    """Names of schedule dimensions: the stage's own, those that are summed over, else c1, c2, ...

    There may be fewer than the stage has: isl leaves out those that have one value only.
    """
    depth = len(order.parallel)
    names = list(stage.dims[:depth])
    summed = max((a.reduced_dims for a in stage.accumulations), key=len, default=())
    known = dict(zip(order.loops[len(stage.dims) :], summed, strict=False)) if order.independent else {}
    for level in range(len(names), depth):
        name = known.get(level, f"c{level}")
        while name in (*names, *(known.values() if level not in known else ()), *stage.domain.params):
            name += "_"
        names.append(name)
    return tuple(names)


def _scatter(group: Group, stage: Stage, context: Domain) -> LoopPlan:
    """Into computed elements: parallel along the outermost loop of which two iterations never meet.

    Or two blocks of them, as of eight rows that go to the cells of i // 8.
    """
    first, reason = stage.accumulations[0], "the target of the sum is computed"
    if all(item.dims == first.dims for item in stage.accumulations):
        writes = [Access.of(item.domain.assume(context), item.target) for item in stage.accumulations]
        for dim in first.dims:
            if all(accumulation_is_parallel(each, dim) for each in writes):
                return LoopPlan(group, "scatter", first.dims, dim, None, reason)
        for dim in first.dims:
            size = _block_size(stage, dim)
            pairs = zip(writes, stage.accumulations, strict=True)
            if size > 1 and all(blocks_are_parallel(w, dim, _first(a, dim), size) for w, a in pairs):
                reason += f", and by blocks of {size} along {dim} they are others"
                return LoopPlan(group, "scatter", first.dims, dim, None, reason, cut=size)
    return LoopPlan(group, "scatter", first.dims, None, None, reason)


def _block_size(stage: Stage, dim: str) -> int:
    """Iterations of a dimension that may go to one place, since it is divided there."""
    atoms = [atom for item in stage.accumulations for form in item.target for atom, _ in form.terms]
    divisions = [atom for atom in atoms if isinstance(atom, FloorDiv) and dim in atom.numerator.names()]
    return lcm(*(atom.divisor for atom in divisions))


def _first(accumulation: Accumulation, dim: str) -> Affine:
    """Where the loop along a dimension begins."""
    return accumulation.box[accumulation.dims.index(dim)][0]


def own_names(stage: Stage, accumulation: Accumulation) -> dict[str, str]:
    """For an aligned accumulation: its own name for each dimension of the stage."""
    return {d: next(form.names()) for d, form in zip(stage.dims, accumulation.target, strict=True)}


def _prefers_row(stage: Stage, few: int, given: Mapping[str, int]) -> bool:
    """Whether the last result dimension walks all loads contiguously and the last reduced one does not.

    Or has too few points for a vector, as the five taps of a filter have.  few: so many at most are.
    """
    rows = []
    if stage.segments is not None and own_names(stage, stage.accumulations[0])[stage.dims[-1]] in (
        stage.segments.names()
    ):
        return False
    for accumulation in stage.accumulations:
        if not accumulation.reduced_dims:
            return False
        last, reduced = own_names(stage, accumulation)[stage.dims[-1]], accumulation.reduced_dims[-1]
        rows.append(
            _is_contiguous(accumulation, last)
            and (not _is_contiguous(accumulation, reduced) or _is_short(stage, accumulation, few, given))
        )
    return all(rows)


def _is_short(stage: Stage, accumulation: Accumulation, few: int, given: Mapping[str, int]) -> bool:
    """Whether rows of addends have few terms, and fewer than rows of the result, as far as that is known.

    Where nothing says how many, whether they are a window, which mostly has few.
    """
    place = accumulation.dims.index(accumulation.reduced_dims[-1])
    (low, high), (first, last) = accumulation.box[place], stage.box[-1]
    taps, row = _known(high - low + 1, given), _known(last - first + 1, given)
    if taps is None:
        return len(stage.dims) > 1 and _slides(stage, accumulation)
    return taps <= few and (row is None or row > taps)


def _slides(stage: Stage, accumulation: Accumulation) -> bool:
    """Whether a window slides along the rows, of a number of points that the call tells.

    Windows mostly have few points.  Rows of results lose a fourth where these are hundreds, and vectors of
    taps take up to ten times as long where they are few.
    """
    own, tap = own_names(stage, accumulation)[stage.dims[-1]], accumulation.reduced_dims[-1]
    low, high = accumulation.box[accumulation.dims.index(tap)]
    names = {*low.names(), *high.names()}
    if not names or not names <= {*stage.domain.params}:
        return False
    return any(
        {own, tap} <= {*load.indices[-1].names()} for load in loads_in(accumulation.expr) if load.indices
    )


def _known(size: Affine, given: Mapping[str, int]) -> int | None:
    """A size, where it is a number or follows from what the user expects."""
    return int(extent(size, given)) if all(name in given for name in size.names()) else None


def _is_contiguous(accumulation: Accumulation, dim: str) -> bool:
    """Whether every load moves by 0 or 1 element along a dimension."""
    return all(_is_stride_unit(node, dim) for node in loads_in(accumulation.expr))


def _is_stride_unit(load: Load, dim: str) -> bool:
    moving = [form for form in load.indices if dim in form.names()]
    if not moving:
        return True
    return moving == [load.indices[-1]] and load.indices[-1].coefficient(dim) in (1, -1)
