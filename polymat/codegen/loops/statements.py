"""The statements of a stage for each kind of loop plan, with their schedules."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import Literal, Stmt
from polymat.codegen.loops.alternating import Piece, joined_turns
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.nestloops import Body, NestStatement, Point
from polymat.dataclass import dataclass
from polymat.graph.planesbeside import Planes
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.neutral import neutral
from polymat.poly.access import Access
from polymat.poly.blockwise import blocks_never_meet
from polymat.poly.isltext import encode
from polymat.tilesize.plain import own_names

PHASE, PIECE = "_pm_phase", "_pm_piece"


@dataclass(frozen=True, slots=True, eq=False)
class Statements:
    """The statements of a nest, over the dimensions of its schedule.

    levels: names of the schedule dimensions.  locals: the stages that have an accumulator per point.
    """

    items: tuple[NestStatement, ...]
    levels: tuple[str, ...]
    locals: tuple[Stage, ...] = ()


def map_statements(
    bodies: BodyWriter,
    stage: Stage,
    along: Sequence[str | None],
    order: Sequence[str],
    vector: str | None,
    planes: Planes | None = None,
) -> Statements:
    """`stage[point] = expr`, piece after piece of its parts, with its dimensions in the given order.

    Pieces that take turns along an innermost loop on vectors are one, whose points choose.  A part that is
    no rectangle, as a border is none, runs in loops of its own for each of its pieces: in one nest every row
    would ask which of them it belongs to.

    planes: those that run together at each point, if any.
    """
    dims = tuple(dim for dim in order if planes is None or dim != planes.dim)
    own = tuple(encode(dim) for dim in dims)
    pieces: list[Piece] = [(piece, (part.expr,)) for part in stage.parts for piece in part.domain.pieces()]
    if order and vector == order[-1]:
        pieces = joined_turns(pieces, order[-1])
    single = len(pieces) == 1
    ahead = vector is not None
    run = tuple(dim for dim in stage.dims if dim in dims)
    items = tuple(
        NestStatement(
            piece if planes is None else piece.onto(run),
            own if single else (str(k), *own),
            _in_planes(bodies.store(stage, *values, turns=turns, ahead=ahead, planes=planes), planes),
            tuple(along),
        )
        for k, (piece, values) in enumerate(pieces)
        for turns in (order[-1] if len(values) > 1 else "",)
    )
    return Statements(items, dims if single else (PIECE, *dims))


def _in_planes(body: Body, planes: Planes | None) -> Body:
    """The code of all planes of a point, of that of points."""
    if planes is None:
        return body

    def every(points: Sequence[Point]) -> tuple[Stmt, ...]:
        return body([{**point, planes.dim: Literal(str(k))} for point in points for k in planes])

    return every


def reduce_statements(
    bodies: BodyWriter, stage: Stage, along: Sequence[str | None], order: Sequence[str] = ()
) -> Statements:
    """Start a local variable; accumulate in it; store it: per point of the result.

    order: of the dimensions of the result, then of those that are summed over; none: as they are.
    """
    dims = order[: len(stage.dims)] if order else stage.dims
    summed = order[len(stage.dims) :] if order else _longest(stage)
    own = tuple(encode(d) for d in dims)
    depth = _depth(stage)
    items = [
        NestStatement(
            part.domain,
            (*own, "0", *["0"] * depth),
            bodies.set_local(stage, part.expr),
            tuple(along),
            stage.dims,
        )
        for part in stage.parts
    ]
    for k, accumulation in enumerate(stage.accumulations):
        names = own_names(stage, accumulation)
        outer = [encode(names[d]) for d in dims]
        schedule = (*outer, str(k + 1), *_in_order(stage, accumulation, summed))
        body = bodies.update_local(stage, accumulation.expr)
        items.append(
            NestStatement(
                accumulation.domain, schedule, body, _translated(along, names), _result(stage, names)
            )
        )
    last = (*own, str(len(stage.accumulations) + 1), *["0"] * depth)
    items.append(NestStatement(stage.domain, last, bodies.store_local(stage), tuple(along), stage.dims))
    return Statements(tuple(items), (*dims, PHASE, *summed), locals=(stage,))


def row_statements(
    bodies: BodyWriter, stage: Stage, along: Sequence[str | None], order: Sequence[str] = ()
) -> Statements:
    """Start a row of results; accumulate into it in memory.

    order: of all loops; none: a row innermost, and around it those that are summed over.  Results start
    inside the loops over the result that have no summed one around them.
    """
    order = order or (*stage.dims[:-1], *_longest(stage), stage.dims[-1])
    count = next((k for k, dim in enumerate(order) if dim not in stage.dims), len(order))
    outer, inner = order[:count], order[count:]
    items = []
    for part in stage.parts:
        within = (encode(dim) if dim in stage.dims else "0" for dim in inner)
        schedule = (*map(encode, outer), "0", *within)
        items.append(
            NestStatement(part.domain, schedule, bodies.store(stage, part.expr), tuple(along), stage.dims)
        )
    for k, accumulation in enumerate(stage.accumulations):
        names = own_names(stage, accumulation)
        added = _in_order(stage, accumulation, [dim for dim in inner if dim not in stage.dims])
        schedule = (
            *[encode(names[d]) for d in outer],
            str(k + 1),
            *[encode(names[dim]) if dim in stage.dims else added.pop(0) for dim in inner],
        )
        body = bodies.update_at(stage, accumulation)
        items.append(
            NestStatement(
                accumulation.domain, schedule, body, _translated(along, names), _result(stage, names)
            )
        )
    return Statements(tuple(items), (*outer, PHASE, *inner))


def scatter_statements(
    bodies: BodyWriter,
    stage: Stage,
    accumulations: Sequence[Accumulation],
    along: Sequence[str | None],
    order: Sequence[str] = (),
) -> Statements:
    """`stage[target] op= expr`, for each over the same points.

    order: of the loops; other ones than these points have, or none: in the order of their dimensions.
    """
    first = accumulations[0]
    dims = tuple(order) if {*order} == {*first.dims} else first.dims
    schedule = tuple(encode(d) for d in dims)
    item = NestStatement(first.domain, schedule, bodies.update_at(stage, *accumulations), tuple(along))
    return Statements((item,), dims)


def over_same_points(stage: Stage, shared: str | None, block: int) -> list[range]:
    """The accumulations by their numbers, neighbours together that are over the same points.

    shared: the dimension that threads share in blocks of so many, between which those together never meet.
    """
    found: list[range] = []
    for number, item in enumerate(stage.accumulations):
        before = [stage.accumulations[k] for k in found[-1]] if found and not stage.reads_itself else []
        alike = bool(before) and before[0].dims == item.dims and before[0].domain.equals(item.domain)
        if alike and (shared is None or all(_never_meet(each, item, shared, block) for each in before)):
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found


def _never_meet(one: Accumulation, other: Accumulation, dim: str, block: int) -> bool:
    """Whether two over the same points go to elements of their own, but within a block along a dimension."""
    first, _ = one.box[one.dims.index(dim)]
    writes, others = Access.of(one.domain, one.target), Access.of(other.domain, other.target)
    return blocks_never_meet(writes, others, dim, first, block)


def partial_row_statements(
    bodies: BodyWriter, stage: Stage, accumulation: Accumulation, along: Sequence[str | None]
) -> Statements:
    """Add a part of the reduced dimensions to rows of results in memory."""
    names = own_names(stage, accumulation)
    own = [names[d] for d in stage.dims]
    order = (*own[:-1], *accumulation.reduced_dims, own[-1])
    schedule = tuple(encode(d) for d in order)
    body = bodies.update_at(stage, accumulation)
    item = NestStatement(accumulation.domain, schedule, body, tuple(along), _result(stage, names))
    return Statements((item,), (*stage.dims[:-1], *accumulation.reduced_dims, stage.dims[-1]))


def partial_reduce_statements(
    bodies: BodyWriter, stage: Stage, accumulation: Accumulation, along: Sequence[str | None]
) -> Statements:
    """Reduce a part in a local variable, then add it to the result: per point of the result."""
    names = own_names(stage, accumulation)
    own = tuple(encode(d) for d in stage.dims)
    outer = tuple(encode(names[d]) for d in stage.dims)
    reduced = tuple(encode(d) for d in accumulation.reduced_dims)
    zeros = ("0",) * len(reduced)
    stage_names = {own_name: dim for dim, own_name in names.items()}
    kept = tuple(stage_names.get(dim) if dim is not None else None for dim in along)
    start = bodies.set_local(stage, neutral(stage.operation, stage.dtype))
    items = (
        NestStatement(stage.domain, (*own, "0", *zeros), start, kept, stage.dims),
        NestStatement(
            accumulation.domain,
            (*outer, "1", *reduced),
            bodies.update_local(stage, accumulation.expr),
            tuple(along),
            _result(stage, names),
        ),
        NestStatement(stage.domain, (*own, "2", *zeros), bodies.add_local(stage), kept, stage.dims),
    )
    return Statements(items, (*stage.dims, PHASE, *accumulation.reduced_dims), locals=(stage,))


def recurrence_bodies(bodies: BodyWriter, stage: Stage, *, alone: bool = False) -> tuple[NestStatement, ...]:
    """The statements of a recurrence; their schedule is found elsewhere.

    alone: points run one after the other, in no vectors.  What Selects choose from is then loaded
    before them, so that a processor need not guess which of it comes.
    """
    bodies = bodies.one_by_one() if alone else bodies
    items = [NestStatement(p.domain, (), bodies.store(stage, p.expr, ahead=alone)) for p in stage.parts]
    items += [NestStatement(a.domain, (), bodies.update_at(stage, a)) for a in stage.accumulations]
    return tuple(items)


def _depth(stage: Stage) -> int:
    return max(len(a.reduced_dims) for a in stage.accumulations)


def _longest(stage: Stage) -> tuple[str, ...]:
    return max((a.reduced_dims for a in stage.accumulations), key=len)


def _result(stage: Stage, names: dict[str, str]) -> tuple[str, ...]:
    """The dimensions of an accumulation that say which element it adds to."""
    return tuple(names[dim] for dim in stage.dims)


def _in_order(stage: Stage, accumulation: Accumulation, summed: Sequence[str]) -> list[str]:
    """The dimensions that an accumulation sums over, in the order of the longest one's; zeros beyond them."""
    reduced = [encode(d) for d in accumulation.reduced_dims]
    padded = [*reduced, *["0"] * (_depth(stage) - len(reduced))]
    longest = _longest(stage)
    return [padded[longest.index(dim)] for dim in summed]


def _translated(along: Sequence[str | None], names: dict[str, str]) -> tuple[str | None, ...]:
    """Dimensions of the stage under an accumulation's own names."""
    return tuple(names.get(dim, dim) if dim is not None else None for dim in along)
