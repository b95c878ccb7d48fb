"""Loops that begin and end where data say, instead of asking at every point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import between, counted_range
from polymat.codegen.c.ctree import Block, CCall, CExpr, Declare, For, Id, Stmt, plus
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Helper, Need
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.gatheredrows import Rows
from polymat.codegen.loops.innermost import with_changed
from polymat.codegen.loops.nestfunction import CheckedRows
from polymat.codegen.loops.ranges import Range
from polymat.dataclass import dataclass
from polymat.graph.datasegments import Segment
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import CastExpr, Expr, Load
from polymat.lang.traverse import names_of
from polymat.tilesize.plain import own_names

FROM, TO = "_pm_from", "_pm_to"


def without_choice(stage: Stage) -> Stage:
    """The stage with what it accumulates as it is within its segments."""
    segments = stage.segments
    if segments is None:
        return stage
    (item,) = stage.accumulations
    return replace(stage, accumulations=(replace(item, expr=segments.value),))


def between_bounds(
    statements: Sequence[Stmt],
    stage: Stage,
    bodies: BodyWriter,
    needs: set[Need],
    checks: CheckedRows | None = None,
) -> tuple[Stmt, ...] | None:
    """The loops along the segments of a stage between their bounds; None where one is no loop as it is.

    checks: what looks at elements between these bounds.

    before:  for k in 0 .. NNZ - 1: s += a[k]
    after:   for k in max(0, row[i]) .. min(NNZ, row[i + 1]) - 1: s += a[k]
    """
    assert stage.segments is not None, "asked for stages that have segments"
    item = stage.accumulations[0]
    loops = _loops(stage)
    point: dict[str, CExpr] = {dim: Id(bodies.index_name(loop)) for dim, loop in loops.items()}

    def value(expr: Expr) -> CExpr:
        return bodies.writer(point).value(expr)

    along = {bodies.index_name(each.dim): each for each in stage.segments.dims}
    box = dict(zip(item.dims, item.box, strict=True))
    whole = {
        bodies.index_name(each.dim): (
            bodies.size(box[each.dim][0]) if _is_inside(each.lows, box[each.dim], bodies) else None,
            bodies.size(box[each.dim][1] + 1) if _is_inside(each.ends, box[each.dim], bodies) else None,
        )
        for each in stage.segments.dims
    }
    indices = {bodies.index_name(loop): dim for dim, loop in loops.items()}
    before = () if checks is None else checks.before
    clipping = _Clipping(along, whole, value, indices, needs, before, {}, [])
    body = with_changed(statements, clipping.changed)
    return body if clipping.done == dict.fromkeys(along, True) else None


def _loops(stage: Stage) -> dict[str, str]:
    """The loop along each dimension of a sum: those along the result bear the names that it has there."""
    (item,) = stage.accumulations
    loops = dict(zip(item.dims, item.dims, strict=True))
    if item.is_aligned:
        loops |= {own: dim for dim, own in own_names(stage, item).items()}
    return loops


def _is_inside(bounds: Sequence[Expr], box: tuple[Affine, Affine], bodies: BodyWriter) -> bool:
    """Whether a bound is an element of an input whose declared values lie within a dimension, or end it."""
    declared = {array.name: array.values for array in bodies.pipeline.inputs}
    for each in (_element(bound) for bound in bounds):
        limits = None if each is None else declared.get(each.source.name)
        if limits is None:
            return False
        below, above = limits[0] - box[0], box[1] + 1 - limits[1]
        if not all(apart.is_constant and apart.const >= 0 for apart in (below, above)):
            return False
    return len(bounds) == 1


def rows_of(stage: Stage, along: str, bodies: BodyWriter) -> tuple[str, CExpr] | None:
    """The sorted array that says where the segments of points along a dimension begin, each where one ends.

    Its type, and the address of the element for point 0, as `NestFunction.balance` has them.
    """
    segments = stage.segments
    if segments is None or len(segments.dims) != 1:
        return None
    (item,), (segment,) = stage.accumulations, segments.dims
    own = Affine.name(along)
    if len(segment.lows) != 1 or len(segment.ends) != 1 or own not in item.target:
        return None
    first, last = (_element(bound) for bound in (segment.lows[0], segment.ends[0]))
    if first is None or last is None or first.source.name != last.source.name:
        return None
    offset = first.indices[0] - own
    known = {array.name for array in bodies.pipeline.inputs if array.sorted}
    if first.source.name not in known or not offset.is_constant or last.indices[0] != first.indices[0] + 1:
        return None
    address = plus(Id(bodies.array(first.source.name)), offset.const)
    return first.dtype.suffix, address


def rows_of_loop(stage: Stage, loop: str, bodies: BodyWriter) -> tuple[str, CExpr] | None:
    """The rows along a loop, by its name, as `rows_of` has them."""
    if stage.segments is None:
        return None
    along = next((dim for dim, name in _loops(stage).items() if name == loop), None)
    return None if along is None else rows_of(stage, along, bodies)


@dataclass(frozen=True, slots=True, eq=False)
class AllRows:
    """The rows of a sum along segments that follow each other, where all points of a box are.

    suffix, begins: as `rows_of` has them.  along: the dimension of the rows.  low, end: the first row, and
    behind the last.  elements: of all of them.  around: the limits of the other dimensions.  inside: whether
    no bound is outside of the elements.
    """

    suffix: str
    begins: CExpr
    along: str
    low: Affine
    end: Affine
    elements: Affine
    around: tuple[tuple[Affine, Affine], ...]
    inside: bool

    @staticmethod
    def of(stage: Stage, bodies: BodyWriter) -> AllRows | None:
        """Find them; None where rows do not follow each other or fill no box."""
        segments, context = stage.segments, bodies.pipeline.context
        if segments is None or len(segments.dims) != 1:
            return None
        (item,), (segment,) = stage.accumulations, segments.dims
        found = [(dim, rows) for dim in item.dims if (rows := rows_of(stage, dim, bodies)) is not None]
        if len(found) != 1 or not item.domain.assume(context).is_box():
            return None
        ((along, (suffix, begins)),) = found
        box = dict(zip(item.dims, item.box, strict=True))
        (low, high), elements = box.pop(along), box.pop(segment.dim)
        inside = all(_is_inside(bounds, elements, bodies) for bounds in (segment.lows, segment.ends))
        return AllRows(suffix, begins, along, low, high + 1, elements[1] + 1, tuple(box.values()), inside)


def bounds_of(variable: str) -> tuple[str, str]:
    """The names of where the loop of a variable along a segment begins, and of what is behind it."""
    return f"{FROM}_{variable}", f"{TO}_{variable}"


def gathered_rows(
    stage: Stage, bodies: BodyWriter, ranges: Sequence[Range], readable: CExpr | None = None
) -> Rows | None:
    """The rows in C, as gathers go through them, those in some ranges; None where they are not all of a box.

    readable: where elements end that may be read before their own row; None: all may.
    """
    rows = AllRows.of(stage, bodies)
    if rows is None:
        return None
    some = [part for part in ranges if stage.dims[part.number : part.number + 1] == (rows.along,)]
    ends = (Id(some[0].begin), Id(some[0].end)) if some else map(bodies.size, (rows.low, rows.end))
    limits = (rows.begins, *ends)
    sizes = {bodies.names.get("size", size.name) for size in bodies.pipeline.sizes}
    elements = bodies.size(rows.elements) if readable is None else readable
    return Rows(rows.suffix, limits, elements, sizes, rows.inside)


def _element(bound: Expr) -> Load | None:
    """The element of a vector that a bound is, as it is."""
    value = bound.operand if isinstance(bound, CastExpr) and bound.operand.dtype.kind in "iu" else bound
    return value if isinstance(value, Load) and len(value.indices) == 1 else None


@dataclass(frozen=True, slots=True, eq=False)
class _Clipping:
    """Changes loops along segments to begin and to end at their bounds.

    whole: of each the ends of all its dimension, where the bound there lies within it whatever data are.
    indices: the dimensions by their variables.  checks: what stands before a changed loop.
    done: by the variable of each segment, whether all that runs along it are loops that were changed.
    around: the variables that are known where a statement stands.
    """

    segments: dict[str, Segment]
    whole: dict[str, tuple[CExpr | None, CExpr | None]]
    value: Callable[[Expr], CExpr]
    indices: dict[str, str]
    needs: set[Need]
    checks: tuple[Stmt, ...]
    done: dict[str, bool]
    around: list[str]

    def changed(self, statement: Stmt) -> Stmt | None:
        """A loop along a segment between its bounds; None for what may hold such a loop."""
        match statement:
            case For(name) if self._has_bounds(name) and (span := counted_range(statement)) is not None:
                self.done.setdefault(name, True)
                return self._clipped(self._within(statement), *span)
            case For(name) | Declare(_, name) if name in self.segments:
                self.done[name] = False
                return statement
            case For():
                return self._within(statement)
            case Declare(_, name):
                self.around.append(name)
                return None
            case _:
                return None

    def _within(self, loop: For) -> For:
        """A loop with what is changed in it, where its variable is known."""
        self.around.append(loop.variable)
        body = with_changed(loop.body, self.changed)
        self.around.remove(loop.variable)
        return replace(loop, body=body)

    def _has_bounds(self, variable: str) -> bool:
        """Whether a segment runs along it whose bounds may be read there."""
        if variable not in self.segments:
            return False
        segment = self.segments[variable]
        read = frozenset(names_of((*segment.lows, *segment.ends)))
        return all(name in self.around for name, dim in self.indices.items() if dim in read)

    def _clipped(self, loop: For, low: CExpr, end: CExpr) -> Stmt:
        segment, (first_of_all, end_of_all) = self.segments[loop.variable], self.whole[loop.variable]
        low = self._inner(low, segment.lows, first_of_all, MAX_I64)
        end = self._inner(end, segment.ends, end_of_all, MIN_I64)
        first, last = bounds_of(loop.variable)
        declared = (Declare("const ptrdiff_t", first, low), Declare("const ptrdiff_t", last, end))
        return Block((*declared, *self.checks, between(loop, Id(first), Id(last))))

    def _inner(self, outer: CExpr, bounds: Sequence[Expr], whole: CExpr | None, need: Helper) -> CExpr:
        """The innermost of an end of a loop and its bounds."""
        if outer == whole:
            return self.value(bounds[0])
        for bound in bounds:
            self.needs.add(need)
            outer = CCall(need.function, (outer, self.value(bound)))
        return outer
