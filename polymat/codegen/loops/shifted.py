"""Stencils along rows: each vector of a row is loaded once, and shifted in registers.

A read beside the point crosses a cache line in almost every vector and then takes two accesses.  Reads of one
row that lie less than a vector apart are made of two neighbouring vectors of it instead, and requests for
rows to come (`polymat.codegen.loops.prefetch`) are spread over the loop, so that memory works all the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from polymat.codegen.c.countingloops import HIGH, LOW, counted_range, where_long
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
    expressions,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowRead, RowTypes, read_of
from polymat.codegen.c.shorthand import is_request
from polymat.codegen.c.vectorloops import Vectors
from polymat.codegen.loops.rowreads import elements_of, has_vectors, is_vector, streams_of
from polymat.dataclass import dataclass

REST, LAST = "_pm_left", "_pm_tail"  # where what the main loop leaves begins; a vector of that
LINE = "_pm_line"  # where the first line of memory of a row begins
NOW, NEXT = "_pm_now", "_pm_next"  # with a number: a vector of a row, and the one behind it
READ = "_pm_read"  # with a number: a vector that is read several times
Store: TypeAlias = Callable[[CExpr, CExpr], CExpr]  # writes a vector to where an element begins


def with_shifts(
    statements: Sequence[Stmt],
    types: RowTypes,
    scalars: Collection[str],
    distinct: Collection[str],
    same: Collection[str] = (),
    *,
    shifting: bool = True,
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops in explicit vectors; None where that gains nothing.

    scalars: names of run-time scalars of the elements' type.  distinct: the arrays whose elements are not
    changed by what a loop writes: they are read ahead, and the last vector of a row overlaps the one before.
    same: those that may be what is written, each read where it is; then the last vector stores what is left.
    shifting: whether neighbours are shifted in registers; where not, each vector is loaded.

    before:  for j: y[j] = a * x[j - 1] + b * x[j + 1]
    after:   for j by 16: next = x[j + 15 ...]; y[j ...] = a * now + b * (now, next from 2 on); now = next
    """
    found = _ShiftedRows(types, frozenset(scalars), frozenset(distinct), frozenset(same), shifting)
    made = found.each(statements)
    return made if found.changed else None


@dataclass(slots=True)
class _ShiftedRows:
    """Rewrites loops; changed: whether there was one."""

    types: RowTypes
    scalars: frozenset[str]
    distinct: frozenset[str]
    same: frozenset[str]
    shifting: bool = True
    changed: bool = False

    def each(self, statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """All statements; requests before a loop that is rewritten become a part of it."""
        made: list[Stmt] = []
        for statement in statements:
            match statement:
                case For(pragmas=(Vectors(sums=()),)):
                    asked = requests_at_end(made, statement.variable)
                    row = self._row(statement, made[len(made) - len(asked) :])
                    if row is not None:
                        del made[len(made) - len(asked) :]
                        self.changed = True
                    made.append(row or statement)
                case For(body=body):
                    made.append(replace(statement, body=self.each(body)))
                case If(_, then, otherwise):
                    made.append(replace(statement, then=self.each(then), otherwise=self.each(otherwise)))
                case Block(body):
                    made.append(Block(self.each(body)))
                case _:
                    made.append(statement)
        return tuple(made)

    def _row(self, loop: For, requests: Sequence[Stmt]) -> Block | None:
        """A loop over whole vectors, then the last ones; the loop as it was for rows of less than one."""
        if (span := counted_range(loop)) is None:
            return None
        point = RowPoint.of(loop.body, loop.variable, self.types, self.scalars, self.distinct, self.same)
        if point is None or not (point.streams or requests or point.changes or not self.shifting):
            return None
        point = point if self.shifting else replace(point, streams=())
        asked = [statement for request in requests for statement in _body(request)]
        short = replace(loop, body=point.numbers())
        return where_long(short, span, self.types.lanes_text, point.vectors(asked))


def requests_at_end(statements: Sequence[Stmt], variable: str) -> list[Stmt]:
    """The loops at the end that only ask for what lies along the same row."""
    found: list[Stmt] = []
    for statement in reversed(statements):
        match statement:
            case For(variable=name, body=(asked,)) if name == variable and is_request(asked):
                found.insert(0, statement)
            case _:
                break
    return found


def _body(statement: Stmt) -> tuple[Stmt, ...]:
    return statement.body if isinstance(statement, For) else ()


@dataclass(frozen=True, slots=True)
class RowPoint:
    """The code of one point of a row, or of several rows; streams: what is kept in registers.

    body: locals and assignments.  in_place: it may write over what it reads.
    """

    variable: str
    body: tuple[Stmt, ...]
    types: RowTypes
    streams: tuple[tuple[RowRead, ...], ...]
    in_place: bool

    @staticmethod
    def of(
        body: Sequence[Stmt],
        variable: str,
        types: RowTypes,
        scalars: frozenset[str],
        distinct: frozenset[str],
        same: frozenset[str] = frozenset(),
    ) -> RowPoint | None:
        """The point, unless it has something in it that vectors have not, or what it reads may change.

        same: arrays that may be the one that is written: of those the element that is written may be read.
        """
        values = list(scalars)
        made: list[CExpr] = []
        found: list[RowRead] = []
        places: list[object] = []
        for statement in body:
            match statement:
                case Declare(_, name, value) if (
                    statement.ctype == f"const {types.ctype}" and value is not None
                ):
                    values.append(name)
                case Assign(Subscript() as target, "=", value) if is_vector(value, body):
                    if (written := read_of(target, variable)) is None:
                        return None
                    places.append(written.place)
                case _:
                    return None
            made.append(value)
        if not any(isinstance(statement, Assign) for statement in body):
            return None
        if not all(has_vectors(value, variable, types, values) for value in made):
            return None
        for element in sorted(elements_of(made), key=repr):
            read = read_of(element, variable)
            if read is None or not (read.array in distinct or (read.array in same and read.place in places)):
                return None
            found.append(read)
        kept = [read for read in found if read.array in distinct]
        return RowPoint(variable, tuple(body), types, streams_of(kept, types.lanes), len(kept) < len(found))

    @property
    def changes(self) -> bool:
        """Whether it computes anything of what it writes over."""
        values = (each.value for each in self.body if isinstance(each, Assign))
        return self.in_place and not all(isinstance(value, Subscript) for value in values)

    def numbers(self) -> tuple[Stmt, ...]:
        """One number after the other."""
        every, declared = self._named(self.types.ctype, {})
        return (*declared, *substituted(self.body, every))

    def vectors(self, requests: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """Vectors with another one behind them, then those that are left; for rows of one at least."""
        last = self._rest if self.in_place else self.types.store
        return (*self._main(requests, LOW, self.types.store), self._last(requests, last))

    def lines(self) -> tuple[Stmt, ...] | None:
        """The rows written past the caches, for two vectors at least; None where several are stored.

        First the lanes before the line that begins in the first vector, at last those behind the last line.
        """
        targets = [statement.target for statement in self.body if isinstance(statement, Assign)]
        if len(targets) != 1 or not isinstance(targets[0], Subscript):
            return None
        start: dict[CExpr, CExpr] = {Id(self.variable): Id(LOW)}
        turn = self.types.turn(CUnary("&", substituted(targets[0], start)))

        def first(target: CExpr, value: CExpr) -> CExpr:
            return self.types.store_part(target, value, Literal("0"), CBinary("-", Id(LINE), Id(LOW)))

        at = Declare("const ptrdiff_t", self.variable, Id(LOW))
        line = Declare("const ptrdiff_t", LINE, CBinary("+", Id(LOW), turn))
        head = Block((at, *self._at({}, first)))
        return (line, head, *self._main((), LINE, self.types.stream), self._last((), self._rest))

    def _rest(self, target: CExpr, value: CExpr) -> CExpr:
        """Write what is left of a row of a vector that ends with it."""
        done = CBinary("-", Id(LAST), Id(self.variable))
        return self.types.store_part(target, value, done, self.types.lanes_text)

    def _main(self, requests: Sequence[Stmt], begin: str, store: Store) -> tuple[Stmt, ...]:
        """The vectors with another one behind them."""
        lanes, types = self.types.lanes, self.types
        span = min((stream[-1].offset - stream[0].offset for stream in self.streams), default=lanes)
        start: dict[CExpr, CExpr] = {Id(self.variable): Id(begin)}
        ahead: dict[CExpr, CExpr] = {Id(self.variable): CBinary("+", Id(self.variable), Literal(str(lanes)))}
        bases = [stream[0].expr for stream in self.streams]
        before = [
            Declare(types.vector, f"{NOW}{k}", types.load(substituted(base, start)))
            for k, base in enumerate(bases)
        ]
        loads = [
            Declare(f"const {types.vector}", f"{NEXT}{k}", types.load(substituted(base, ahead)))
            for k, base in enumerate(bases)
        ]
        moves = [Assign(Id(f"{NOW}{k}"), "=", Id(f"{NEXT}{k}")) for k in range(len(bases))]
        step = Assign(Id(REST), "=", CBinary("+", Id(self.variable), Literal(str(lanes))))
        limit = CBinary("-", Id(HIGH), Literal(str(2 * lanes - span)))
        main = For(
            self.variable,
            Id(begin),
            CBinary("<=", Id(self.variable), limit),
            Literal(str(lanes)),
            (*requests, *loads, *self._at(self._shifted(), store), *moves, step),
        )
        return (*before, Declare("ptrdiff_t", REST, Id(begin)), main)

    def _last(self, requests: Sequence[Stmt], store: Store) -> For:
        """The vectors behind the main loop, the last one so that it ends with the row."""
        end = CBinary("-", Id(HIGH), self.types.lanes_text)
        at = Declare("const ptrdiff_t", self.variable, CCall(MIN_I64.function, (Id(LAST), end)))
        condition = CBinary("<", Id(LAST), Id(HIGH))
        return For(LAST, Id(REST), condition, self.types.lanes_text, (at, *requests, *self._at({}, store)))

    def _shifted(self) -> dict[CExpr, CExpr]:
        """What stands for the reads of streams: a vector, the next one, or a part of both."""
        found: dict[CExpr, CExpr] = {}
        for k, stream in enumerate(self.streams):
            now, following = Id(f"{NOW}{k}"), Id(f"{NEXT}{k}")
            for read in stream:
                shift = read.offset - stream[0].offset
                found[read.expr] = self.types.behind(now, following, shift)
        return found

    def _named(self, kind: str, reads: Mapping[CExpr, CExpr]) -> tuple[dict[CExpr, CExpr], list[Stmt]]:
        """What stands for reads, with names of what is read several times, and what declares these.

        Nothing has a name where an element may be written in between.
        """
        every, declared = dict(reads), list[Stmt]()
        values = [Evaluate(e.value) for e in self.body if isinstance(e, Declare | Assign) and e.value]
        often = Counter(each for each in expressions(values) if isinstance(each, Subscript))
        for element, count in often.items():
            if count > 1 and not self.in_place:
                name = f"{READ}{len(declared)}"
                declared.append(Declare(f"const {kind}", name, every.get(element, element)))
                every[element] = Id(name)
        return every, declared

    def _at(self, reads: dict[CExpr, CExpr], store: Store) -> tuple[Stmt, ...]:
        """The statements on vectors; other reads than the given ones are loaded."""
        loads: dict[CExpr, CExpr] = {e: self.types.load(e) for e in elements_of(self.body)}
        every, made = self._named(self.types.vector, loads | reads)
        for statement in self.body:
            if isinstance(statement, Declare):
                kind = self.types.vector if is_vector(statement.value, self.body) else self.types.ctype
                made.append(Declare(f"const {kind}", statement.name, substituted(statement.value, every)))
            elif isinstance(statement, Assign):
                value = substituted(statement.value, every)
                made.append(Evaluate(store(statement.target, value)))
        return tuple(made)
