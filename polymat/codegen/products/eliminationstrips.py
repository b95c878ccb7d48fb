"""Rows behind a few steps of a recurrence, as many at a time as a vector has lanes.

before:  for each row:    row[k] /= W[k][k];  row[j] -= row[k] * W[j][k]; ...
after:   for four rows:   the same in vectors of four, one for each column that the steps change

Which rows come first is all the same, so that they may as well take all steps side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    Ternary,
    plus,
)
from polymat.codegen.c.vectorloops import VECTORS, Pragma
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.nestloops import LoopWriter
from polymat.codegen.loops.statements import recurrence_bodies
from polymat.codegen.products.eliminationparts import ONE, ZERO, length
from polymat.codegen.products.eliminationsteps import StepsWriter
from polymat.graph.stage import Part, Stage, loads_of
from polymat.lang.affine import Affine, computed_in
from polymat.poly.ast import Guard, Identifier, Instance, Nest, from_union_map
from polymat.poly.delays import least_value
from polymat.poly.domain import Domain

STRIP, HELD, REST = "_pm_strip", "_pm_held", "_pm_rest"
COLUMN, LANE = "_pm_column", "_pm_lane"


class _StripBodies(BodyWriter):
    """Writes statements of rows of which some columns are held in vectors, one after the other.

    row: the variable of the row at hand.  first: the first of these columns.  lanes: rows of a strip.
    """

    stage: Stage
    row: CExpr
    first: CExpr
    lanes: int

    def element(self, name: str, indices: tuple[CExpr, ...]) -> CExpr:
        """An element of the row at hand where it is held, or another one."""
        if name != self.stage.name or indices[1] != self.row:
            return super().element(name, indices)
        column = CBinary("-", indices[2], self.first)
        lane = CBinary("-", indices[1], Id(STRIP))
        return held(column, lane, self.lanes)


def held(column: CExpr, lane: CExpr, lanes: int) -> CExpr:
    """An element of a strip."""
    return Subscript(Id(HELD), CBinary("+", CBinary("*", column, Literal(str(lanes))), lane))


class StripsWriter(StepsWriter):
    """Writes what steps that are as many as nearly always compute in strips of rows behind them."""

    def strips(self, rows: NestFunction) -> NestFunction | None:
        """Rows behind a few steps in strips, and what is left of them one by one; None where that cannot be.

        rows: computes them one by one, any number of steps.
        """
        columns = self._columns() if self.lanes > 1 else None
        nests = None if columns is None else self._nests()
        if columns is None or nests is None:
            return None
        first, width = columns
        lanes, (begin, end) = self.lanes, (Id(self.rows.begin), Id(self.rows.end))
        before = plus(Id(self.steps.begin), first)
        is_whole = CBinary("==", length(self.steps), Literal(str(self.plan.least)))
        size = Literal(str(lanes))
        strips = CBinary("*", CBinary("/", length(self.rows), size), size)
        room = f"{HELD}[{width * lanes}]"
        steps = self._steps(nests, before)
        loop = For(
            STRIP,
            begin,
            CBinary("<", Id(STRIP), Id(REST)),
            size,
            (
                Declare(f"_Alignas(64) {self.stage.dtype.c}", room),
                self._moved(before, width, out=False),
                *steps,
                self._moved(before, width, out=True),
            ),
        )
        rest = Declare("const ptrdiff_t", REST, Ternary(is_whole, CBinary("+", begin, strips), begin))
        limits = [Id(self.steps.begin), Id(self.steps.end), Id(REST), end]
        left = Evaluate(CCall(rows.function.name, (*rows.arguments, *limits)))
        body: tuple[Stmt, ...] = (rest, loop, left)
        return self.writer.as_nest((self.stage,), self.plan, body, "strips", (self.steps, self.rows))

    @property
    def lanes(self) -> int:
        """Rows of a strip."""
        return self.plan.blocks.lanes

    def _columns(self) -> tuple[int, int] | None:
        """The first column, from the first step on, and how many there are that these rows change or read.

        None where there are more than steps, or where a row reads another one of them.
        """
        _, row, column = self.found.dims
        begin, (_, beyond) = Affine.name(self.steps.begin), self.found.inner()
        known = self.of_length(self.context([self.steps]))
        ends: list[int | None] = []
        for domain, part in zip(beyond, self.stage.parts, strict=True):
            where = domain.assume(known)
            forms = [] if where.is_empty() else self._own_columns(where, part)
            if forms is None:
                return None
            for form in (each - begin for each in forms):
                ends += [least_value(where, form), _negative(least_value(where, -form))]
        numbers = [end for end in ends if end is not None]
        if not numbers or len(numbers) < len(ends):
            return None
        first, last = min(numbers), max(numbers)
        bounds = [(self._top(), self.stage.box[1][1]), (begin + first, begin + last)]
        held = Domain.box(known.params, (row, column), bounds).assume(known)
        there = self.stage.domain.onto((row, column))
        fits = last - first < self.plan.least and held.is_subset(there.over(held.params))
        return (first, last + 1 - first) if fits else None

    def _top(self) -> Affine:
        """The first row behind the steps."""
        return self.found.begins(Affine.name(self.steps.end))[0]

    def _own_columns(self, where: Domain, part: Part) -> list[Affine] | None:
        """The columns of its own row that a part is about; None where it may be about another one there."""
        _, row, column = map(Affine.name, self.found.dims)
        found = [column]
        for load in (each for each in loads_of(part) if each.source.name == self.stage.name):
            if computed_in(load.indices):
                return None
            if load.indices[1] == row:
                found.append(load.indices[2])
            elif not where.at_least_zero([load.indices[1] - self._top()]).is_empty():
                return None
        return found

    def _nests(self) -> tuple[Nest, ...] | None:
        """The loops over a strip, rows inside all others; None where the row is no variable of these."""
        strip, (_, row, _) = Affine.name(STRIP), self.found.dims
        context = self.of_length(self.context([self.steps])).with_params([STRIP])
        last = strip + (self.lanes - 1)
        known = context.at_least_zero([strip - self._top(), self.stage.box[1][1] - last])
        _, beyond = self.found.inner()
        domains = [domain.between(row, strip, last + 1) for domain in beyond]
        step, _, *others = self.plan.loops.order
        nests = from_union_map(
            self.order.moved(domains, 1, len(self.order.parallel)), known, (step, *others, row)
        )
        return nests if all(point[1] == Identifier(row) for point in _points(nests)) else None

    def _steps(self, nests: Sequence[Nest], first: CExpr) -> tuple[Stmt, ...]:
        writer = self.writer
        bodies = _StripBodies(writer.pipeline, writer.storage, writer.names, writer.needs)
        bodies.stage, bodies.first, bodies.lanes = self.stage, first, self.lanes
        bodies.row = Id(bodies.index_name(self.found.dims[1]))
        innermost = len(self.order.parallel) - 1

        def pragmas(depth: int, _: bool) -> tuple[Pragma, ...]:
            return (VECTORS,) if depth == innermost else (f"GCC unroll {self.plan.least}",)

        items = recurrence_bodies(bodies, self.stage)
        return LoopWriter(items, bodies.index_name, pragmas, writer.needs).block(nests)

    def _moved(self, first: CExpr, width: int, *, out: bool) -> Stmt:
        """The columns of a strip copied to their vectors, or back."""
        column, lane = Id(COLUMN), Id(LANE)
        here, there = held(column, lane, self.lanes), self._element(first)
        assign: tuple[Stmt, ...] = (Assign(there, "=", here) if out else Assign(here, "=", there),)
        loops = [(COLUMN, width), (LANE, self.lanes)]
        for name, count in loops if out else reversed(loops):
            limit = CBinary("<", Id(name), Literal(str(count)))
            assign = (For(name, ZERO, limit, ONE, assign, (f"GCC unroll {count}",)),)
        return assign[0]

    def _element(self, first: CExpr) -> CExpr:
        """The element of a lane and a column where it lies between blocks of steps."""
        row, column = CBinary("+", Id(STRIP), Id(LANE)), CBinary("+", first, Id(COLUMN))
        return self.writer.bodies.element(self.stage.name, (Id(self.steps.begin), row, column))


def _points(nests: Sequence[Nest]) -> list[tuple[object, ...]]:
    """The indices of all instances."""
    found: list[tuple[object, ...]] = []
    for nest in nests:
        match nest:
            case Instance(_, indices):
                found.append(indices)
            case Guard(_, then, otherwise):
                found += [*_points(then), *_points(otherwise)]
            case _:
                found += _points(nest.body)
    return found


def _negative(value: int | None) -> int | None:
    return None if value is None else -value
