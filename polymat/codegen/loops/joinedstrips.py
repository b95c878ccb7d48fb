"""Strips of slices that wait: what a step changes in them and what it sums up of that, in one pass.

A strip of slices that no first-level cache holds passes from the second one and back for each loop over its
rows.  A sum over all rows that reads the row alone that was just changed finds it in registers, where the
sums are, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce

from polymat.codegen.c.ctree import (
    Assign,
    Braces,
    CBinary,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    plus,
)
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.addends import REST
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.ranges import Range
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.graph.waited import Slices
from polymat.graph.waits import behind_front
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import loads_in
from polymat.plan.loops import LoopPlan
from polymat.plan.strips import JoinedStrips

ROW, SUMS, HELD = "_pm_row", "_pm_sums", "_pm_held"  # vectors, each with its numbers
ROWS = 2  # that are added to sums of their own, so that an addition waits for every other one
_ZERO = Braces((Literal("0"),))


def joined_strip(writer: NestWriter, joined: JoinedStrips, plan: LoopPlan, slices: Slices) -> NestFunction:
    """The nest of a strip of both stages.

    before:  for i: for j: a(i, j) = ...        for i: for j: s(j) += q(i) * a(i, j)
    after:   for i: row = ...; a(i, ...) = row; sums += q(i) * row;  and s(...) = sums
    """
    stages = [writer.pipeline.stage(name) for name in (joined.made, joined.added)]
    made = behind_front(stages[0], slices)
    types = RowTypes.of(made.dtype, slices.lanes)
    assert types is not None, "strips are joined where there are vectors"
    writer.needs.update(types.needs())
    part = Range(0, *made.box[1])
    body = _Strip(writer, types, joined, made, part, slices.wide // types.lanes).body()
    return writer.as_nest(stages, plan, body, "strip", [part])


@dataclass(frozen=True, slots=True)
class _Strip:
    """Writes the loop over rows that are made and added up; count: vectors of a strip."""

    writer: NestWriter
    types: RowTypes
    joined: JoinedStrips
    made: Stage
    part: Range
    count: int

    def body(self) -> tuple[Stmt, ...]:
        """Sums in registers, rows in turns of some, and the sums in memory."""
        start, end = self.writer.size(self.joined.low), self.writer.size(self.joined.high + 1)
        length = end if start == Literal("0") else CBinary("-", end, start)
        turns = CBinary("*", CBinary("/", length, Literal(str(ROWS))), Literal(str(ROWS)))
        rest = turns if start == Literal("0") else CBinary("+", start, turns)
        row, turn = Id(self._variable), Literal(str(ROWS))
        several = (each for k in range(ROWS) for each in self._row(plus(row, k), k))
        loops = (
            *self._loads(),
            Declare("const ptrdiff_t", REST, rest),
            For(row.name, start, CBinary("<", row, Id(REST)), turn, tuple(several)),
            For(row.name, Id(REST), CBinary("<", row, end), Literal("1"), tuple(self._row(row, 0))),
        )
        return (
            *(Declare(self.types.vector, self._sums(*each), _ZERO) for each in self._all_sums),
            If(CBinary("<", start, end), loops),  # of no rows nothing may be read
            *map(self._end, range(self.count)),
        )

    # ---- rows ----

    def _row(self, row: CExpr, number: int) -> Iterator[Stmt]:
        """Make a row and add it to the sums of a number."""
        for v in range(self.count):
            name = f"{ROW}_{number}_{v}"
            target = self.writer.bodies.element(self.made.name, (row, self._column(v)))
            yield Declare(f"const {self.types.vector}", name, self._value(self.joined.part.expr, row, v))
            yield Evaluate(self.types.store(target, Id(name)))
            term = self._value(self.joined.item.expr, row, v, Id(name))
            yield Assign(Id(self._sums(number, v)), "+=", term)

    def _end(self, v: int) -> Stmt:
        parts: list[CExpr] = [Id(self._sums(k, v)) for k in range(ROWS)]
        target = self.writer.bodies.element(self.joined.added, (self._column(v),))
        return Evaluate(self.types.store(target, reduce(partial(CBinary, "+"), parts)))

    def _column(self, v: int) -> CExpr:
        """Where a vector of the strip begins."""
        return plus(Id(self.part.begin), v * self.types.lanes)

    @property
    def _variable(self) -> str:
        return self.writer.bodies.index_name(self.joined.item.reduced_dims[0])

    @property
    def _all_sums(self) -> list[tuple[int, int]]:
        return [(number, v) for number in range(ROWS) for v in range(self.count)]

    def _sums(self, number: int, v: int) -> str:
        return f"{SUMS}_{number}_{v}"

    # ---- values ----

    def _value(self, value: Expr, row: CExpr, v: int, made: CExpr | None = None) -> CExpr:
        """A vector of values, or the one that all points of a row have; made: the row of the first stage."""
        writer = self.writer.bodies.writer({})
        for load in loads_in(value):
            if made is not None and load.source.name == self.made.name:
                writer.ready[id(load)] = made
            else:
                writer.ready[id(load)] = self._loaded(load, row, v, of_sum=made is not None)
        return writer.value(value)

    def _loaded(self, load: Load, row: CExpr, v: int, *, of_sum: bool) -> CExpr:
        """Elements of the row of a strip, or the one element that is the same along it."""
        across, along = self._names(of_sum=of_sum)
        if not of_sum and load in self._same_for_all:
            return Id(f"{HELD}_{self._same_for_all.index(load)}_{v}")
        element = self.writer.bodies.at(load.source.name, load.indices, {across: row, along: self._column(v)})
        return self.types.load(element) if _runs_along(load, along) else element

    def _names(self, *, of_sum: bool) -> tuple[str, str]:
        """The dimensions across rows and along them, as one of both stages calls them."""
        if not of_sum:
            return self.made.dims[0], self.made.dims[1]
        return self.joined.item.reduced_dims[0], next(self.joined.item.target[0].names())

    @property
    def _same_for_all(self) -> list[Load]:
        """What is read along the rows that are made, the same for each of them."""
        row, column = self._names(of_sum=False)
        loads = loads_in(self.joined.part.expr)
        along = (each for each in loads if _runs_along(each, column))
        return list(dict.fromkeys(each for each in along if not _runs_along(each, row)))

    def _loads(self) -> Iterator[Stmt]:
        for k, load in enumerate(self._same_for_all):
            for v in range(self.count):
                point = {self.made.dims[1]: self._column(v)}
                element = self.writer.bodies.at(load.source.name, load.indices, point)
                yield Declare(f"const {self.types.vector}", f"{HELD}_{k}_{v}", self.types.load(element))


def _runs_along(load: Load, dim: str) -> bool:
    return any(dim in form.names() for form in load.indices)
