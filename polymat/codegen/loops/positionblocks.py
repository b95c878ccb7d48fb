"""Extremes and their first places: the block that has an extreme is looked through again.

A block lies in the first-level cache; what is read of it a second time comes from there or is little.  Where
there is one extreme, of all points, threads look through parts of these, whose results are compared in order;
where there are several they share these.  Of few points each is compared with the best before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

from polymat.codegen.c.ctree import (
    APART,
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
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.loops.nestfunction import MOST_PIECES, PIECES, NestFunction
from polymat.codegen.loops.positionlook import PositionLook
from polymat.codegen.loops.positionorder import is_better
from polymat.codegen.loops.positionpoints import BEST, NUMBER, PositionPoints
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.graph.flatpoints import flattened, is_flat
from polymat.plan.position import PositionPlan

BYTES = 16384  # of the elements of a block
FEW = 32  # points that are compared one by one
ROWS, COLUMNS = "_pm_block_rows", "_pm_block_columns"  # of a block
FIRSTS = ("_pm_first_row", "_pm_first_column")  # of the block that is looked at
AT, BEFORE, PIECE = "_pm_at", "_pm_before", "_pm_piece"
FOUND, PLACES = "_pm_found", "_pm_places"  # of each piece
COUNT, VALUE = "_pm_count", "_pm_value"
ZERO, ONE = Literal("0"), Literal("1")


class PositionBlocks:
    """Writes the nest of extremes and their places.

    running: the reduced dimensions that loops run along, which are the last one alone where all elements lie
    behind each other.  ends: where each of them begins, and what is behind it.
    """

    def __init__(self, writer: StageWriter, plan: PositionPlan, along: Sequence[str | None]) -> None:
        self.writer, self.plan = writer, plan
        self.points = points = PositionPoints(writer, plan)
        self.extreme, self.place = points.extreme, points.place
        stored = writer.storage.items()
        whole = {name: each.extents for name, each in stored if not each.folds and each.ring is None}
        reduced, kept = points.item.reduced_dims, self.extreme.dims
        self.flat = is_flat(points.item, whole)
        self.running = reduced[-1:] if self.flat else reduced
        self.fixed: dict[str, CExpr] = dict.fromkeys(reduced[: -len(self.running)], ZERO)
        box = dict(zip(kept, self.extreme.box, strict=True))
        self.ranges = [Range(k, *box[dim]) for k, dim in enumerate(along) if dim in box]

    def nest(self, kind: str) -> NestFunction:
        """The function, and those that look through blocks and parts of the points."""
        self.writer.needs.update((MIN_I64, MAX_I64))
        loops = self.plan.loops[self.extreme.name]
        extreme = flattened(self.extreme) if self.flat else self.extreme
        block = self.writer.partial(extreme, loops, (*extreme.dims, *self.running))
        # With loops around it, of one turn, gcc 12 makes no vectors of the loop in it.
        block = replace(block, function=replace(block.function, returns=APART))
        look = PositionLook(self.writer, self.plan, self.points, self.running, self.fixed).function()
        return self._each(kind, block, look) if self.extreme.dims else self._one(kind, block, look)

    # ---- several extremes ----

    def _each(self, kind: str, block: NestFunction, look: NestFunction) -> NestFunction:
        """Extremes one after the other, for a part of the first dimension of the results."""
        few = CBinary("&&", CBinary("<", ZERO, Id(COUNT)), CBinary("<=", Id(COUNT), Literal(str(FEW))))
        lengths: list[CExpr] = [
            CCall(MAX_I64.function, (ZERO, CBinary("-", end, low))) for low, end in self._box
        ]
        body: tuple[Stmt, ...] = (If(few, self._compared(), self._looked_up(block, look)),)
        for dim in reversed(self.extreme.dims):
            body = (self._over(dim, body),)
        count = Declare("const ptrdiff_t", COUNT, reduce(partial(CBinary, "*"), lengths))
        made = self.writer.as_nest(
            (self.extreme, self.place), self.plan, (count, *self._block(), *body), kind, self.ranges
        )
        return replace(made, helpers=(*block.functions, *look.functions))

    def _compared(self) -> tuple[Stmt, ...]:
        """All points one by one, which there are."""
        index, seen = self.writer.bodies.index_name, Id(VALUE)
        reduced = self.points.item.reduced_dims
        value, number = self.points.at({dim: low for dim, (low, _) in zip(reduced, self._box, strict=True)})
        begun = Declare(self.extreme.dtype.c, BEST, value), Declare(self.place.dtype.c, NUMBER, number)
        value, number = self.points.at({dim: Id(index(dim)) for dim in reduced})
        body: tuple[Stmt, ...] = (
            Declare(f"const {self.extreme.dtype.c}", VALUE, value),
            *self.points.taken(seen, number, 0),
        )
        for dim, (low, end) in reversed([*zip(reduced, self._box, strict=True)]):
            body = (For(index(dim), low, CBinary("<", Id(index(dim)), end), ONE, body),)
        return (*begun, *body, *self.points.stored(Id(BEST), Id(NUMBER)))

    def _over(self, dim: str, body: tuple[Stmt, ...]) -> For:
        """A loop along a dimension of the results."""
        variable = self.writer.bodies.index_name(dim)
        low, high = self.extreme.box[self.extreme.dims.index(dim)]
        start, end = self.writer.size(low), self.writer.size(high + 1)
        if self.ranges and dim == self.plan.parallel:
            start, end = Id(self.ranges[0].begin), Id(self.ranges[0].end)
        return For(variable, start, CBinary("<", Id(variable), end), ONE, body)

    def _looked_up(self, block: NestFunction, look: NestFunction) -> tuple[Stmt, ...]:
        """Blocks of points, and that which has the extreme again."""
        lows = Braces(tuple(low for low, _ in self._ends))
        return (
            *self.points.stored(self.points.start(self.extreme), self.points.start(self.place)),
            Declare("ptrdiff_t", f"{AT}[{len(self.running)}]", lows),
            *self._blocks(block, *zip(*self._ends, strict=True)),
            self._found(look),
        )

    # ---- one extreme ----

    def _one(self, kind: str, block: NestFunction, look: NestFunction) -> NestFunction:
        """The extreme of all points, in as many pieces as the last argument says."""
        search = self._search(block)
        lows = Braces(tuple(low for low, _ in self._ends))
        whole = Evaluate(self._searched(search, self._array, Id(AT), *self._ends[0]))
        body: tuple[Stmt, ...] = (
            *self.points.stored(self.points.start(self.extreme), self.points.start(self.place)),
            Declare("ptrdiff_t", f"{AT}[{len(self.running)}]", lows),
            If(CBinary("==", Id(PIECES), ONE), (whole,), self._in_pieces(search)),
            *self._block(),
            self._found(look),
        )
        nest = self.writer.as_nest((self.extreme, self.place), self.plan, body, kind, ())
        function = nest.function
        parameters = (*function.parameters, CParameter("const ptrdiff_t", PIECES))
        helpers = (*block.functions, *look.functions, search.function)
        return replace(nest, function=replace(function, parameters=parameters), helpers=helpers, pieces=True)

    def _search(self, block: NestFunction) -> NestFunction:
        """The function that finds the extreme of some points along the first dimension, and its block."""
        part = Range(0, *self.points.box[self.running[0]])
        (_, *others) = self._ends
        starts, limits = zip((Id(part.begin), Id(part.end)), *others, strict=True)
        body = (*self._block(), *self._blocks(block, starts, limits))
        made = self.writer.as_nest((self.extreme,), self.plan, body, "search", [part])
        parameters = (CParameter("ptrdiff_t *", AT), *made.function.parameters)
        arguments = (Id(AT), *made.arguments)
        return replace(made, function=replace(made.function, parameters=parameters), arguments=arguments)

    def _in_pieces(self, search: NestFunction) -> tuple[Stmt, ...]:
        """Look through pieces of the points, one a thread, and compare what is found in them in order."""
        count, piece = len(self.running), Id(PIECE)
        (begin, end), *others = self._ends
        length = CBinary("-", end, begin)
        cuts = [self._cut(begin, length, at) for at in (piece, CBinary("+", piece, ONE))]
        found, places = Subscript(Id(FOUND), piece), self._places(piece)
        at_first = _noted(places, [cuts[0], *(low for low, _ in others)])
        searched = Evaluate(self._searched(search, CUnary("&", found), places, *cuts))
        inside, start = CBinary("<", piece, Id(PIECES)), Assign(found, "=", self.points.start(self.extreme))
        pragma = f"omp parallel for num_threads((int){PIECES}) schedule(static, 1)"
        element = self.points.target(self.extreme)
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
        return CBinary("+", Id(PLACES), CBinary("*", piece, Literal(str(len(self.running)))))

    def _cut(self, begin: CExpr, length: CExpr, piece: CExpr) -> CExpr:
        """Where the piece of a number begins."""
        return CBinary("+", begin, CBinary("/", CBinary("*", length, piece), Id(PIECES)))

    def _searched(self, search: NestFunction, found: CExpr, at: CExpr, *ends: CExpr) -> CExpr:
        """Look through some points; found: where the extreme goes.  at: where its block does."""
        given = {Id(AT): at, self._array: found}
        return CCall(search.function.name, (*(given.get(each, each) for each in search.arguments), *ends))

    @property
    def _array(self) -> CExpr:
        return Id(self.writer.bodies.array(self.extreme.name))

    # ---- blocks ----

    def _blocks(
        self, block: NestFunction, starts: Sequence[CExpr], limits: Sequence[CExpr]
    ) -> tuple[Stmt, ...]:
        """The loops over blocks between some limits.

        for blocks: { before = m; m = max(m, the block); if (m is better than before) at = block; }
        """
        element = self.points.target(self.extreme)
        first = [Id(name) for name in FIRSTS[: len(self.running)]]
        index = self.writer.bodies.index_name
        kept: list[CExpr] = [Id(index(dim)) for dim in self.extreme.dims]
        bounds = [bound for each in kept for bound in (each, CBinary("+", each, ONE))]
        bounds += self._around(first, limits)
        body: tuple[Stmt, ...] = (
            Declare(f"const {self.extreme.dtype.c}", BEFORE, element),
            Evaluate(CCall(block.function.name, (*block.arguments, *bounds))),
            If(is_better(self.extreme, element, Id(BEFORE)), _noted(Id(AT), first)),
        )
        for at, start, size, end in reversed([*zip(first, starts, self._sizes, limits, strict=True)]):
            body = (For(at.name, start, CBinary("<", at, end), size, body),)
        return body

    @property
    def _box(self) -> list[tuple[CExpr, CExpr]]:
        """Where each reduced dimension begins, and what is behind it."""
        size, box = self.writer.size, self.points.box
        pairs = (box[dim] for dim in self.points.item.reduced_dims)
        return [(size(low), size(high + 1)) for low, high in pairs]

    @property
    def _ends(self) -> list[tuple[CExpr, CExpr]]:
        """The same of those that loops run along: of a flat one from the first to behind the last element."""
        if not self.flat:
            return self._box
        lengths: list[CExpr] = [CCall(MAX_I64.function, (ZERO, end)) for _, end in self._box]
        return [(ZERO, reduce(partial(CBinary, "*"), lengths))]

    @property
    def _sizes(self) -> list[CExpr]:
        return [self._elements] if len(self.running) == 1 else [Id(ROWS), Id(COLUMNS)]

    @property
    def _elements(self) -> Literal:
        """Points of a block."""
        return Literal(str(BYTES // self.extreme.dtype.size))

    def _block(self) -> tuple[Stmt, ...]:
        """How many rows and columns a block has: several whole rows, or a part of one."""
        if len(self.running) == 1:
            return ()
        low, end = self._ends[1]
        most, wide = self._elements, CBinary("-", end, low)
        columns = Declare("const ptrdiff_t", COLUMNS, CCall(MIN_I64.function, (wide, most)))
        few = CBinary("<", ZERO, Id(COLUMNS))
        rows = Ternary(few, CBinary("/", most, Id(COLUMNS)), ONE)
        return columns, Declare("const ptrdiff_t", ROWS, rows)

    def _found(self, look: NestFunction) -> Stmt:
        """Look for the place in the block that has the extreme."""
        first = [Subscript(Id(AT), Literal(str(k))) for k in range(len(self.running))]
        bounds = self._around(first, [end for _, end in self._ends])
        return Evaluate(CCall(look.function.name, (*look.arguments, *bounds)))

    def _around(self, first: Sequence[CExpr], limits: Sequence[CExpr]) -> list[CExpr]:
        """Where a block begins and ends along each dimension; limits: behind all points."""
        return [
            bound
            for at, size, end in zip(first, self._sizes, limits, strict=True)
            for bound in (at, CCall(MIN_I64.function, (CBinary("+", at, size), end)))
        ]


def _noted(to: CExpr, places: Sequence[CExpr]) -> tuple[Stmt, ...]:
    """Write down a place along each dimension."""
    return tuple(Assign(Subscript(to, Literal(str(k))), "=", place) for k, place in enumerate(places))
