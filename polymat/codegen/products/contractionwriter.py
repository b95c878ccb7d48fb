"""Contractions as nests: loops around products of matrices, which register blocks carry out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from polymat.codegen.c.ctree import (
    Block,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    CUnary,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Piece
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.nestfunction import Ahead, NestFunction, run_nest
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.loops.streamedrows import is_larger
from polymat.codegen.memory.pads import Pad
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.endwriter import END, EndWriter
from polymat.codegen.products.finish import Finish
from polymat.codegen.products.gridof import laid_out
from polymat.codegen.products.halfwriter import half_of
from polymat.codegen.products.packedroom import PackedRoom, packed_pad, spared_where
from polymat.codegen.products.segments import Segments
from polymat.errors import InternalError
from polymat.graph.monomials import Factor
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.lang.types import real_part
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.product.contraction import Contraction
from polymat.product.question import has_constant_extents
from polymat.product.shares import work_along
from polymat.product.turned import can_turn

ZERO, NULL = Literal("0"), Literal("NULL")


def kernel_nest(
    writer: StageWriter, stage: Stage, plan: KernelPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a contraction over run-time ranges of dimensions of its result."""
    if kind == "part":
        raise InternalError(f"bug in polymat: register blocks for a part of the sums of {stage.name}")
    return ContractionWriter(writer, stage, plan, along).nest(kind)


class ContractionWriter:
    """Writes the nest of one contraction.

    finish: who reads its result meanwhile, if anybody.  ends: who does so in registers.
    number: which of the products it is that are added up, from 1.  further: the writers of those after it.
    """

    finish: Finish | None = None
    ends: EndWriter | None = None
    function = "_pm_gemm"  # of C, without the suffix of its type

    def __init__(
        self,
        writer: StageWriter,
        stage: Stage,
        plan: KernelPlan,
        along: Sequence[str | None],
        number: int = 1,
    ) -> None:
        self.writer = writer
        self.stage = stage
        self.plan = plan
        self.along = tuple(along)
        self.found: Contraction = plan.contraction
        self.number = number
        self.dtype = real_part(stage.dtype)
        box = dict(zip(stage.dims, stage.box, strict=True))
        self.ranges = [Range(k, *box[dim]) for k, dim in enumerate(along) if dim is not None]
        blocks = plan.blocks
        features = (self.found.triangle is not None, self.found.windows)
        turns = blocks.turned_depth if can_turn(self.found, blocks) else 0
        block = (blocks.vector_bytes, blocks.rows, blocks.vectors)
        parts = (plan.packed_depth > 0, has_constant_extents(self.found))
        self.shape = Shape(self.dtype.suffix, *block, *features, turns, *parts)
        self.pad = f"_pm_packed_{stage.name}"
        self.title = stage.name if number == 1 else f"{number}_{stage.name}"
        self.further = tuple(
            type(self)(writer, stage, replace(plan, contraction=each), along, position)
            for position, each in enumerate(self.found.more, number + 1)
        )

    @property
    def depth(self) -> int:
        """The most depth of a block."""
        return self.plan.blocks.kc

    @cached_property
    def bodies(self) -> BodyWriter:
        """The writers of expressions for addresses of the operands and the result."""
        return self.writer.bodies

    def end_with(self, ends: EndWriter) -> None:
        """Let register blocks compute a reader of the result."""
        self.ends = ends
        self.shape = replace(self.shape, ends=(ends.end,))

    @property
    def readers(self) -> tuple[Stage, ...]:
        """The stages that are computed along with the product."""
        found = self.finish.stages if self.finish is not None else ()
        return (*found, self.ends.reader) if self.ends is not None else found

    def nest(self, kind: str) -> NestFunction:
        """The function, with the memory for packed operands, and the start values where they come first."""
        parts = (self, *self.further)
        starts, finish = self._starts(), parts[-1].finish
        self.writer.needs.update({MIN_I64, MAX_I64, Piece.PLACE, *(part.shape for part in parts)})
        body = self._product_added() if len(parts) == 1 else tuple(Block(p._product_added()) for p in parts)
        first = [] if starts is None else [run_nest(starts)]
        stages = (self.stage, *parts[-1].readers)
        body, work = self.guarded((*first, *body)), work_along(self.found, self.plan.parallel)
        nest = self.writer.as_nest(stages, self.plan, body, kind, self.ranges, work=work)
        helpers = (*(starts.functions if starts is not None else ()), *self.alternatives)
        groups = [group for part in parts for group in part.groups if group.dims]
        tables = [Pad(group.pad, "ptrdiff_t", group.bytes(), group.most) for group in groups]
        ahead = self.ahead()
        packed = [] if ahead else [packed_pad(self.pad, self.dtype.c, [part._room for part in parts])]
        pads = [*packed, *(pad for part in parts for pad in part.extra_pads), *tables]
        memory = [*(each.pad for each in ahead), *pads]
        parameters = [CParameter(f"{pad.ctype} *", pad.array) for pad in memory]
        return replace(
            laid_out(nest, self.plan, self.along, self.size),
            function=replace(nest.function, parameters=(*parameters, *nest.function.parameters)),
            arguments=(*(Id(pad.array) for pad in memory), *nest.arguments),
            helpers=(*helpers, *(finish.functions if finish is not None else ())),
            pads=tuple(pads),
            ahead=ahead,
        )

    def ahead(self) -> tuple[Ahead, ...]:
        """Packed operands that are there before the tiles of which the nest is a part: none."""
        return ()

    @property
    def extra_pads(self) -> tuple[Pad, ...]:
        """Further memory of a thread."""
        return ()

    @property
    def alternatives(self) -> tuple[CFunction, ...]:
        """Other code for the same result."""
        return ()

    def guarded(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The body, or what is quicker where the nest covers little."""
        return body

    def _product_added(self) -> tuple[Stmt, ...]:
        """The loops around one product, after the tables of its segments."""
        before = self.finish.statements() if self.finish is not None else ()
        before += self.ends.statements() if self.ends is not None else ()
        body: tuple[Stmt, ...] = (*before, self._run())
        for dim in reversed(self.found.outer):
            body = (self.loop(dim, body),)
        return (*(statement for group in self.groups for statement in group.statements()), *body)

    @property
    def groups(self) -> tuple[Segments, Segments, Segments]:
        """Segments of rows, of columns and of depth, with the arrays that each has offsets in."""
        found, target = self.found, self._result()
        third = found.start.factor if found.start is not None else target
        joins = self.finish is None
        by_row = self.ends is not None and self.ends.end.is_by_row
        beside = (found.right, target, third)
        return (
            Segments(self, "rows", found.rows, found.more_rows, (found.left, target, third), joins),
            Segments(self, "columns", found.columns, found.more_columns, beside, joins and not by_row),
            Segments(self, "depths", found.depth, found.sums, (found.left, found.right)),
        )

    def loop(self, dim: str, body: tuple[Stmt, ...]) -> For:
        """A loop over the part of a dimension that the nest covers."""
        begin, end = self.range(dim)
        variable = self.writer.bodies.index_name(dim)
        return For(variable, begin, CBinary("<", Id(variable), end), Literal("1"), body)

    def _starts(self) -> NestFunction | None:
        """Loops that compute the start values, where a register block cannot."""
        if not self.found.starts and not self.found.others:
            return None
        stage, dims = self.stage, self.stage.dims
        if not self.found.starts:
            stage = replace(stage, parts=stage.parts[1:])
        plan = LoopPlan(self.plan.group, "map", dims, None, dims[-1], "start values")
        return self.writer.ranged(stage, plan, self.along, "initial")

    def _run(self) -> Stmt:
        """The product; of a constant number of rows with that, for the compiler to unroll small ones."""
        found, general = self.found, Evaluate(self._product())
        extent = found.extent(found.rows)
        if found.rows not in self.along or found.more_rows or not extent.is_constant:
            return general
        rows = Literal(str(extent.const))
        whole = Evaluate(self._product(rows))
        return If(CBinary("==", self.groups[0].length(), rows), (whole,), (general,))

    def _product(self, rows: CExpr | None = None) -> CExpr:
        found, blocks = self.found, self.plan.blocks
        m, n, k = (group.length() for group in self.groups)
        target = self._result()
        addend = target if found.starts else found.start.factor if found.start is not None else None
        beta = found.start.beta if found.start is not None else None
        arguments = (
            m if rows is None else rows,
            n,
            k,
            *(argument for group in self.groups for argument in group.arguments()),
            self._value(found.scale),
            self.first(found.left),
            self.step(found.left, found.rows),
            self.step(found.left, found.depth),
            *self.right(),
            self._value(beta),
            Literal("NULL") if addend is None else self.first(addend),
            Literal("0") if addend is None else self.step(addend, found.rows),
            self.first(target),
            self.step(target, found.rows),
            *(Literal(str(size)) for size in (self.depth, blocks.mc, blocks.nc, blocks.small)),
            is_larger(self.size, [self.writer.storage[self.stage.name]], self.plan.streamed),
            half_of(self),
            Id(self.pad),
            *(self.finish.arguments() if self.finish is not None else (NULL, NULL)),
            CUnary("&", Id(END)) if self.ends is not None else NULL,
        )
        return CCall(f"{self.function}_{self.shape.suffix}", arguments)

    def right(self) -> tuple[CExpr, CExpr, CExpr]:
        """The right operand, and its steps along the depth and the columns."""
        right = self.found.right
        along, across = (self.step(right, dim) for dim in (self.found.depth, self.found.columns))
        return self.first(right), along, across

    def _result(self) -> Factor:
        """The result as a factor: its own element."""
        own = tuple(Affine.name(dim) for dim in self.stage.dims)
        return Factor(self.stage.ref, own)

    def _value(self, scale: Expr | None) -> CExpr:
        return Literal("1") if scale is None else self.bodies.value(scale, self.dtype)

    def range(self, dim: str) -> tuple[CExpr, CExpr]:
        """The first index of a dimension and the one after the last."""
        if dim in self.along:
            part = next(r for r in self.ranges if r.number == self.along.index(dim))
            return Id(part.begin), Id(part.end)
        low, high = self.found.bounds[dim]
        return self.writer.bodies.size(low), self.writer.bodies.size(high + 1)

    def length(self, dim: str) -> CExpr:
        """How many indices of a dimension the nest covers."""
        begin, end = self.range(dim)
        return end if begin == Literal("0") else CBinary("-", end, begin)

    def first(self, factor: Factor) -> CExpr:
        """The address of the first element of a matrix, with the loops around it at their indices."""
        bodies = self.bodies
        point = {dim: self.range(dim)[0] for dim in self.found.bounds} | bodies.loop_point(self.found.outer)
        return bodies.address(factor.source, factor.indices, point)

    def step(self, factor: Factor, dim: str) -> CExpr:
        """How many elements lie between neighbours along a dimension."""
        return self.bodies.step(factor.source, factor.indices, dim)

    @property
    def _room(self) -> PackedRoom:
        """The room for packed operands."""
        found = self.found
        steps = (self.step(found.right, found.columns), self.step(found.left, found.depth))
        in_order = all(step == Literal("1") for step in steps)
        readers = {"handed": self.finish is not None, "ended": self.ends is not None}
        spared = spared_where(found, in_order=in_order, **readers)
        return PackedRoom(found, self.plan.blocks, self.shape.suffix, spared, self.size)

    def size(self, form: Affine) -> CExpr:
        """A form over the sizes."""
        return self.writer.bodies.size(form)
