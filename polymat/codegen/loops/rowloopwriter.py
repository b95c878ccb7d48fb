"""All stages of a rolling tile in one loop over vectors of columns (`polymat.tilesize.rowloop`).

    before:  for each row: t[...] = ...;  for each row: y[...] = ... t ...
    after:   for x by 16: t0 = ...; t1 = ...; keep their rows; y0 = ... t0 and its neighbour before ...; ...

The function computes a whole tile that is not the first of its thread; the others run stage by stage.  It
computes columns beside the tile too, from whatever is there, and nobody reads them; it is therefore called
only where all that it loads lies inside the arrays, and stores no column of a result that is not the tile's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Braces,
    CBinary,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    names_in,
)
from polymat.codegen.c.sharedvalues import shared_values
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.rowplaces import AT, COLUMN, RowPlaces
from polymat.codegen.loops.rowstores import RowStores
from polymat.codegen.loops.rowstreams import RowReads
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.lang.names import RESERVED_PREFIX
from polymat.lang.traverse import walk
from polymat.plan.tile import TilePlan
from polymat.plan.tileloops import RowLoop


class RowLoopWriter:
    """Writes the one loop of a tiled group, once for each way to store."""

    def __init__(
        self, bodies: BodyWriter, stages: Sequence[Stage], plan: TilePlan, loop: RowLoop, *, past_caches: bool
    ) -> None:
        self.places = RowPlaces(bodies, stages, plan, loop, past_caches=past_caches)
        self.inputs, self.results = RowReads(self.places), RowStores(self.places)
        self.locals = 0

    def body(self) -> tuple[Stmt, ...]:
        """The statements of the function that runs all stages of a rolling tile in one loop."""
        inside = tuple(self._turn())
        kept = [Declare(self.places.types.vector, name, Braces((Literal("0"),))) for name in self._carried()]
        starts = [
            Declare(self.places.types.vector, s.now, self.inputs.load(row, self.inputs.start(s)))
            for row, s in self.inputs.streams.items()
            if s.is_shifted(self.places.loop.lanes)
        ]
        loop = For(
            AT,
            self.places.size(Affine.name(COLUMN) + self.places.loop.lead),
            CBinary("<", Id(AT), self.places.size(self.places.end())),
            self.places.types.lanes_text,
            inside,
        )
        return (*self.results.bounds(), *kept, *starts, loop)

    def _turn(self) -> Iterator[Stmt]:
        yield from self.inputs.requests()
        yield from self.results.requests()
        for row, stream in self.inputs.streams.items():
            if stream.is_shifted(self.places.loop.lanes):
                ahead = Affine.name(AT) + (stream.first + self.places.loop.lanes)
                yield Declare(f"const {self.places.types.vector}", stream.next, self.inputs.load(row, ahead))
        for name in self.places.stages:
            yield from self._stage(name)
        yield from self.results.stores()
        moves = [(was, self.places.value(*key)) for key, was in self.inputs.shifted.items()]
        if self.places.past_caches:
            moves += [(self.places.last(*key), self.places.value(*key)) for key in self.places.stored()]
        moves += [
            (s.now, s.next) for s in self.inputs.streams.values() if s.is_shifted(self.places.loop.lanes)
        ]
        yield from (Assign(Id(to), "=", Id(value)) for to, value in moves)

    def _carried(self) -> list[str]:
        """The vectors of members that the next turn needs again."""
        own = list(self.inputs.shifted.values())
        return (
            own + [self.places.last(*key) for key in self.places.stored()] if self.places.past_caches else own
        )

    def _stage(self, name: str) -> Iterator[Stmt]:
        """The vectors of all rows of a stage; the rows that the next tile needs are kept."""
        stage, member = self.places.stages[name], self.places.members[name]
        expr = stage.parts[0].expr
        for k in range(self.places.loop.rows):
            writer = self.places.bodies.writer({})
            for node in walk(expr):
                if isinstance(node, Load):
                    writer.ready[id(node)] = self.inputs.read(name, node, k)
            declared = shared_values(writer, expr, self.locals)
            self.locals += len(declared)
            yield from self._typed(declared)
            yield Declare(
                f"const {self.places.types.vector}",
                self.places.value(name, k),
                writer.value(expr, stage.dtype),
            )
            if member.scratch and k >= self.places.loop.rows - sum(member.margins[0]):
                yield Evaluate(
                    self.places.types.store(self.places.element(name, k), Id(self.places.value(name, k)))
                )

    def _typed(self, declared: Sequence[Stmt]) -> Iterator[Stmt]:
        """Declarations with the type of a vector where their value is one: users' scalars are no such."""
        scalars: set[str] = set()
        for statement in declared:
            assert isinstance(statement, Declare), "shared values are declared"
            if any(name.startswith(RESERVED_PREFIX) for name in names_in([statement]) - scalars):
                yield replace(statement, ctype=f"const {self.places.types.vector}")
            else:
                scalars.add(statement.name)
                yield statement

    def reads(self) -> Iterator[tuple[str, CExpr, CExpr]]:
        """The arrays outside the group: where the loop reads first, and what it stays before."""
        return self.inputs.reach()
