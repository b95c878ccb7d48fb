"""Rows of any loop written past the caches: computed some KiB at a time, which then go to memory as lines.

Loops in explicit vectors store whole lines themselves (`polymat.codegen.loops.streamedrows`).  What others
compute, choices, conversions and points that take turns among it, stays in the first-level cache until it is
copied from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import between
from polymat.codegen.c.ctree import (
    Assign,
    Cast,
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
    names_in,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowRead, read_of
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.streamedrows import PAST
from polymat.dataclass import dataclass
from polymat.lang.types import ScalarType

ROW = "_pm_row"  # with a number: a part of a row
LOW, HIGH = "_pm_row_low", "_pm_row_high"  # where a row begins and ends
FROM, AT, STOP = "_pm_row_from", "_pm_row_at", "_pm_row_stop"  # the parts, and where one begins and ends
BYTES = 4096  # of a row at a time: in the first-level cache beside what is read
TOGETHER = 8192  # of all rows that are written at a time
WORTH = 1024  # bytes of a row; of shorter ones most lines would be cut
FENCE = Evaluate(CCall("_pm_past_fence", ()))
COPIES = "_PM_PASTS"  # whether the C compiler has stores past the caches


def with_buffers(
    statements: Sequence[Stmt], array: str, dtype: ScalarType, past: CExpr, *, fence: bool = True
) -> tuple[Stmt, ...] | None:
    """The statements with the innermost loops that write an array again, past the caches where that holds.

    fence: with what has to follow before other threads are told.  None where no loop writes whole rows.

    before:  for j: y[j] = x[j] < 0 ? 0 : x[j]
    after:   if past: for k by 1024: { for j from k: row[j - k] = x[j] < 0 ? 0 : x[j];  past(&y[k], row) }
             else: for j: y[j] = x[j] < 0 ? 0 : x[j]
    """
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        rows = _Rows.of(loop, array, dtype)
        found = found or rows is not None
        return rows.past() if rows is not None else None

    made = with_innermost(statements, rewritten)
    if not found:
        return None
    return (Declare("const int", PAST, past), *made, *((If(Id(PAST), (FENCE,)),) if fence else ()))


@dataclass(frozen=True, slots=True)
class _Rows:
    """A loop over rows of an array, its range, and an element of each row that every turn writes."""

    loop: For
    span: tuple[CExpr, CExpr]
    dtype: ScalarType
    rows: tuple[RowRead, ...]

    @staticmethod
    def of(loop: For, array: str, dtype: ScalarType) -> _Rows | None:
        """None of a loop that also reads the array, leaves out points or writes anything else."""
        span = straight_range(loop, choosing=True)
        if span is None or array in names_in(_values(loop.body)):
            return None
        targets = _written(loop.body)
        found = [read_of(target, loop.variable) for target in targets or ()]
        rows = [row for row in found if row is not None and row.array == array]
        if not rows or len(rows) < len(found) or len({row.row for row in rows}) < len(rows):
            return None
        return _Rows(loop, span, dtype, tuple(rows))

    def past(self) -> Stmt:
        """The loop in parts of lines for rows that are long enough, and as it was."""
        size = self.dtype.size
        most = TOGETHER >> (len(self.rows) - 1).bit_length()
        count = Literal(str(min(BYTES, most) // size))
        ends = (Declare("const ptrdiff_t", LOW, self.span[0]), Declare("const ptrdiff_t", HIGH, self.span[1]))
        buffers = [
            Declare(f"_Alignas(64) {self.dtype.c}", f"{ROW}{k}[{count.text}]") for k in range(len(self.rows))
        ]
        turn = CCall("_pm_past_turn", (self._address(0, LOW), Literal(str(size))))
        first = CBinary("-", CBinary("+", Id(LOW), turn), count)
        at = CCall(MAX_I64.function, (Id(FROM), Id(LOW)))
        stop = CCall(MIN_I64.function, (CBinary("+", Id(FROM), count), Id(HIGH)))
        part = (Declare("const ptrdiff_t", AT, at), Declare("const ptrdiff_t", STOP, stop))
        loop = replace(between(self.loop, Id(AT), Id(STOP)), body=_into(self.loop.body, self._places()))
        bytes_ = CBinary("*", Cast("size_t", CBinary("-", Id(STOP), Id(AT))), Literal(str(size)))
        copies = [
            Evaluate(CCall("_pm_past_copy", (self._address(k, AT), Id(f"{ROW}{k}"), bytes_)))
            for k in range(len(self.rows))
        ]
        parts = For(FROM, first, CBinary("<", Id(FROM), Id(HIGH)), count, (*part, loop, *copies))
        least = Literal(str(WORTH // size))
        long = CBinary(">=", CBinary("-", self.span[1], self.span[0]), least)
        return If(CBinary("&&", Id(PAST), long), (*ends, *buffers, parts), (self.loop,))

    def _address(self, number: int, place: str) -> CExpr:
        here: dict[CExpr, CExpr] = {Id(self.loop.variable): Id(place)}
        return CUnary("&", substituted(self.rows[number].expr, here))

    def _places(self) -> dict[CExpr, CExpr]:
        index = CBinary("-", Id(self.loop.variable), Id(AT))
        return {row.expr: Subscript(Id(f"{ROW}{k}"), index) for k, row in enumerate(self.rows)}


def _written(body: Sequence[Stmt]) -> tuple[Subscript, ...] | None:
    """The elements that statements write whatever they choose; None where they do anything else."""
    found: dict[Subscript, None] = {}
    for item in body:
        match item:
            case Declare():
                continue
            case Assign(Subscript() as target, "="):
                found[target] = None
            case If(_, then, otherwise):
                both = _written(then), _written(otherwise)
                if both[0] is None or both[1] is None or set(both[0]) != set(both[1]):
                    return None
                found |= dict.fromkeys(both[0])
            case _:
                return None
    return tuple(found)


def _values(body: Sequence[Stmt]) -> list[CExpr]:
    """All that statements compute and ask for, and where they write."""
    found: list[CExpr] = []
    for item in body:
        match item:
            case Declare(value=value) if value is not None:
                found.append(value)
            case Assign(Subscript(_, index), _, value):
                found += [index, value]
            case Assign(_, _, value):
                found.append(value)
            case If(condition, then, otherwise):
                found += [condition, *_values(then), *_values(otherwise)]
            case _:
                continue
    return found


def _into(body: Sequence[Stmt], places: dict[CExpr, CExpr]) -> tuple[Stmt, ...]:
    """The statements with other places for what they write."""
    made: list[Stmt] = []
    for item in body:
        match item:
            case Assign(target, operator, value):
                made.append(Assign(places[target], operator, value))
            case If(condition, then, otherwise):
                made.append(If(condition, _into(then, places), _into(otherwise, places)))
            case _:
                made.append(item)
    return tuple(made)
