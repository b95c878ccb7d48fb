"""Copies of operands that schemes make: the loops that fill them, and the memory that they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polymat.codegen.c.ctree import Assign, Cast, CBinary, CCall, CExpr, Declare, For, Id, Literal, Stmt, plus
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.memory.pads import Pad
from polymat.codegen.products.schemeplace import ONE, Copied, LoopPlace, Span, folded, times
from polymat.errors import InternalError
from polymat.graph.monomials import Factor
from polymat.graph.stage import Stage
from polymat.product.contraction import Contraction
from polymat.product.scheme import Atom, Pack
from polymat.product.schemefit import dims_of, packed_factor, strip_of


class CopyWriter:
    """Writes the copies of one contraction, and reads operands from them.

    pads: the memory of all that were written.
    """

    def __init__(self, writer: StageWriter, stage: Stage, found: Contraction) -> None:
        self.writer, self.stage, self.found = writer, stage, found
        self.pads: list[Pad] = []

    def copy(
        self, atom: Pack, further: Sequence[Atom], place: LoopPlace, fresh: Callable[[str], str]
    ) -> tuple[tuple[Stmt, ...], LoopPlace]:
        """The loops that copy what is left of an operand to further atoms, and the place behind them."""
        factor = packed_factor(atom, self.found)
        if factor is None:
            raise InternalError(f"bug in polymat: {atom} in {self.stage.name} copies nothing")
        dims = atom.order or dims_of(factor, self.found)
        strip = strip_of(further, dims[-1])
        copied = _layout(f"{fresh('copy')}_{self.stage.name}", dims, strip, place)
        self.pads.append(Pad(copied.array, factor.dtype.c, _room(factor, dims, strip, place)))
        return self._filled(factor, copied, dims, strip, place, fresh), place.with_copy(factor, copied)

    def _filled(
        self,
        factor: Factor,
        copied: Copied,
        dims: Sequence[str],
        strip: int,
        place: LoopPlace,
        fresh: Callable[[str], str],
    ) -> tuple[Stmt, ...]:
        """The loops that fill a copy, strip after strip; all strips of a row where it lies together."""
        at = {dim: Id(fresh("of")) for dim in dims}
        *outer, last = dims
        span = place.spans[last]
        first, end = (span.begin, span.end) if strip == 1 else (Id(fresh("of")), Id(fresh("past")))
        element = self.element(factor, at, LoopPlace({}))
        body: tuple[Stmt, ...] = (Assign(copied.at(at, {last: first}), "=", element),)
        body = (_each(at[last], first, end, 1, body),)
        in_strips = strip > 1 and isinstance(first, Id) and isinstance(end, Id)
        if in_strips and self.step(factor, last, LoopPlace({})) == ONE:
            body = (self._strips(first, end, span, strip, body),)
            in_strips = False
        for dim in reversed(outer):
            body = (_each(at[dim], place.spans[dim].begin, place.spans[dim].end, 1, body),)
        return (self._strips(first, end, span, strip, body),) if in_strips else body

    def _strips(self, first: CExpr, end: CExpr, span: Span, strip: int, body: tuple[Stmt, ...]) -> Stmt:
        """The loop over strips, the last of which may be shorter."""
        if not isinstance(first, Id) or not isinstance(end, Id):
            raise InternalError(f"bug in polymat: strips of {self.stage.name} without names")
        self.writer.needs.add(MIN_I64)
        limit = CCall(MIN_I64.function, (plus(first, strip), span.end))
        return _each(first, span.begin, span.end, strip, (Declare("const ptrdiff_t", end.name, limit), *body))

    def element(self, factor: Factor, point: Mapping[str, CExpr], place: LoopPlace) -> CExpr:
        """The element of an operand at a point, in its copy where there is one."""
        if factor in place.copies:
            return place.copies[factor].at(point, place.blocks)
        return self.writer.bodies.at(factor.source, factor.indices, dict(point))

    def step(self, factor: Factor, dim: str, place: LoopPlace) -> CExpr:
        """How far neighbours in a block are apart along a dimension."""
        if factor in place.copies:
            return place.copies[factor].step(dim)
        return folded(self.writer.bodies.step(factor.source, factor.indices, dim))


def _layout(array: str, dims: Sequence[str], strip: int, place: LoopPlace) -> Copied:
    """Row after row in this order of dimensions, of each strip of the last one where there are several."""
    *outer, last = dims
    begins = {dim: place.spans[dim].begin for dim in dims}
    room: CExpr = place.spans[last].most if strip == 1 else Literal(str(strip))
    steps: dict[str, CExpr] = {last: ONE if strip == 1 else _points(outer, place)}
    for dim in reversed(outer):
        steps[dim], room = room, times(room, place.spans[dim].most)
    return Copied(array, begins, steps, None if strip == 1 else last)


def _points(dims: Sequence[str], place: LoopPlace) -> CExpr:
    """All points that may be left of some dimensions."""
    found: CExpr = ONE
    for dim in dims:
        found = times(found, place.spans[dim].most)
    return found


def _room(factor: Factor, dims: Sequence[str], strip: int, place: LoopPlace) -> CExpr:
    """Bytes of a copy, of whole strips, in floating point: they may be more than can be counted."""
    room: CExpr = Literal(f"{float(factor.dtype.size)!r}")
    for dim in dims:
        most = Cast("double", place.spans[dim].most)
        more = strip - 1 if dim == dims[-1] else 0
        room = CBinary("*", room, CBinary("+", most, Literal(f"{float(more)!r}")) if more else most)
    return room


def _each(at: Id, begin: CExpr, end: CExpr, step: int, body: tuple[Stmt, ...]) -> For:
    return For(at.name, begin, CBinary("<", at, end), Literal(str(step)), body)
