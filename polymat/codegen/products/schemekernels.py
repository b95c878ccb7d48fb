"""Whole blocks of schemes that a microkernel of the user's computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.codegen.c.ctree import (
    Braces,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.needs import UserKernel
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.products.schemeloops import Inside, SchemeLoops
from polymat.codegen.products.schemeplace import ONE, ZERO, LoopPlace, Span, times
from polymat.codegen.products.schemesums import SumWriter
from polymat.errors import InternalError
from polymat.graph.monomials import Factor
from polymat.lang.affine import Affine
from polymat.plan.schemeplan import SchemePlan
from polymat.product.kernelfit import MOST_APART, KernelUse
from polymat.product.scheme import Atom


class KernelCaller:
    """Calls a microkernel for whole blocks of one contraction, whose sums are added to the result.

    rest: writes sums of a block over what is left of the depth.
    """

    def __init__(
        self, writer: StageWriter, plan: SchemePlan, use: KernelUse, loops: SchemeLoops, sums: SumWriter
    ) -> None:
        self.stage, self.plan, self.use, self.loops, self.sums = sums.stage, plan, use, loops, sums
        self.bodies, self.copies = writer.bodies, loops.copies
        writer.needs.add(UserKernel(use.kernel))
        own = tuple(Affine.name(dim) for dim in self.stage.dims)
        self.steps = tuple(
            ONE if dim is None else self.bodies.step(self.stage.name, own, dim)
            for dim in (use.row, use.column)
        )

    def block(self, atoms: Sequence[Atom], place: LoopPlace, rest: Inside) -> tuple[Stmt, ...]:
        """A whole block: where the result lies as it has to by calls that add to it, else in one apart."""
        count = sum(not atom.in_block for atom in atoms)
        if self._is_in_place():
            result = self.sums.result(place.point({}))
            return self._calls(atoms, count, place, (result, *self.steps), rest)
        (row, column), size = self.use.kernel.strides_apart, self.use.kernel.points_apart
        if size > MOST_APART:
            raise InternalError(f"bug in polymat: {self.stage.name} lies otherwise than its blocks need it")
        apart = Id(self.loops.fresh("block"))
        strides = (Literal(str(row)), Literal(str(column)))
        return (
            Declare(self.sums.types.ctype, f"{apart.name}[{size}]", Braces((ZERO,))),
            *self._calls(atoms, count, place, (Subscript(apart, ZERO), *strides), rest),
            *self._stored(apart, strides, place),
        )

    def _is_in_place(self) -> bool:
        wanted = zip(self.use.kernel.result, (self.use.row, self.use.column), self.steps, strict=True)
        lies = all(
            stride is None or dim is None or step == Literal(str(stride)) for stride, dim, step in wanted
        )
        return lies and self.plan.contraction.scale is None

    def _calls(
        self,
        atoms: Sequence[Atom],
        count: int,
        place: LoopPlace,
        result: Sequence[CExpr],
        rest: Inside,
    ) -> tuple[Stmt, ...]:
        """The calls for the depths that loops leave."""

        def called(further: Sequence[Atom], inner: LoopPlace) -> tuple[Stmt, ...]:
            span, unit = inner.spans[self.use.depth], self.use.kernel.depth
            if unit == 1:
                call = self._call(span.count, inner, result)
                return (call if span.length else If(CBinary(">", span.count, ZERO), (call,)),)
            whole = Id(self.loops.fresh("whole"))
            length = CBinary("-", span.count, CBinary("%", span.count, Literal(str(unit))))
            begin = CBinary("+", span.begin, whole)
            left = inner.along(self.use.depth, Span(begin, span.end, None, Literal(str(unit - 1))))
            return (
                Declare("const ptrdiff_t", whole.name, length),
                If(CBinary(">", whole, ZERO), (self._call(whole, inner, result),)),
                If(CBinary("<", begin, span.end), rest(further, left)),
            )

        return self.loops.around(atoms, count - 1, place, called)

    def _call(self, depth: CExpr, place: LoopPlace, result: Sequence[CExpr]) -> Stmt:
        use, point = self.use, place.point({})
        target, row, column = result
        left = [self._step(use.left, dim, place) for dim in (use.row, use.depth)]
        right = [self._step(use.right, dim, place) for dim in (use.depth, use.column)]
        for step, (factor, dim, wanted) in zip((*left, *right), use.sides, strict=True):
            if dim is not None and wanted is not None and step != Literal(str(wanted)):
                raise InternalError(
                    f"bug in polymat: {factor.source} does not lie {wanted} apart along {dim}"
                )
        arguments = (
            *(depth, _at(self.copies.element(use.left, point, place)), *left),
            *(_at(self.copies.element(use.right, point, place)), *right),
            *(_at(target), row, column),
        )
        return Evaluate(CCall(use.kernel.name, arguments))

    def _step(self, factor: Factor, dim: str | None, place: LoopPlace) -> CExpr:
        return ONE if dim is None else self.copies.step(factor, dim, place)

    def _stored(self, apart: Id, strides: Sequence[CExpr], place: LoopPlace) -> tuple[Stmt, ...]:
        """Add a block that was computed apart to the result."""
        sizes = {self.use.row: self.use.kernel.rows, self.use.column: self.use.kernel.columns}
        at = {dim: Id(self.loops.fresh("at")) for dim in sizes if dim is not None}
        point: Mapping[str, CExpr] = place.point({})
        offset: CExpr = ZERO
        for (dim, index), stride in zip(at.items(), _of(strides, self.use), strict=True):
            point = {**point, dim: CBinary("+", point[dim], index)}
            further = times(index, stride)
            offset = further if offset == ZERO else CBinary("+", offset, further)
        body: tuple[Stmt, ...] = (self.sums.put(point, Subscript(apart, offset), adds=True),)
        for dim, index in reversed(at.items()):
            body = (_each(index, sizes[dim], body),)
        return body


def _of(strides: Sequence[CExpr], use: KernelUse) -> list[CExpr]:
    """The strides of those sides of a block that have several points."""
    return [stride for stride, dim in zip(strides, (use.row, use.column), strict=True) if dim is not None]


def _at(element: CExpr) -> CExpr:
    return CUnary("&", element)


def _each(index: Id, size: int, body: tuple[Stmt, ...]) -> For:
    return For(index.name, ZERO, CBinary("<", index, Literal(str(size))), ONE, body)
