"""Extremes of columns with their first places: a row of results, with an index beside each of them.

Some rows are compared with one row of results at a time, so that these are loaded and stored once for them,
and some columns one after the other, so that these stay in the first-level cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Declare, For, Id, If, Literal, Stmt, plus
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.positionnarrow import OTHERS, TOGETHER, PositionNarrow
from polymat.codegen.loops.positionpoints import BEST, NUMBER, ONE, PositionPoints
from polymat.codegen.loops.positionresults import PositionResults
from polymat.codegen.loops.stagecode import StageWriter
from polymat.plan.position import PositionPlan

COLUMNS = 1024  # that are compared one after the other
VALUE = "_pm_value"
REST = "_pm_rest"  # where the rows begin that are compared one by one
FIRST, BEHIND = "_pm_first_column", "_pm_behind_column"  # of the columns


class PositionRows:
    """Writes the nest of extremes along one dimension, with their places."""

    def __init__(self, writer: StageWriter, plan: PositionPlan, along: Sequence[str | None]) -> None:
        self.writer, self.plan = writer, plan
        self.points = points = PositionPoints(writer, plan)
        self.extreme, self.place = points.extreme, points.place
        (self.reduced,) = points.item.reduced_dims
        self.results = PositionResults(points, plan, along)

    def nest(self, kind: str) -> NestFunction:
        """The function over a run-time range of the outermost dimension."""
        writer, stages = self.writer, (self.extreme, self.place)
        writer.needs.add(MIN_I64)
        low, high = (writer.size(form) for form in self.points.box[self.reduced])
        body = self._in_columns((If(CBinary("<=", low, high), self._rows(), (self._none(),)),))
        narrow = PositionNarrow(self.points, *self.results.ends(self.extreme.dims[-1]))
        if narrow.is_possible:
            body = (If(narrow.is_worth, (*narrow.loops(), *self._others()), body),)
        body = self.results.around(body, self.extreme.dims[:-1])
        return writer.as_nest(stages, self.plan, body, kind, self.results.ranges)

    def _in_columns(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Some columns one after the other."""
        start, end = self.results.ends(self.extreme.dims[-1])
        many, first = Literal(str(COLUMNS)), Id(FIRST)
        behind = CCall(MIN_I64.function, (CBinary("+", first, many), end))
        body = (Declare("const ptrdiff_t", BEHIND, behind), *body)
        return (For(FIRST, start, CBinary("<", first, end), many, body),)

    def _others(self) -> tuple[Stmt, ...]:
        """The rows that are left of those of a few columns."""
        start, end = self.results.ends(self.extreme.dims[-1])
        row = Id(self.writer.bodies.index_name(self.reduced))
        inside = CBinary("<=", row, self.writer.size(self.points.box[self.reduced][1]))
        return (
            Declare("const ptrdiff_t", FIRST, start),
            Declare("const ptrdiff_t", BEHIND, end),
            For(row.name, Id(OTHERS), inside, ONE, (self._compared(row, 1),)),
        )

    def _rows(self) -> tuple[Stmt, ...]:
        """The first row as it is, then some rows at a time, and those that are left."""
        low, high = self.points.box[self.reduced]
        variable, size = self.writer.bodies.index_name(self.reduced), self.writer.size
        many, turn = CBinary("-", size(high), size(low)), Literal(str(TOGETHER))
        turns = CBinary("*", CBinary("/", many, turn), turn)
        row, rest = Id(variable), Id(REST)
        inside = CBinary("<", row, rest)
        return (
            self._along(self.points.stored(*self.points.at({self.reduced: size(low)}))),
            Declare("const ptrdiff_t", REST, CBinary("+", size(low + 1), turns)),
            For(variable, size(low + 1), inside, turn, (self._compared(row, TOGETHER),)),
            For(variable, rest, CBinary("<=", row, size(high)), ONE, (self._compared(row, 1),)),
        )

    def _none(self) -> Stmt:
        """Results without any points."""
        return self._along(self.points.stored(*map(self.points.start, (self.extreme, self.place))))

    def _compared(self, row: CExpr, count: int) -> Stmt:
        """Compare some rows with the results so far, and store what these are then."""
        body: list[Stmt] = [*self.points.started()]
        for k in range(count):
            value, where = self.points.at({self.reduced: plus(row, k)})
            seen = Id(f"{VALUE}_{k}")
            body.append(Declare(f"const {self.extreme.dtype.c}", seen.name, value))
            body += self.points.taken(seen, where, k)
        return self._along((*body, *self.points.stored(Id(BEST), Id(NUMBER))))

    def _along(self, body: tuple[Stmt, ...]) -> Stmt:
        """A loop along some columns."""
        variable = self.writer.bodies.index_name(self.extreme.dims[-1])
        return For(variable, Id(FIRST), CBinary("<", Id(variable), Id(BEHIND)), ONE, body, (VECTORS,))
