"""The extreme of all points and its first place: the block that has it is looked through again.

A block lies in the first-level cache; what is read of it a second time comes from there or is little.
Threads look through parts of the points, whose results are compared in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Braces,
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
    Stmt,
    Subscript,
    Ternary,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.loops.nestfunction import MOST_PIECES, PIECES, NestFunction
from polymat.codegen.loops.positionorder import is_better
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.graph.stage import Stage
from polymat.lang.neutral import neutral
from polymat.plan.position import PositionPlan

ELEMENTS = 1024  # of a block
ROWS, COLUMNS = "_pm_block_rows", "_pm_block_columns"  # of a block
FIRSTS = ("_pm_first_row", "_pm_first_column")  # of the block that is looked at
AT, BEFORE, PIECE = "_pm_at", "_pm_before", "_pm_piece"
FOUND, PLACES = "_pm_found", "_pm_places"  # of each piece
ZERO, ONE = Literal("0"), Literal("1")


class PositionBlocks:
    """Writes the nest of one extreme and its place."""

    def __init__(self, writer: StageWriter, plan: PositionPlan) -> None:
        self.writer, self.plan = writer, plan
        self.extreme, self.place = (writer.pipeline.stage(name) for name in plan.group.stages)
        item = self.extreme.accumulations[0]
        self.dims = item.reduced_dims
        box = dict(zip(item.dims, item.box, strict=True))
        self.box = [box[dim] for dim in self.dims]

    def nest(self, kind: str) -> NestFunction:
        """The function, and those that look through blocks and parts of the points."""
        writer, stages = self.writer, (self.extreme, self.place)
        writer.needs.add(MIN_I64)
        block, look = (writer.partial(each, self.plan.loops[each.name], self.dims) for each in stages)
        search = self._search(block)
        lows = Braces(tuple(writer.size(low) for low, _ in self.box))
        whole = Evaluate(self._searched(search, self._array, Id(AT), *self._ends))
        body: tuple[Stmt, ...] = (
            Assign(self._element(self.extreme), "=", self._start(self.extreme)),
            Declare("ptrdiff_t", f"{AT}[{len(self.dims)}]", lows),
            If(CBinary("==", Id(PIECES), ONE), (whole,), self._in_pieces(search)),
            Assign(self._element(self.place), "=", self._start(self.place)),
            *self._block(),
            Evaluate(CCall(look.function.name, (*look.arguments, *self._around_found()))),
        )
        nest = writer.as_nest(stages, self.plan, body, kind, ())
        function = nest.function
        parameters = (*function.parameters, CParameter("const ptrdiff_t", PIECES))
        helpers = (*block.functions, *look.functions, search.function)
        return replace(nest, function=replace(function, parameters=parameters), helpers=helpers, pieces=True)

    # ---- blocks ----

    def _search(self, block: NestFunction) -> NestFunction:
        """The function that finds the extreme of some points along the first dimension, and its block.

        m = start; for blocks: { before = m; m = max(m, the block); if (m is better than before) at = block; }
        """
        element, part = self._element(self.extreme), Range(0, *self.box[0])
        first = [Id(name) for name in FIRSTS[: len(self.dims)]]
        limits: list[CExpr] = [Id(part.end), *(self.writer.size(high + 1) for _, high in self.box[1:])]
        bounds, noted = self._around(first, limits), _noted(Id(AT), first)
        body: tuple[Stmt, ...] = (
            Declare(f"const {self.extreme.dtype.c}", BEFORE, element),
            Evaluate(CCall(block.function.name, (*block.arguments, *bounds))),
            If(is_better(self.extreme, element, Id(BEFORE)), noted),
        )
        starts: list[CExpr] = [Id(part.begin), *(self.writer.size(low) for low, _ in self.box[1:])]
        for at, start, size, end in reversed([*zip(first, starts, self._sizes, limits, strict=True)]):
            body = (For(at.name, start, CBinary("<", at, end), size, body),)
        made = self.writer.as_nest((self.extreme,), self.plan, (*self._block(), *body), "search", [part])
        parameters = (CParameter("ptrdiff_t *", AT), *made.function.parameters)
        arguments = (Id(AT), *made.arguments)
        return replace(made, function=replace(made.function, parameters=parameters), arguments=arguments)

    @property
    def _sizes(self) -> list[CExpr]:
        return [Literal(str(ELEMENTS))] if len(self.dims) == 1 else [Id(ROWS), Id(COLUMNS)]

    def _block(self) -> tuple[Stmt, ...]:
        """How many rows and columns a block has: several whole rows, or a part of one."""
        if len(self.dims) == 1:
            return ()
        low, high = self.box[1]
        most, wide = Literal(str(ELEMENTS)), self.writer.size(high - low + 1)
        columns = Declare("const ptrdiff_t", COLUMNS, CCall(MIN_I64.function, (wide, most)))
        few = CBinary("<", ZERO, Id(COLUMNS))
        rows = Ternary(few, CBinary("/", most, Id(COLUMNS)), ONE)
        return columns, Declare("const ptrdiff_t", ROWS, rows)

    def _around_found(self) -> list[CExpr]:
        """The ends of the block that has the extreme, along each dimension."""
        first = [Subscript(Id(AT), Literal(str(k))) for k in range(len(self.dims))]
        return self._around(first, [self.writer.size(high + 1) for _, high in self.box])

    def _around(self, first: Sequence[CExpr], limits: Sequence[CExpr]) -> list[CExpr]:
        """Where a block begins and ends along each dimension; limits: behind all points."""
        return [
            bound
            for at, size, end in zip(first, self._sizes, limits, strict=True)
            for bound in (at, CCall(MIN_I64.function, (CBinary("+", at, size), end)))
        ]

    # ---- pieces ----

    def _in_pieces(self, search: NestFunction) -> tuple[Stmt, ...]:
        """Look through pieces of the points, one a thread, and compare what is found in them in order."""
        count, piece = len(self.dims), Id(PIECE)
        begin, end = self._ends
        length = CBinary("-", end, begin)
        cuts = [self._cut(begin, length, at) for at in (piece, CBinary("+", piece, ONE))]
        found, places = Subscript(Id(FOUND), piece), self._places(piece)
        at_first = _noted(places, [cuts[0], *(self.writer.size(low) for low, _ in self.box[1:])])
        searched = Evaluate(self._searched(search, CUnary("&", found), places, *cuts))
        inside, start = CBinary("<", piece, Id(PIECES)), Assign(found, "=", self._start(self.extreme))
        pragma = f"omp parallel for num_threads((int){PIECES}) schedule(static, 1)"
        element = self._element(self.extreme)
        kept = _noted(Id(AT), [Subscript(places, Literal(str(k))) for k in range(count)])
        better = If(is_better(self.extreme, found, element), (Assign(element, "=", found), *kept))
        return (
            Declare(self.extreme.dtype.c, f"{FOUND}[{MOST_PIECES}]"),
            Declare("ptrdiff_t", f"{PLACES}[{MOST_PIECES * count}]"),
            For(PIECE, ZERO, inside, ONE, (start, *at_first, searched), (pragma,)),
            For(PIECE, ZERO, inside, ONE, (better,)),
        )

    def _places(self, piece: CExpr) -> CExpr:
        """Where the block of a piece is noted."""
        return CBinary("+", Id(PLACES), CBinary("*", piece, Literal(str(len(self.dims)))))

    def _cut(self, begin: CExpr, length: CExpr, piece: CExpr) -> CExpr:
        """Where the piece of a number begins."""
        return CBinary("+", begin, CBinary("/", CBinary("*", length, piece), Id(PIECES)))

    @property
    def _ends(self) -> tuple[CExpr, CExpr]:
        low, high = self.box[0]
        return self.writer.size(low), self.writer.size(high + 1)

    # ---- what is handed on ----

    def _searched(self, search: NestFunction, found: CExpr, at: CExpr, *ends: CExpr) -> CExpr:
        """Look through some points; found: where the extreme goes.  at: where its block does."""
        given = {Id(AT): at, self._array: found}
        return CCall(search.function.name, (*(given.get(each, each) for each in search.arguments), *ends))

    @property
    def _array(self) -> CExpr:
        return Id(self.writer.bodies.array(self.extreme.name))

    def _element(self, stage: Stage) -> CExpr:
        return self.writer.bodies.element(stage.name, ())

    def _start(self, stage: Stage) -> CExpr:
        return self.writer.bodies.constant(neutral(stage.operation, stage.dtype))


def _noted(to: CExpr, places: Sequence[CExpr]) -> tuple[Stmt, ...]:
    """Write down a place along each dimension."""
    return tuple(Assign(Subscript(to, Literal(str(k))), "=", place) for k, place in enumerate(places))
