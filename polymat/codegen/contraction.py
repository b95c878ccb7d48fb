"""Contractions as nests: loops around products of matrices, which register blocks carry out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.ctree import Binary, Call, CExpr, Evaluate, For, Id, Literal, Parameter, Stmt
from polymat.codegen.microkernel import Shape
from polymat.codegen.scratch import Pad
from polymat.codegen.stagecode import Nest, Range, StageWriter
from polymat.graph.monomials import Factor
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.tilesize.contraction import Contraction
from polymat.tilesize.kernel import KernelPlan
from polymat.tilesize.schedule import LoopPlan


def kernel_nest(
    writer: StageWriter, stage: Stage, plan: KernelPlan, along: Sequence[str | None], kind: str
) -> Nest:
    """The nest of a contraction over run-time ranges of dimensions of its result."""
    return _ContractionWriter(writer, stage, plan, along).nest(kind)


class _ContractionWriter:
    """Writes the nest of one contraction."""

    def __init__(
        self, writer: StageWriter, stage: Stage, plan: KernelPlan, along: Sequence[str | None]
    ) -> None:
        self.writer = writer
        self.stage = stage
        self.plan = plan
        self.along = tuple(along)
        self.found: Contraction = plan.contraction
        box = dict(zip(stage.dims, stage.box, strict=True))
        self.ranges = [Range(k, *box[dim]) for k, dim in enumerate(along) if dim is not None]
        blocks = plan.blocks
        self.shape = Shape(stage.dtype.suffix, blocks.vector_bytes, blocks.rows, blocks.vectors)
        self.pad = f"_pm_packed_{stage.name}"

    def nest(self, kind: str) -> Nest:
        """The function, with the memory for packed operands, and the start values where they come first."""
        self.writer.needs.add(self.shape.need)
        starts = self._starts()
        body: tuple[Stmt, ...] = (Evaluate(self._product()),)
        for dim in reversed((*self.found.outer, *self.found.sums)):
            variable = self.writer.bodies.index_name(dim)
            begin, end = self._range(dim)
            body = (For(variable, begin, Binary("<", Id(variable), end), Literal("1"), body),)
        helpers: tuple[Stmt, ...] = ()
        if starts is not None:
            own = [Id(name) for part in self.ranges for name in (part.begin, part.end)]
            helpers = (Evaluate(Call(starts.function.name, (*starts.arguments, *own))),)
        nest = self.writer.as_nest((self.stage,), self.plan, (*helpers, *body), kind, self.ranges)
        pad = Pad(self.pad, self.stage.dtype.c, self._pad_bytes())
        parameters = (Parameter(f"{pad.ctype} *", pad.array), *nest.function.parameters)
        return replace(
            nest,
            function=replace(nest.function, parameters=parameters),
            arguments=(Id(pad.array), *nest.arguments),
            helpers=starts.functions if starts is not None else (),
            pads=(pad,),
        )

    def _starts(self) -> Nest | None:
        """Loops that compute the start values, where a register block cannot."""
        if not self.found.starts:
            return None
        dims = self.stage.dims
        plan = LoopPlan(self.plan.group, "map", dims, None, dims[-1], "start values")
        return self.writer.ranged(self.stage, plan, self.along, "start")

    def _product(self) -> CExpr:
        found, blocks = self.found, self.plan.blocks
        m, n, k = (self._length(dim) for dim in (found.rows, found.columns, found.depth))
        target = self._result()
        addend = target if found.starts else found.start.factor if found.start is not None else None
        beta = found.start.beta if found.start is not None else None
        arguments = (
            m,
            n,
            k,
            self._value(found.scale),
            self._first(found.left),
            self._step(found.left, found.rows),
            self._step(found.left, found.depth),
            self._first(found.right),
            self._step(found.right, found.depth),
            self._step(found.right, found.columns),
            self._value(beta),
            Literal("NULL") if addend is None else self._first(addend),
            Literal("0") if addend is None else self._step(addend, found.rows),
            self._first(target),
            self._step(target, found.rows),
            *(Literal(str(size)) for size in (blocks.kc, blocks.mc, blocks.nc, blocks.small)),
            Id(self.pad),
        )
        return Call(f"_pm_gemm_{self.shape.suffix}", arguments)

    def _result(self) -> Factor:
        """The result as a factor: its own element."""
        own = tuple(Affine.name(dim) for dim in self.stage.dims)
        return Factor(self.stage.ref, own)

    def _value(self, scale: Expr | None) -> CExpr:
        return Literal("1") if scale is None else self.writer.bodies.value(scale, self.stage.dtype)

    def _range(self, dim: str) -> tuple[CExpr, CExpr]:
        """The first index of a dimension and the one after the last."""
        if dim in self.along:
            part = next(r for r in self.ranges if r.number == self.along.index(dim))
            return Id(part.begin), Id(part.end)
        low, high = self.found.bounds[dim]
        return self.writer.bodies.size_expr(low), self.writer.bodies.size_expr(high + 1)

    def _length(self, dim: str) -> CExpr:
        begin, end = self._range(dim)
        return end if begin == Literal("0") else Binary("-", end, begin)

    def _first(self, factor: Factor) -> CExpr:
        """The address of the first element of a matrix, with the loops around it at their indices."""
        values: dict[str, CExpr] = {}
        for dim in (self.found.rows, self.found.columns, self.found.depth):
            values[dim] = self._range(dim)[0]
        for dim in (*self.found.outer, *self.found.sums):
            values[dim] = Id(self.writer.bodies.index_name(dim))
        return self.writer.bodies.address(factor.source, factor.indices, values)

    def _step(self, factor: Factor, dim: str) -> CExpr:
        """How many elements lie between neighbours along a dimension."""
        return self.writer.bodies.step(factor.source, factor.indices, dim)

    def _pad_bytes(self) -> CExpr:
        """Room for a packed block of either operand: kc x (mc + nc) elements, less for small matrices."""
        blocks, found = self.plan.blocks, self.found
        size = self.writer.bodies.size_expr
        self.writer.needs.update({"min_i64", "place"})

        def at_most(dim: str, most: int) -> CExpr:
            return Call("_pm_extent", (Call("_pm_min_i64", (size(found.extent(dim)), Literal(str(most)))),))

        sides = [at_most(found.rows, blocks.mc), at_most(found.columns, blocks.nc)]
        both = Binary("+", Binary("+", *sides), Literal(f"{2.0 * blocks.lanes}"))
        depth = at_most(found.depth, blocks.kc)
        return Binary("*", Binary("*", Literal(f"{float(self.stage.dtype.size)}"), depth), both)
