"""The function that takes steps of rows as lanes of vectors (`polymat.graph.lanerows`), and its call.

    before:  for each row: for each column: sum up the row's elements before the column times those of another
    after:   for each 8 rows: for each 8 columns before the first of these rows: the sums of all 64 points, of
             vectors that hold a column of the 8 rows, and elements of finished rows; then what these sums are
             short of, column by column;  the columns that the rows have among themselves, point by point

Vectors of columns are kept apart, one behind the other, and written to the rows when all of them are known.
Rows that are fewer are left to the loops of single steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Return,
    Stmt,
    Subscript,
    names_in,
    plus,
)
from polymat.codegen.c.needs import MAX_I64
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.lanedforms import COLUMN, FIRST, KEPT, LANE, LAST, TERM, ZERO, At, LanedForms
from polymat.codegen.program import Program
from polymat.codegen.sectionloops import SectionLoops, runs_on
from polymat.graph.laned import LanedRows
from polymat.graph.stepwise import Steps
from polymat.lang.affine import Affine

LANED = "_pm_laned"
START = "_pm_start"  # the first row
EARLY, MEMORY = "_pm_early", "_pm_memory"  # sums of the group's own columns
LOW, FULL = "_pm_low", "_pm_full"  # the first column of a row of the group, and of all of them
TERMS, WHOLE = "_pm_terms", "_pm_whole"  # the first term of a row, and of all of them
SEVERAL = "_pm_several"  # the first column that all rows have, with a term in that column
SUM, VALUE, OWN, SOME, TOTAL = "_pm_sum", "_pm_value", "_pm_own", "_pm_some", "_pm_total"


def rows_as_lanes(loops: SectionLoops, steps: Steps) -> tuple[Stmt, ...]:
    """Take those rows of a section that go together; `first` is the first row that is left then."""
    arguments = (Id("_pm_given"), Id("_pm_here"), Id(loops.first), Id(loops.last))
    taken = Assign(Id(loops.first), "+=", CCall(f"{LANED}_s{loops.number}", arguments))
    here = Declare("const ptrdiff_t", loops.step, Id(loops.first))
    return (
        If(runs_on(steps, loops.first, Id(loops.first), loops.last), (here, loops.given, loops.here, taken)),
    )


class LanedWriter(LanedForms):
    """Writes the function of one section; program: of a row."""

    def function(self) -> CFunction:
        """The function, which returns how many rows it has taken."""
        lanes = self.taken.rows
        count = plus(CBinary("-", Id(LAST), Id(START)), 1)
        inside = CBinary("<=", plus(self.size(self.row), lanes - 1), Id(LAST))
        row = self.size(self.row)
        assert isinstance(row, Id)
        body = [
            *self._memory(count),
            For(row.name, Id(START), inside, Literal(str(lanes)), tuple(self._group())),
            Evaluate(CCall("_pm_workspace_give", (Id(MEMORY),))),
            Return(CBinary("-", count, CBinary("%", count, Literal(str(lanes))))),
        ]
        used = names_in(body)
        unpacked = [each for each in self.unpack() if each.name in used]
        parameters = (
            CParameter("void *const *", "_pm_arrays"),
            CParameter("const ptrdiff_t *", "_pm_sizes"),
            CParameter("const ptrdiff_t", START),
            CParameter("const ptrdiff_t", LAST),
        )
        return CFunction("ptrdiff_t", LANED, parameters, (*unpacked, *body), f"{self.taken}; how many rows")

    def _memory(self, count: CExpr) -> Iterator[Stmt]:
        """The room for the columns of a group; none where rows are few."""
        lanes, ctype = self.taken.rows, self.types.ctype
        last = Affine.name(LAST)
        before = self.size(last - self.circle.first.substitute({self.circle.row: last}))
        yield If(CBinary("<", count, Literal(str(lanes))), (Return(ZERO),))
        rows = Cast("size_t", plus(before, 2 * lanes))
        size = CBinary("*", rows, Literal(str(self.taken.vectors * self.types.size)))
        yield Declare("char *const ", MEMORY, CCall("_pm_workspace_take", (size,)))
        yield If(CBinary("==", Id(MEMORY), ZERO), (Return(ZERO),))
        pointer = f"{ctype} *const restrict "
        first = Cast(f"{ctype} *", Cast("void *", Id(MEMORY)))
        yield Declare(pointer, EARLY, first)
        yield Declare(pointer, KEPT, CBinary("+", first, Literal(str(lanes * lanes))))

    # ---- a group of rows ----

    def _group(self) -> Iterator[Stmt]:
        circle, lanes = self.circle, self.taken.rows
        end = self.row + (lanes - 1)
        row = self.size(self.row)
        limits = {
            FIRST: self.size(circle.first),
            LOW: self.least(self.most(circle.lows, self.row), row),
            FULL: self.least(self.most(circle.lows, end), row),
            TERMS: self.most(circle.sum.lows, self.row),
            WHOLE: self.most(circle.sum.lows, end),
        }
        for name, value in limits.items():
            yield Declare("const ptrdiff_t", name, value)
        none = CCall(f"_pm_row_spread_{self.types.suffix}", (ZERO,))
        nothing = [Evaluate(self.types.store(self.kept(Id(COLUMN), v), none)) for v in self.vectors]
        yield self.loop(COLUMN, Id(FIRST), Id(LOW), nothing)
        if self.moving(circle.lows):
            yield self.loop(COLUMN, Id(LOW), Id(FULL), [*self._columns(1, some=True)])
        columns, begin = self.taken.columns, FULL
        if not {*circle.sum.lows} <= {*circle.lows}:
            begin, later = SEVERAL, CCall(MAX_I64.function, (Id(FULL), Id(WHOLE)))
            yield Declare("const ptrdiff_t", begin, self.least(later, row))
            yield self.loop(COLUMN, Id(FULL), Id(begin), [*self._columns(1)])
        several = CBinary("<=", plus(Id(COLUMN), columns), row)
        yield For(COLUMN, Id(begin), several, Literal(str(columns)), tuple(self._columns(columns)))
        left = CBinary("%", CBinary("-", row, Id(begin)), Literal(str(columns)))
        yield self.loop(COLUMN, CBinary("-", row, left), row, [*self._columns(1)])
        yield self._written()
        for first in range(0, lanes - circle.behind, columns):
            chosen = range(first, min(first + columns, lanes - circle.behind))
            yield Block(tuple(self._early(chosen)))
        yield self._triangle()

    def _columns(self, count: int, *, some: bool = False) -> Iterator[Stmt]:
        """So many columns of a group; some: which not all of its rows have."""
        column = Affine.name(COLUMN)
        places = [At(self.row, column + k, Affine.name(TERM)) for k in range(count)]
        yield from self._sums(places, Id(COLUMN))
        if some:
            far = CBinary("-", Id(COLUMN), self.most(self.moving(self.circle.lows), self.row))
            yield Declare("const ptrdiff_t", LANE, far)
            yield from self._some(Id(LANE))
        for k in range(count):
            for v in self.vectors:
                yield from self._column(At(self.row, column + k, column), k, v, some=some)

    def _column(self, at: At, k: int, v: int, *, some: bool) -> Iterator[Stmt]:
        """What the sum of a column is short of, and its value, of one vector of rows."""
        total = Id(f"{SUM}_{k}_{v}")
        for before in range(k):
            there = At(self.row, at.column, at.term + before)
            yield Assign(total, "+=", self.term(there, Id(f"{VALUE}_{before}_{v}")))
        value = self.value(self.circle.main, at, total, v, some=some)
        value = self._only(value, v) if some else value
        yield Declare(f"const {self.types.vector}", f"{VALUE}_{k}_{v}", value)
        yield Evaluate(self.types.store(self.kept(plus(Id(COLUMN), k), v), Id(f"{VALUE}_{k}_{v}")))

    def _sums(self, places: Sequence[At], end: CExpr) -> Iterator[Stmt]:
        """The sums of some columns over the terms before `end`, of all rows side by side."""
        yield from self._zeros(len(places), self.vectors)
        if self.moving(self.circle.sum.lows):
            upto = self.least(Id(WHOLE), end)
            some = [*self._some_of_terms(), *self._added(places, self.vectors, some=True)]
            yield self.loop(TERM, Id(TERMS), upto, some)
        yield self.loop(TERM, Id(WHOLE), end, [*self._added(places, self.vectors)])

    def _zeros(self, count: int, vectors: Sequence[int]) -> Iterator[Declare]:
        for k, v in product(range(count), vectors):
            yield Declare(self.types.vector, f"{SUM}_{k}_{v}", Braces((ZERO,)))

    def _added(
        self, places: Sequence[At], vectors: Sequence[int], first: int = 0, *, some: bool = False
    ) -> Iterator[Stmt]:
        """Add a term to the sums of some columns, the first of which has a number."""
        for v in vectors:
            own = self.types.load(self.kept(Id(TERM), v))
            yield Declare(f"const {self.types.vector}", f"{OWN}_{v}", own)
        for (k, at), v in product(enumerate(places, first), vectors):
            term = self.term(at, Id(f"{OWN}_{v}"))
            yield Assign(Id(f"{SUM}_{k}_{v}"), "+=", self._only(term, v) if some else term)

    def _some_of_terms(self) -> Iterator[Declare]:
        """The rows that have a term."""
        yield from self._some(CBinary("-", Id(TERM), self.most(self.moving(self.circle.sum.lows), self.row)))

    def _some(self, last: CExpr) -> Iterator[Declare]:
        """The lanes of all rows up to one."""
        for v in self.vectors:
            upto = CCall(f"_pm_row_upto_{self.types.suffix}", (plus(last, -v * self.taken.lanes),))
            yield Declare(f"const _pm_row_places_{self.types.suffix}", f"{SOME}_{v}", upto)

    def _only(self, value: CExpr, v: int) -> CExpr:
        return CCall(f"_pm_row_only_{self.types.suffix}", (value, Id(f"{SOME}_{v}")))

    def _written(self) -> For:
        """Write the columns that are known to the rows."""
        here = self.row + Affine.name(LANE)
        made = self.element(self.circle.made, At(here, Affine.name(COLUMN), Affine()))
        kept = self.kept(Id(COLUMN), lane=Id(LANE))
        first = self.size(self.circle.first.substitute({self.circle.row: here}))
        inner = self.loop(COLUMN, first, self.size(self.row), [Assign(made, "=", kept)])
        return self.loop(LANE, ZERO, Literal(str(self.taken.rows)), [inner])

    # ---- the columns that the rows have among themselves ----

    def _early(self, chosen: Sequence[int]) -> Iterator[Stmt]:
        """What points of the group's own columns sum up before these columns."""
        lanes, behind, end = self.taken.lanes, self.circle.behind, self.size(self.row)
        places = [At(self.row, self.row + k, Affine.name(TERM)) for k in chosen]
        vectors = [v for v in self.vectors if (v + 1) * lanes > chosen[0] + behind]
        yield from self._zeros(len(places), vectors)
        if self.moving(self.circle.sum.lows):
            upto = self.least(Id(WHOLE), end)
            for k, number in enumerate(chosen):
                start = self.most(self.circle.sum.lows, self.row + (number + behind))
                some = [*self._some_of_terms(), *self._added(places[k : k + 1], vectors, k, some=True)]
                yield self.loop(TERM, start, upto, some)
        yield self.loop(TERM, Id(WHOLE), end, [*self._added(places, vectors)])
        for (k, number), v in product(enumerate(chosen), vectors):
            to = Subscript(Id(EARLY), Literal(str(number * self.taken.rows + v * lanes)))
            yield Evaluate(self.types.store(to, Id(f"{SUM}_{k}_{v}")))

    def _triangle(self) -> For:
        """The points of the group's own columns, row by row."""
        here, column, term = (Affine.name(LANE) + self.row, Affine.name(COLUMN), Affine.name(TERM))
        at = At(here, column, term)
        lanes = Literal(str(self.taken.rows))
        place = CBinary("+", CBinary("*", self.size(column - self.row), lanes), Id(LANE))
        added = Assign(Id(TOTAL), "+=", self.term(at, None))
        start = self.most((self.row, *(self.moved(low, here) for low in self.circle.sum.lows)), None)
        body: list[Stmt] = [
            Declare(self.types.ctype, TOTAL, Subscript(Id(EARLY), place)),
            self.loop(TERM, start, Id(COLUMN), [added]),
            *self._cases(at),
        ]
        first = self.most((self.row, self.moved(self.circle.first, here)), None)
        end = self.size(here - self.circle.behind + 1)
        return self.loop(LANE, ZERO, lanes, [self.loop(COLUMN, first, end, body)])

    def _cases(self, at: At) -> Iterator[Stmt]:
        made = self.element(self.circle.made, at)
        for case in self.circle.cases:
            writing = Assign(made, "=", self.value(case, at, Id(TOTAL)))
            for conditions in case.where:
                tests = [
                    CBinary("==" if exact else ">=", self.size(form.substitute(at.values(self.names))), ZERO)
                    for form, exact in conditions
                ]
                yield If(all_of(tests), (writing,)) if tests else writing


def with_laned_function(program: Program, taken: LanedRows) -> Program:
    """The program of a row with the function that takes several at a time."""
    writer = LanedWriter(taken, program)
    function = writer.function()
    file = program.file
    made = replace(file, functions=(function, *file.functions), needs=file.needs | writer.needs)
    return replace(program, file=made)
