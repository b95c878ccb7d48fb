"""Extremes and their first places: all points are searched, and those that have one are looked at again.

Where there is one extreme, of all points, threads search parts of these, whose results are compared in order;
where there are several, threads share these.
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
)
from polymat.codegen.c.needs import MAX_I64
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.nestfunction import MOST_PIECES, PIECES, NestFunction
from polymat.codegen.loops.positionlook import PositionLook
from polymat.codegen.loops.positionorder import is_better
from polymat.codegen.loops.positionpath import PositionPath
from polymat.codegen.loops.positionpoints import BEST, ONE, ZERO, PositionPoints
from polymat.codegen.loops.positionresults import PositionResults
from polymat.codegen.loops.positionsearch import AT, FOUND, PositionSearch
from polymat.codegen.loops.stagecode import StageWriter
from polymat.plan.position import PositionPlan

PIECE = "_pm_piece"
BESTS, PLACES = "_pm_bests", "_pm_places"  # of each piece


class PositionBlocks:
    """Writes the nest of extremes and their places.

    slots: what a search says of a place.
    """

    def __init__(self, writer: StageWriter, plan: PositionPlan, along: Sequence[str | None]) -> None:
        self.writer, self.plan = writer, plan
        points = self.points = PositionPoints(writer, plan)
        self.extreme, self.place = points.extreme, points.place
        self.path, self.results = PositionPath(points), PositionResults(points, plan, along)
        self.slots = len(self.path.running) + 1
        self.search = PositionSearch(plan, self.path).function()
        self.look = PositionLook(plan, self.path).function()

    def nest(self, kind: str) -> NestFunction:
        """The function, and those that search and look."""
        self.writer.needs.add(MAX_I64)
        nest = self._each(kind) if self.extreme.dims else self._one(kind)
        return replace(nest, helpers=(*self.search.functions, *self.look.functions))

    def _each(self, kind: str) -> NestFunction:
        """Extremes one after the other, for a part of the first dimension of the results."""
        ends = [end for pair in self.path.ends for end in pair]
        body: tuple[Stmt, ...] = (
            Declare(self.extreme.dtype.c, BEST, self.points.start(self.extreme)),
            self._begun(),
            self._searched(CUnary("&", Id(BEST)), Id(AT), *ends),
            *self.points.stored(Id(BEST), self.points.start(self.place)),
            self._looked(),
        )
        body = self.results.around(body, self.extreme.dims)
        stages = (self.extreme, self.place)
        return self.writer.as_nest(stages, self.plan, body, kind, self.results.ranges)

    def _one(self, kind: str) -> NestFunction:
        """The extreme of all points, in as many pieces as the last argument says."""
        ends = [end for pair in self.path.ends for end in pair]
        element = self.points.target(self.extreme)
        whole = self._searched(CUnary("&", element), Id(AT), *ends)
        body: tuple[Stmt, ...] = (
            *self.points.stored(self.points.start(self.extreme), self.points.start(self.place)),
            self._begun(),
            If(CBinary("==", Id(PIECES), ONE), (whole,), self._in_pieces(element)),
            self._looked(),
        )
        nest = self.writer.as_nest((self.extreme, self.place), self.plan, body, kind, ())
        parameters = (*nest.function.parameters, CParameter("const ptrdiff_t", PIECES))
        return replace(nest, function=replace(nest.function, parameters=parameters), pieces=True)

    def _in_pieces(self, element: CExpr) -> tuple[Stmt, ...]:
        """Search pieces of the points, one a thread, and compare what is found in them in order."""
        piece, count = Id(PIECE), Literal(str(self.slots))
        (begin, end), *others = self.path.ends
        length = CBinary("-", end, begin)
        cuts = [self._cut(begin, length, at) for at in (piece, CBinary("+", piece, ONE))]
        ends = [(cuts[0], cuts[1]), *others]
        found, places = Subscript(Id(BESTS), piece), CBinary("+", Id(PLACES), CBinary("*", piece, count))
        searched = self._searched(CUnary("&", found), places, *(each for pair in ends for each in pair))
        inside, start = CBinary("<", piece, Id(PIECES)), Assign(found, "=", self.points.start(self.extreme))
        pragma = f"omp parallel for num_threads((int){PIECES}) schedule(static, 1)"
        slots = [Literal(str(k)) for k in range(self.slots)]
        begun = (
            Assign(Subscript(places, k), "=", at) for k, at in zip(slots, self._first(ends), strict=True)
        )
        kept = [Assign(Subscript(Id(AT), k), "=", Subscript(places, k)) for k in slots]
        better = If(is_better(self.extreme, found, element), (Assign(element, "=", found), *kept))
        return (
            Declare(self.extreme.dtype.c, f"{BESTS}[{MOST_PIECES}]"),
            Declare("ptrdiff_t", f"{PLACES}[{MOST_PIECES * self.slots}]"),
            For(PIECE, ZERO, inside, ONE, (start, *begun, searched), (pragma,)),
            For(PIECE, ZERO, inside, ONE, (better,)),
        )

    def _cut(self, begin: CExpr, length: CExpr, piece: CExpr) -> CExpr:
        """Where the piece of a number begins."""
        return CBinary("+", begin, CBinary("/", CBinary("*", length, piece), Id(PIECES)))

    def _begun(self) -> Declare:
        """The first point, than which none may be better."""
        return Declare("ptrdiff_t", f"{AT}[{self.slots}]", Braces(self._first(self.path.ends)))

    def _first(self, ends: Sequence[tuple[CExpr, CExpr]]) -> tuple[CExpr, ...]:
        """The first of some points, and whether there is any."""
        there = all_of(CBinary("<", low, end) for low, end in ends)
        return (*(low for low, _ in ends), there)

    def _searched(self, found: CExpr, at: CExpr, *ends: CExpr) -> Evaluate:
        """Search some points; found: where the extreme goes.  at: where its place does."""
        given = {Id(AT): at, Id(FOUND): found}
        arguments = (
            given.get(each, each) if isinstance(each, Id) else each for each in self.search.arguments
        )
        return Evaluate(CCall(self.search.function.name, (*arguments, *ends)))

    def _looked(self) -> Evaluate:
        """Look for the place among the points that a search says."""
        *outer, first, many = (Subscript(Id(AT), Literal(str(k))) for k in range(self.slots))
        kept = [Id(self.writer.bodies.index_name(dim)) for dim in self.extreme.dims]
        arguments = (*kept, *outer, *self.look.arguments, first, CBinary("+", first, many))
        return Evaluate(CCall(self.look.function.name, arguments))
