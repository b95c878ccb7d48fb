"""Extremes of columns with their first places: a row of results, with an index beside each of them.

Some rows are compared with one row of results at a time, so that these are loaded and stored once for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CExpr,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Ternary,
    plus,
)
from polymat.codegen.c.vectorloops import VECTORS, Pragma
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.positionorder import better_where
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, SelectExpr
from polymat.lang.neutral import neutral
from polymat.plan.position import PositionPlan
from polymat.tilesize.plain import own_names

TOGETHER = 8  # rows that are compared with one row of results
BEST, NUMBER, VALUE = "_pm_best", "_pm_number", "_pm_value"
REST = "_pm_rest"  # where the rows begin that are compared one by one
ZERO, ONE = Literal("0"), Literal("1")


class PositionRows:
    """Writes the nest of extremes along one dimension, with their places."""

    def __init__(self, writer: StageWriter, plan: PositionPlan, along: Sequence[str | None]) -> None:
        self.writer, self.plan = writer, plan
        self.extreme, self.place = (writer.pipeline.stage(name) for name in plan.group.stages)
        stage, self.item = self.extreme, self.extreme.accumulations[0]
        self.own = own_names(stage, self.item)
        (self.reduced,) = self.item.reduced_dims
        self.box = dict(zip(self.item.dims, self.item.box, strict=True))
        box = dict(zip(stage.dims, stage.box, strict=True))
        self.ranges = [Range(k, *box[dim]) for k, dim in enumerate(along) if dim is not None]
        number = self.place.accumulations[0].expr
        assert isinstance(number, SelectExpr), "a place is the number of a point, or none"
        self.number: Expr = number.then

    def nest(self, kind: str) -> NestFunction:
        """The function over a run-time range of the outermost dimension."""
        writer, stages = self.writer, (self.extreme, self.place)
        low, high = (writer.size(form) for form in self.box[self.reduced])
        body: tuple[Stmt, ...] = (If(CBinary("<=", low, high), self._rows(), (self._none(),)),)
        for dim in reversed(self.extreme.dims[:-1]):
            body = (self._over(dim, body),)
        return writer.as_nest(stages, self.plan, body, kind, self.ranges)

    def _rows(self) -> tuple[Stmt, ...]:
        """The first row as it is, then some rows at a time, and those that are left."""
        low, high = self.box[self.reduced]
        variable, size = self.writer.bodies.index_name(self.reduced), self.writer.size
        many, turn = CBinary("-", size(high), size(low)), Literal(str(TOGETHER))
        turns = CBinary("*", CBinary("/", many, turn), turn)
        row, rest = Id(variable), Id(REST)
        inside = CBinary("<", row, rest)
        return (
            self._along(self._stored(*self._at(size(low)))),
            Declare("const ptrdiff_t", REST, CBinary("+", size(low + 1), turns)),
            For(variable, size(low + 1), inside, turn, (self._compared(row, TOGETHER),)),
            For(variable, rest, CBinary("<=", row, size(high)), ONE, (self._compared(row, 1),)),
        )

    def _none(self) -> Stmt:
        """Results without any points."""
        starts = (neutral(stage.operation, stage.dtype) for stage in (self.extreme, self.place))
        return self._along(self._stored(*map(self.writer.bodies.constant, starts)))

    def _compared(self, row: CExpr, count: int) -> Stmt:
        """Compare some rows with the results so far, and store what these are then."""
        best, number = Id(BEST), Id(NUMBER)
        body: list[Stmt] = [
            Declare(self.extreme.dtype.c, BEST, self._target(self.extreme)),
            Declare(self.place.dtype.c, NUMBER, self._target(self.place)),
        ]
        for k in range(count):
            value, where = self._at(plus(row, k))
            seen = Id(f"{VALUE}_{k}")
            body += [Declare(f"const {self.extreme.dtype.c}", seen.name, value), *self._taken(seen, where, k)]
        return self._along((*body, *self._stored(best, number)))

    def _taken(self, seen: CExpr, where: CExpr, k: int) -> Iterator[Stmt]:
        """Take an element and its number where it is better; k: behind the names of what it is then.

        gcc 12 makes no vectors of choices by two comparisons at once, nor of one in another.
        """
        first, *others = better_where(self.extreme, seen, Id(BEST))
        chosen: list[CExpr] = []
        for place, new, old in ((self.place, where, NUMBER), (self.extreme, seen, BEST)):
            value: CExpr = Ternary(first, new, Id(old))
            if others:
                yield Declare(f"const {place.dtype.c}", f"{old}_{k}", value)
                value = Ternary(others[0], Id(f"{old}_{k}"), Id(old))
            chosen.append(value)
        yield from (Assign(Id(name), "=", each) for name, each in zip((NUMBER, BEST), chosen, strict=True))

    def _at(self, row: CExpr) -> tuple[CExpr, CExpr]:
        """The element of a row, and its number."""
        names = self.writer.bodies
        point: dict[str, CExpr] = {self.own[dim]: Id(names.index_name(dim)) for dim in self.extreme.dims}
        writer = names.writer(point | {self.reduced: row})
        value = writer.value(self.item.expr, self.extreme.dtype, exact=True)
        return value, writer.value(self.number, self.place.dtype, exact=True)

    def _stored(self, best: CExpr, number: CExpr) -> tuple[Stmt, ...]:
        return (
            Assign(self._target(self.extreme), "=", best),
            Assign(self._target(self.place), "=", number),
        )

    def _target(self, stage: Stage) -> CExpr:
        bodies = self.writer.bodies
        return bodies.at(stage.name, tuple(map(Affine.name, stage.dims)), bodies.loop_point(stage.dims))

    def _along(self, body: tuple[Stmt, ...]) -> Stmt:
        return self._over(self.extreme.dims[-1], body, (VECTORS,))

    def _over(self, dim: str, body: tuple[Stmt, ...], pragmas: tuple[Pragma, ...] = ()) -> Stmt:
        """A loop along a dimension of the results."""
        level = self.extreme.dims.index(dim)
        variable, part = self.writer.bodies.index_name(dim), None
        if self.ranges and dim == self.plan.parallel:
            (part,) = self.ranges
        low, high = self.extreme.box[level]
        start: CExpr = self.writer.size(low) if part is None else Id(part.begin)
        end: CExpr = self.writer.size(high + 1) if part is None else Id(part.end)
        return For(variable, start, CBinary("<", Id(variable), end), ONE, body, pragmas)
