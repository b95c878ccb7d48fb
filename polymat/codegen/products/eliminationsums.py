"""What some steps of a recurrence add to later results: a product of matrices."""

from __future__ import annotations

from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CCall,
    CExpr,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    Ternary,
)
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.codegen.products.eliminationparts import NULL, ONE, ZERO, EliminationParts, length
from polymat.graph.elimination import Side
from polymat.lang.affine import Affine


class SumsWriter(EliminationParts):
    """Writes the product that is added to a rectangle of results."""

    def function(self) -> NestFunction:
        ranges = (self.steps, self.rows, self.columns)
        copies = [
            self._copy(name, side, part)
            for name, side, part in zip(
                self.copied, (self.found.left, self.found.right), (self.rows, self.columns), strict=True
            )
            if name is not None
        ]
        body: tuple[Stmt, ...] = (*copies, Evaluate(self._product()))
        nest = self.writer.as_nest((self.stage,), self.plan, body, "add", ranges)
        function = nest.function
        return replace(
            nest,
            function=replace(function, parameters=(*self.pad_parameters(), *function.parameters)),
            arguments=(*(Id(pad.array) for pad in self.pads()), *nest.arguments),
        )

    def _copy(self, name: str, side: Side, part: Range) -> For:
        """The values of an operand, the steps of each row or column one after the other."""
        step, bodies = self.found.dims[0], self.writer.bodies
        dim = self.found.dims[part.number]
        point = bodies.loop_point((step, dim))
        line = CBinary("*", CBinary("-", point[dim], Id(part.begin)), length(self.steps))
        place = CBinary("+", line, CBinary("-", point[step], Id(self.steps.begin)))
        value = bodies.writer(point).value(side.expr, self.stage.dtype, exact=True)
        body: tuple[Stmt, ...] = (Assign(Subscript(Id(name), place), "=", value),)
        for each, limits in ((step, self.steps), (dim, part)):
            variable = bodies.index_name(each)
            below = CBinary("<", Id(variable), Id(limits.end))
            loop = For(variable, Id(limits.begin), below, ONE, body)
            body = (loop,)
        return loop

    def _product(self) -> CExpr:
        """The product that is added to a rectangle of results."""
        found, blocks, suffix = self.found, self.plan.blocks, self.shape.suffix
        _, row, column = found.dims
        bodies = self.writer.bodies
        own = tuple(Affine.name(dim) for dim in self.stage.dims)
        target = bodies.address(self.stage.name, own, self._corner())
        across = bodies.step(self.stage.name, own, row)
        scale = ONE if found.scale is None else bodies.value(found.scale, self.stage.dtype)
        first, down, along = self._operand(0, found.left, row)
        second, right_across, right_down = self._operand(1, found.right, column)
        segments = (ONE, Id(f"_pm_origin_{suffix}")) * 3
        arguments = (
            *(length(part) for part in (self.rows, self.columns, self.steps)),
            *segments,
            *(scale, first, down, along, second, right_down, right_across, ONE),
            *(target, across, target, across),
            *(Literal(str(size)) for size in (blocks.kc, blocks.mc, blocks.nc, blocks.small)),
            *(ZERO, self._half(), Id(self.packed), NULL, NULL, NULL),
        )
        return CCall(f"_pm_gemm_{suffix}", arguments)

    def _corner(self) -> dict[str, CExpr]:
        parts = (self.steps, self.rows, self.columns)
        return {dim: Id(part.begin) for dim, part in zip(self.found.dims, parts, strict=True)}

    def _operand(self, number: int, side: Side, dim: str) -> tuple[CExpr, CExpr, CExpr]:
        """Where an operand begins, and how far rows or columns and steps of it are apart."""
        name, bodies, step = self.copied[number], self.writer.bodies, self.found.dims[0]
        if name is not None or side.single is None:
            return Id(str(name)), length(self.steps), ONE
        factor = side.single
        first = bodies.address(factor.source, factor.indices, self._corner())
        across, along = (bodies.step(factor.source, factor.indices, each) for each in (dim, step))
        return first, across, along

    def _half(self) -> CExpr:
        """The triangle of results, unless all of the rectangle lies in it."""
        shape, name = self.found.trailing.triangle, f"_pm_half_of_{self.shape.suffix}"
        if shape is None:
            return CCall(name, (ZERO, ZERO, ZERO, NULL, ZERO, ZERO))
        before, shift = shape
        first = CBinary("+", Id(self.rows.begin), Literal(str(shift)))
        if before:
            inside = CBinary("<=", Id(self.columns.end), CBinary("+", first, ONE))
        else:
            last = CBinary("+", Id(self.rows.end), Literal(str(shift - 1)))
            inside = CBinary(">=", Id(self.columns.begin), last)
        diagonal = CBinary("-", CBinary("+", first, Literal(str(int(before)))), Id(self.columns.begin))
        place = Ternary(inside, ZERO, Literal("3"))
        return CCall(name, (place, Literal(str(int(before))), diagonal, NULL, ZERO, ZERO))
