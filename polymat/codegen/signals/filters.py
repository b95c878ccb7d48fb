"""Filters as nests: the results that need no edge by register blocks of filters, the others by loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Return,
    Stmt,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Piece
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.memory.pads import Pad
from polymat.codegen.signals.filterblocks import LEAST, FilterShape
from polymat.errors import InternalError
from polymat.graph.monomials import Factor
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.types import real_part
from polymat.plan.library import FilterPlan

ZERO = Literal("0")
FIRST, LAST = "_pm_inner_begin", "_pm_inner_end"


def filter_nest(
    writer: StageWriter, stage: Stage, plan: FilterPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a filter over run-time ranges of dimensions of its result."""
    if kind == "part":
        raise InternalError(f"bug in polymat: register blocks for a part of the sums of {stage.name}")
    return _FilterWriter(writer, plan, along).nest(kind)


class _FilterWriter:
    """Writes the nest of one filter."""

    def __init__(self, writer: StageWriter, plan: FilterPlan, along: Sequence[str | None]) -> None:
        self.writer = writer
        self.plan = plan
        self.along = tuple(along)
        self.found = plan.filter
        (self.axis,) = plan.filter.axes
        (self.term,) = plan.filter.product.terms
        self.box = dict(zip(self.term.dims, self.term.box, strict=True))
        self.ranges = [Range(k, *self.box[dim]) for k, dim in enumerate(along) if dim is not None]
        self.is_complex = plan.stage.dtype.kind == "c"
        self.pad = f"_pm_runs_of_{plan.stage.name}"

    def nest(self, kind: str) -> NestFunction:
        """The function, with the memory for its tables, and the loops for the edges."""
        plan, writer = self.plan, self.writer
        suffix = real_part(plan.stage.dtype).suffix
        shape = FilterShape(suffix, plan.lanes, plan.rows, plan.taps, plan.width)
        writer.needs.update({shape, MIN_I64, MAX_I64, Piece.PLACE})
        own = self.along if self.axis.output in self.along else (*self.along, self.axis.output)
        loops = writer.ranged(plan.stage, plan.loops, own, "loops")
        begin, end = self._range(self.axis.output)
        first, last = Id(FIRST), Id(LAST)
        few = CBinary("<", CBinary("-", last, first), Literal(str(LEAST * self.axis.up)))
        empty = CBinary("<=", self._count(), ZERO)
        body: tuple[Stmt, ...] = (
            *self._inner(begin, end),
            If(CBinary("||", empty, few), (Evaluate(self._edge(loops, begin, end)), Return())),
            If(CBinary("<", begin, first), (Evaluate(self._edge(loops, begin, first)),)),
            *self._blocks(shape),
            If(CBinary("<", last, end), (Evaluate(self._edge(loops, last, end)),)),
        )
        nest = writer.as_nest((plan.stage,), plan, body, kind, self.ranges)
        complex_ = "complex_" if self.is_complex else ""
        size = CCall(f"_pm_filter_{complex_}bytes_{shape.suffix}", (self._count(), *self._factors()))
        pad = Pad(self.pad, real_part(plan.stage.dtype).c, size)
        return replace(
            nest,
            function=replace(
                nest.function,
                parameters=(CParameter(f"{pad.ctype} *", pad.array), *nest.function.parameters),
            ),
            arguments=(Id(pad.array), *nest.arguments),
            helpers=loops.functions,
            pads=(pad,),
        )

    def _range(self, dim: str) -> tuple[CExpr, CExpr]:
        """The first index of a dimension that the nest covers, and the one after the last."""
        if dim in self.along:
            part = next(r for r in self.ranges if r.number == self.along.index(dim))
            return Id(part.begin), Id(part.end)
        low, high = self.box[dim]
        return self.writer.size(low), self.writer.size(high + 1)

    def _count(self) -> CExpr:
        """How many taps there are."""
        if self.axis.up > 1:
            return self.writer.size(self._extent(self.found.taps))
        low, high = self.box[self.axis.tap]
        return self.writer.size(high - low + 1)

    def _factors(self) -> tuple[CExpr, CExpr]:
        """The factors of interpolation and decimation."""
        return Literal(str(self.axis.up)), Literal(str(self.axis.step))

    def _extent(self, factor: Factor) -> Affine:
        """The length of an array along its last dimension."""
        return self.writer.pipeline.extents[factor.source][-1]

    def _inner(self, begin: CExpr, end: CExpr) -> tuple[Stmt, ...]:
        """The results all of whose samples exist, within what the nest covers."""
        low, high = begin, end
        if self.found.edges == "zero":
            limits = [self.writer.size(form) for form in self._whole()]
            low = CCall(MAX_I64.function, (begin, limits[0]))
            high = CCall(MIN_I64.function, (end, limits[1]))
        declared = (Declare("const ptrdiff_t", FIRST, low), Declare("ptrdiff_t", LAST, high))
        below = CBinary("<", Id(LAST), Id(FIRST))
        empty = If(below, (Assign(Id(LAST), "=", Id(FIRST)),))
        if self.axis.up == 1:
            return (*declared, empty)
        over = CBinary("%", CBinary("-", Id(LAST), Id(FIRST)), Literal(str(self.axis.up)))
        return (*declared, empty, Assign(Id(LAST), "-=", over))

    def _whole(self) -> tuple[Affine, Affine]:
        """The first result that reaches no sample before the signal, and the one after the last such."""
        extent, step, up = self._extent(self.found.signal), self.axis.step, self.axis.up
        if up > 1:
            _, oldest = self.box[self.axis.tap]
            first = oldest.scale(up) - self.axis.shift + (step - 1)
            return first.floordiv(step), (extent.scale(up) - 1 - self.axis.shift).floordiv(step) + 1
        rest = self.found.signal.indices[-1] - Affine.name(self.axis.output).scale(step)
        low, high = (rest.substitute({self.axis.tap: end}) for end in self._ends())
        return (Affine() - low + (step - 1)).floordiv(step), (extent - 1 - high).floordiv(step) + 1

    def _ends(self) -> tuple[Affine, Affine]:
        """The tap of the first sample that a result reads, and that of the last."""
        form = self.found.signal.indices[-1]
        low, high = self.box[self.axis.tap]
        return (low, high) if form.coefficient(self.axis.tap) > 0 else (high, low)

    def _edge(self, loops: NestFunction, begin: CExpr, end: CExpr) -> CExpr:
        """The loops for some results."""
        limits: list[CExpr] = []
        for part in loops.ranges:
            dims = (*self.along, self.axis.output)
            dim = dims[part.number]
            assert dim is not None  # a range is of a dimension
            limits += (begin, end) if dim == self.axis.output else self._range(dim)
        return CCall(loops.function.name, (*loops.arguments, *limits))

    def _blocks(self, shape: FilterShape) -> tuple[Stmt, ...]:
        """The call for every point of the batch."""
        body: tuple[Stmt, ...] = (Evaluate(self._call(shape)),)
        batch = [dim for dim in self.found.product.dims if dim != self.axis.output]
        for dim in reversed(batch):
            begin, end = self._range(dim)
            variable = self.writer.bodies.index_name(dim)
            body = (For(variable, begin, CBinary("<", Id(variable), end), Literal("1"), body),)
        return body

    def _call(self, shape: FilterShape) -> CExpr:
        bodies, found = self.writer.bodies, self.found
        batch = [dim for dim in found.product.dims if dim != self.axis.output]
        point = {**bodies.loop_point(batch), self.axis.output: Id(FIRST)}
        scale = Literal("1") if found.scale is None else bodies.value(found.scale, self.plan.stage.dtype)
        start: CExpr = Literal("NULL")
        if found.start:
            (addend,) = found.start[0].factors
            start = bodies.address(addend.source, addend.indices, point)
        result = bodies.address(self.plan.stage.name, tuple(map(Affine.name, found.product.dims)), point)
        behind = (scale, start, result, Id(self.pad))
        if self.axis.up > 1:
            return CCall(f"_pm_filter_up_{shape.suffix}", (*self._upsampled(point), *behind))
        step: CExpr = bodies.step(found.taps.source, found.taps.indices, self.axis.tap)
        reverse = self._ends()[0] != self.box[self.axis.tap][0]
        point[self.axis.tap] = self.writer.size(self._ends()[0])
        step = CUnary("-", step) if reverse else step
        taps, signal = (
            bodies.address(factor.source, factor.indices, point) for factor in (found.taps, found.signal)
        )
        first = (CBinary("-", Id(LAST), Id(FIRST)), self._count(), Literal(str(self.axis.step)))
        if not self.is_complex:
            return CCall(f"_pm_filter_{shape.suffix}", (*first, taps, step, signal, *behind))
        signs = [Literal("-1" if each.conjugated else "1") for each in (found.taps, found.signal)]
        real = real_part(self.plan.stage.dtype).c
        arrays = [Cast(f"const {real} *", Cast("const void *", array)) for array in (taps, signal, start)]
        target = Cast(f"{real} *", Cast("void *", result))
        rest = (arrays[0], step, signs[0], arrays[1], signs[1], arrays[2], target, Id(self.pad))
        return CCall(f"_pm_filter_complex_{shape.suffix}", (*first, *rest))

    def _upsampled(self, point: Mapping[str, CExpr]) -> tuple[CExpr, ...]:
        """What an interpolating filter is handed: its taps and its signal from the first on."""
        bodies, found = self.writer.bodies, self.found
        up, down = self._factors()
        position = CBinary("+", CBinary("*", down, Id(FIRST)), self.writer.size(self.axis.shift))
        taps, signal = (
            bodies.address(factor.source, (*factor.indices[:-1], Affine()), point)
            for factor in (found.taps, found.signal)
        )
        count = CBinary("/", CBinary("-", Id(LAST), Id(FIRST)), up)
        return (count, self._count(), up, down, position, taps, signal)
