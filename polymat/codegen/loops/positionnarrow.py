"""Extremes of a few columns with their first places: some rows side by side are one row of results.

Rows that lie behind each other in memory are as many columns of longer rows, which vectors are worth; what is
found in those of one column is compared at the end.
"""

from __future__ import annotations

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
    Subscript,
    plus,
)
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.positionorder import is_better
from polymat.codegen.loops.positionpoints import BEST, NUMBER, ONE, ZERO, PositionPoints

WIDE = 64  # columns side by side, at most
NARROW = 16  # columns that are few
TOGETHER = 8  # rows that are compared with one row of results
GROUP, WIDTH, TURNS, OTHERS = "_pm_group", "_pm_width", "_pm_turns", "_pm_others"
TURN, LANE, PART, ROW = "_pm_turn", "_pm_lane", "_pm_part", "_pm_row_at"
BESTS, NUMBERS, SEEN = "_pm_bests", "_pm_numbers", "_pm_seen"


class PositionNarrow:
    """Writes the loops over all rows of a few columns.

    low, end: the first column that is wanted, and what is behind the last.
    """

    def __init__(self, points: PositionPoints, low: CExpr, end: CExpr) -> None:
        self.points, self.low, self.end = points, low, end
        self.writer = points.writer
        (self.reduced,) = points.item.reduced_dims
        self.last = points.own[points.extreme.dims[-1]]
        self.rows, self.columns = (
            self.writer.size(points.box[dim][1] + 1) for dim in (self.reduced, self.last)
        )

    @property
    def is_possible(self) -> bool:
        """Whether rows lie behind each other."""
        return self.points.is_flat((self.reduced, self.last))

    @property
    def is_worth(self) -> CExpr:
        """Whether there are columns, but few, and many rows."""
        few = CBinary("<=", self.columns, Literal(str(NARROW)))
        many = CBinary(">=", self.rows, Literal(str(WIDE * TOGETHER)))
        return all_of((CBinary("<", ZERO, self.columns), few, many))

    def loops(self) -> tuple[Stmt, ...]:
        """The loops over all rows but those from `OTHERS` on."""
        group, turns, turn = Id(GROUP), Id(TURNS), Literal(str(TOGETHER))
        whole = CBinary("*", CBinary("/", CBinary("-", turns, ONE), turn), turn)
        at = Id(TURN)
        first, _ = self._at(Id(LANE))
        ctypes = [(self.points.extreme.dtype.c, BESTS), (self.points.place.dtype.c, NUMBERS)]
        stored = Assign(self._kept(BESTS), "=", first), Assign(self._kept(NUMBERS), "=", ZERO)
        return (
            Declare("const ptrdiff_t", GROUP, CBinary("/", Literal(str(WIDE)), self.columns)),
            Declare("const ptrdiff_t", WIDTH, CBinary("*", group, self.columns)),
            Declare("const ptrdiff_t", TURNS, CBinary("/", self.rows, group)),
            Declare("const ptrdiff_t", OTHERS, CBinary("*", turns, group)),
            *(Declare(ctype, f"{name}[{WIDE}]") for ctype, name in ctypes),
            self._lanes(stored),
            For(TURN, ONE, CBinary("<=", at, whole), turn, (self._compared(TOGETHER),)),
            For(TURN, plus(whole, 1), CBinary("<", at, turns), ONE, (self._compared(1),)),
            self._combined(),
        )

    def _lanes(self, body: tuple[Stmt, ...]) -> For:
        return For(LANE, ZERO, CBinary("<", Id(LANE), Id(WIDTH)), ONE, body, (VECTORS,))

    def _compared(self, count: int) -> Stmt:
        """Compare some of the longer rows with the results so far."""
        ctype = self.points.extreme.dtype.c
        body: list[Stmt] = [
            Declare(ctype, BEST, self._kept(BESTS)),
            Declare(self.points.place.dtype.c, NUMBER, self._kept(NUMBERS)),
        ]
        for k in range(count):
            turn, seen = plus(Id(TURN), k), Id(f"{SEEN}_{k}")
            value, _ = self._at(CBinary("+", CBinary("*", turn, Id(WIDTH)), Id(LANE)))
            body.append(Declare(f"const {ctype}", seen.name, value))
            body += self.points.taken(seen, turn, k)
        body += [Assign(self._kept(BESTS), "=", Id(BEST)), Assign(self._kept(NUMBERS), "=", Id(NUMBER))]
        return self._lanes(tuple(body))

    def _combined(self) -> For:
        """Of each column the best of what is found in the longer rows, and of equal ones the first."""
        column = Id(self.writer.bodies.index_name(self.points.extreme.dims[-1]))
        lane = CBinary("+", CBinary("*", Id(PART), self.columns), column)
        seen, row = Id(SEEN), Id(ROW)
        better, same = is_better(self.points.extreme, seen, Id(BEST)), CBinary("==", seen, Id(BEST))
        if self.points.extreme.dtype.kind == "f":
            unordered = (CBinary("!=", each, each) for each in (seen, Id(BEST)))
            same = CBinary("||", same, all_of(unordered))
        first = CBinary("&&", same, CBinary("<", row, Id(NUMBER)))
        found = CBinary("+", CBinary("*", Subscript(Id(NUMBERS), lane), Id(GROUP)), Id(PART))
        ctype = self.points.extreme.dtype.c
        body = (
            Declare(f"const {ctype}", SEEN, Subscript(Id(BESTS), lane)),
            Declare("const ptrdiff_t", ROW, found),
            If(
                CBinary("||", better, first),
                (Assign(Id(BEST), "=", seen), Assign(Id(NUMBER), "=", row)),
            ),
        )
        begun = CBinary("*", Subscript(Id(NUMBERS), column), Id(GROUP))
        _, number = self.points.at({self.reduced: Id(NUMBER)})
        every = (
            Declare(ctype, BEST, Subscript(Id(BESTS), column)),
            Declare("ptrdiff_t", NUMBER, begun),
            For(PART, ONE, CBinary("<", Id(PART), Id(GROUP)), ONE, body),
            *self.points.stored(Id(BEST), number),
        )
        return For(column.name, self.low, CBinary("<", column, self.end), ONE, every)

    def _kept(self, array: str) -> Subscript:
        return Subscript(Id(array), Id(LANE))

    def _at(self, place: CExpr) -> tuple[CExpr, CExpr]:
        """The element at a place among those of all rows."""
        return self.points.at({self.reduced: ZERO, self.last: place})
