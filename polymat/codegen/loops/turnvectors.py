"""Rows of a sweep that take turns, as the lanes of vectors.

A point of a turn reads what its own row and its neighbours hold a few columns away: vectors of other turns,
of which those behind are results and those ahead are gathered from the rows once, each shifted by a lane for
the rows above and below.

before:  for c: x[r][c] = f(x[r][c - 1], x[r][c + 1]);  x[r + 1][c - 2] = ...;  ... of eight rows
after:   for c: ahead1 = gather(x[r][c + 1], ...);  behind1 = f(behind1, ahead1);  scatter(behind1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    expressions,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.lanereads import LaneRead
from polymat.dataclass import dataclass

LEAST_LANES = 4  # of a vector: with two, shifts and gathers are as many operations as they save
DIVISION = 8  # additions in the time of a division
LEAST_GAIN = 2  # times fewer operations, counted so: the results of a turn wait for each other as they come
FIRST = "_pm_low"  # where a loop begins
RESULT = "_pm_result"  # with a number: a vector of results
# With two numbers: vectors of the rows themselves, of those above, and of those below.
WINDOWS = {0: "_pm_row", -1: "_pm_above", 1: "_pm_below"}


@dataclass(frozen=True, slots=True, eq=False)
class LaneTurn:
    """One turn: what each row computes of elements, by numbers as names, and where the result goes."""

    types: RowTypes
    turns: int
    column: str
    target: LaneRead
    value: CExpr
    reads: tuple[LaneRead, ...]

    # ---- whether ----

    def is_possible(self, arrays: Collection[str]) -> bool:
        """Whether all that is read are vectors of turns near by, or of arrays that nobody changes."""
        places = [place for place in self.target.others if Id(self.column) in _parts(place)]
        if self.target.column_step > 0 or places != [(1, Id(self.column))]:
            return False
        known = all(read.array in arrays for read in (self.target, *self.reads))
        if not known or not self._is_of_vectors(self.value):
            return False
        for read in self._own:
            row = self._row(read)
            if row is None or abs(row) > 1 or (row < 0 and self._turn_of(read) == 0):
                return False
        return bool(self._own)

    def pays(self) -> bool:
        """Whether vectors save more operations than it takes to put them together."""
        parts = [each for each in expressions([self.value]) if isinstance(each, CBinary | CUnary)]
        divisions = sum(isinstance(each, CBinary) and each.op == "/" for each in parts)
        one = len(parts) + (DIVISION - 1) * divisions
        gathered = len([read for read in self.reads if read.array != self.target.array]) + 2
        number = self.turns // self.types.lanes
        vectors = number * (len(parts) + (2 * DIVISION - 1) * divisions)
        return self.turns * one >= LEAST_GAIN * (vectors + gathered * self.turns)

    def _is_of_vectors(self, value: CExpr) -> bool:
        match value:
            case Id(name):
                return name.isdecimal()
            case Literal(text):
                return self.types.is_number(text)
            case CUnary("-", operand):
                return self._is_of_vectors(operand)
            case CBinary("+" | "-" | "*" | "/", left, right):
                return self._is_of_vectors(left) and self._is_of_vectors(right)
            case _:
                return False

    # ---- which vectors ----

    @property
    def _own(self) -> list[LaneRead]:
        return [read for read in self.reads if read.array == self.target.array]

    @property
    def _behind(self) -> int:
        """The columns that each row is behind the one above."""
        return -self.target.column_step

    def _row(self, read: LaneRead) -> int | None:
        """How many rows below the result's own an element lies; None where that cannot be told."""
        target = self.target
        alike = (read.others, read.row_step, read.column_step) == (
            target.others,
            target.row_step,
            target.column_step,
        )
        if not alike or len(target.row_step) != 1 or target.row_step[0][1] != 1:
            return None
        stride, ours, theirs = target.row_step[0][0], dict(target.rows), dict(read.rows)
        apart = {key: theirs[key] - ours[key] for key in ours} if theirs.keys() == ours.keys() else {}
        return (
            apart[stride] if all(not far for key, far in apart.items() if key != stride) and apart else None
        )

    def _turn_of(self, read: LaneRead) -> int:
        """The turn that computes an element, less the one that reads it; others but the lane are as there."""
        return read.column - self.target.column + self._behind * (self._row(read) or 0)

    def _window(self, row: int) -> range:
        """The turns whose vectors are kept of rows so far below."""
        turns = [self._turn_of(read) for read in self._own if self._row(read) == row]
        if row == 0:
            for other in (-1, 1):
                turns += self._anew(other)
            if min(turns, default=0) < 0:
                turns.append(-1)  # results come in there, and are handed on
        return range(min(turns), max(turns) + 1) if turns else range(0)

    def _anew(self, row: int) -> list[int]:
        """The turns whose vectors are shifted in each turn: the last of them, and the last of results."""
        window = self._window(row)
        last = [*window[-1:]]
        return [-1, *last] if last and last[0] >= 0 and -1 in window else last

    # ---- the loop ----

    def loop(self, loop: For) -> Stmt:
        """The loop over turns; its first vectors are gathered where it runs at all."""
        first: dict[CExpr, CExpr] = {Id(self.column): Id(FIRST)}
        before = [*self._kept(0), *self._kept(-1), *self._kept(1)]
        begin = (substituted(statement, first) for statement in before)
        inside = replace(loop, start=Id(FIRST), body=tuple(self._body()))
        runs = substituted(loop.condition, first)
        return Block((Declare("const ptrdiff_t", FIRST, loop.start), If(runs, (*begin, inside))))

    def _kept(self, row: int) -> Iterator[Declare]:
        """The vectors that a turn has of those before, at first."""
        window = self._window(row)
        fresh = self._loaded(row)
        for turn in (each for each in window if each not in fresh):
            for number in range(self._vectors):
                yield Declare(self.types.vector, _name(row, turn, number), self._made(row, turn, number, {}))

    def _loaded(self, row: int) -> list[int]:
        """The turns whose vectors a turn makes itself."""
        if row:
            return self._anew(row)
        window = self._window(0)
        return [each for each in window[-1:] if each >= 0]

    def _body(self) -> Iterator[Stmt]:
        kind = f"const {self.types.vector}"
        for row in (0, -1, 1):
            for turn in self._loaded(row):
                for number in range(self._vectors):
                    known = (
                        {}
                        if row == 0
                        else {(turn, each): Id(_name(0, turn, each)) for each in range(self._vectors)}
                    )
                    yield Declare(kind, _name(row, turn, number), self._made(row, turn, number, known))
        for number in range(self._vectors):
            yield Declare(kind, f"{RESULT}{number}", self._result(number))
        for number in range(self._vectors):
            yield Evaluate(
                self.types.scatter(
                    self.target.at(0, number * self.types.lanes), self.target.apart, Id(f"{RESULT}{number}")
                )
            )
        yield from self._moves()

    def _moves(self) -> Iterator[Assign]:
        """Hand vectors on to the next turn, for which they are those of a turn before."""
        for row in (0, -1, 1):
            fresh = self._loaded(row)
            for turn in (each for each in self._window(row) if each not in fresh):
                for number in range(self._vectors):
                    later = _name(row, turn + 1, number)
                    value = f"{RESULT}{number}" if row == 0 and turn == -1 else later
                    yield Assign(Id(_name(row, turn, number)), "=", Id(value))

    def _result(self, number: int) -> CExpr:
        """The results of the rows of a vector."""
        values: dict[CExpr, CExpr] = {}
        for place, read in enumerate(self.reads):
            if read.array == self.target.array:
                row = self._row(read) or 0
                values[Id(str(place))] = Id(_name(row, self._turn_of(read), number))
            else:
                lane = number * self.types.lanes
                values[Id(str(place))] = self._gathered(read, 0, lane)
        return substituted(self.value, values)

    def _gathered(self, read: LaneRead, columns: int, lane: int) -> CExpr:
        first, apart = read.at(columns, lane), read.apart
        return self.types.load(first) if apart == Literal("1") else self.types.gather(first, apart)

    def _made(self, row: int, turn: int, number: int, known: Mapping[tuple[int, int], CExpr]) -> CExpr:
        """A vector of rows so far below at another turn; known: those of the rows themselves."""
        lanes, types = self.types.lanes, self.types

        def own(each: int) -> CExpr:
            return known.get((turn, each)) or self._gathered(self.target, turn, each * lanes)

        if row == 0:
            return own(number)
        inside = 0 <= number + row < self._vectors
        beyond = own(number + row) if inside else self._beyond(row, turn)
        if row < 0:
            return types.behind(beyond, own(number), lanes - 1)
        return types.behind(own(number), beyond, 1)

    def _beyond(self, row: int, turn: int) -> CExpr:
        """The element of the row above all others, or below, in every lane."""
        return self.types.spread(self.target.at(turn, -1 if row < 0 else self.turns))

    @property
    def _vectors(self) -> int:
        return self.turns // self.types.lanes


def _parts(place: object) -> list[object]:
    """The parts of an index at a place, and all that these are made of."""
    parts = place if isinstance(place, tuple) else (place,)
    return [each for part in parts for each in (expressions([part]) if isinstance(part, CExpr) else ())]


def _name(row: int, turn: int, number: int) -> str:
    """The name of a vector of rows so far below, at a turn before or behind this one."""
    when = f"before{-turn}" if turn < 0 else f"ahead{turn}"
    return f"{WINDOWS[row]}_{when}_{number}"
