"""Rows that are read at j // k beside others that are read at j: the former first, into a row of their own.

In blocks of k points (`polymat.codegen.loops.remainders`) all else that a point reads or writes is every k-th
element, which takes shuffles.  So values of what is read at j // k alone are spread out first; the loop that
uses them is rows of whole vectors, and what it asks memory for is spread over it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from polymat.codegen.c.countingloops import between
from polymat.codegen.c.ctree import (
    Assign,
    Block,
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
    expressions,
    names_in,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes, read_of
from polymat.codegen.c.vectorloops import Vectors
from polymat.codegen.loops.dividedturns import SpreadOut, SpreadTurn, by_turns, joined, turns_of
from polymat.codegen.loops.innermost import DIVISION, straight_range
from polymat.codegen.loops.shifted import requests_at_end

SPREAD = "_pm_spread"  # with a number: a row of values
LOW, HIGH = "_pm_spread_low", "_pm_spread_high"  # where a row begins and ends
FROM, AT, STOP = "_pm_spread_from", "_pm_spread_at", "_pm_spread_stop"  # parts of it
COUNT = 1024  # elements of a part in explicit vectors: a few KiB in the first-level cache and on the stack
TOGETHER = 4096  # of the parts of all rows
SHORT = 64  # where the C compiler makes the vectors: some vectors, beside which the next part is begun
MOST = 8  # rows of values; each is stored and loaded once
SPREADS = frozenset(f"{SPREAD}{k}" for k in range(MOST))


def divided_first(statements: Sequence[Stmt], types: RowTypes, needs: set[Need]) -> tuple[Stmt, ...]:
    """The statements with those innermost loops in two that read some rows at j and others at j // k.

    before:  for j: y[j] = a[j] + (x[j // 2] + x[j // 2 + 1]) / 2
    after:   for k by 1024: for j from k: t[j - k] = (x[j // 2] + x[j // 2 + 1]) / 2
                            for j from k: y[j] = a[j] + t[j - k]

    Explicit vectors ask for some of the next rows at each of them.  The C compiler's come after all requests
    of a part: of short parts, values, requests and vectors of several are under way at once.
    """
    made: list[Stmt] = []
    for item in statements:
        match item:
            case For(pragmas=(Vectors(sums=()),)):
                asked = requests_at_end(made, item.variable)
                parts = _in_two(item, asked, types)
                if parts is not None:
                    needs.update({MIN_I64, MAX_I64})
                    del made[len(made) - len(asked) :]
                made.append(item if parts is None else parts)
            case For(body=body):
                made.append(replace(item, body=divided_first(body, types, needs)))
            case If(condition, then, otherwise):
                both = divided_first(then, types, needs), divided_first(otherwise, types, needs)
                made.append(If(condition, *both))
            case Block(body):
                made.append(Block(divided_first(body, types, needs)))
            case _:
                made.append(item)
    return tuple(made)


def _in_two(loop: For, requests: Sequence[Stmt], types: RowTypes) -> Block | None:
    """The loops over parts of a row; None where there is nothing to spread, or no vectors for the rest."""
    divided = _divided_elements(loop)
    span, turns = straight_range(loop, choosing=True), turns_of(loop.body)
    if not divided or span is None or turns is None:
        return None
    found = _spread(loop, turns, divided, types)
    if found is None or not 0 < len(found.rows) <= MOST or not _is_row(found.body, loop.variable):
        return None
    elements = _part(len(found.rows), types)
    low, high, count = Id(LOW), Id(HIGH), Literal(str(elements))

    def within(row: Stmt) -> Stmt:
        return between(row, Id(AT), Id(STOP)) if isinstance(row, For) else row

    stop = CCall(MIN_I64.function, (CBinary("+", Id(FROM), count), high))
    inner = (
        Declare("const ptrdiff_t", AT, CCall(MAX_I64.function, (Id(FROM), low))),
        Declare("const ptrdiff_t", STOP, stop),
        within(replace(loop, body=by_turns(found.rows, turns))),
        *map(within, requests),
        within(replace(loop, body=found.body)),
    )
    first = CBinary("&", low, CUnary("-", count))
    return Block(
        (
            Declare("const ptrdiff_t", LOW, span[0]),
            Declare("const ptrdiff_t", HIGH, span[1]),
            *(Declare(types.ctype, f"{SPREAD}{k}[{elements}]") for k in range(len(found.rows))),
            For(FROM, first, CBinary("<", Id(FROM), high), count, inner),
        )
    )


def _part(rows: int, types: RowTypes) -> int:
    """How many elements of each of so many rows of values are spread out at a time."""
    return SHORT if types.lanes == 1 else min(COUNT, TOGETHER >> (rows - 1).bit_length())


def _spread(loop: For, turns: Sequence[SpreadTurn], divided: Set[CExpr], types: RowTypes) -> SpreadOut | None:
    """A loop with what it computes of elements at j // k alone, the divided ones, spread out.

    Nothing whose place is computed at each point, which no vector reads.
    """
    if any(_declared(turn.body) & names_in(_indices(turn.body)) for turn in turns):
        return None

    def row(number: int) -> CExpr:
        return Subscript(Id(f"{SPREAD}{number}"), CBinary("-", Id(loop.variable), Id(AT)))

    if len(turns) > 1:
        return joined(turns, lambda value: _is_spread(value, divided, types), row)
    found: dict[CExpr, CExpr] = {}
    for item in loop.body:
        value = item.value if isinstance(item, (Assign, Declare)) else None
        for part in _divided(value, divided, types) if value is not None else ():
            found.setdefault(part, row(len(found)))
    rows: dict[tuple[CExpr, ...], CExpr] = {(part,): element for part, element in found.items()}
    return SpreadOut(rows, tuple(_with(item, found) for item in loop.body))


def _declared(body: Sequence[Stmt]) -> set[str]:
    return {item.name for item in body if isinstance(item, Declare)}


def _indices(body: Sequence[Stmt]) -> list[CExpr]:
    return [e.index for e in _elements(body)]


def _is_row(body: Sequence[Stmt], variable: str) -> bool:
    """Whether all that a loop reads and writes are rows, some of them of arrays."""
    elements = set(_elements(body))
    reads = {read.array for e in elements if (read := read_of(e, variable)) is not None}
    targets = {e.target.array.name for e in body if isinstance(e, Assign) and _is_array(e.target)}  # type: ignore[union-attr]
    others = {name for name in reads - targets if not name.startswith(SPREAD)}
    return bool(others) and all(read_of(e, variable) is not None for e in elements)


def _is_array(target: CExpr) -> bool:
    return isinstance(target, Subscript) and isinstance(target.array, Id)


def _divided(value: CExpr, divided: Set[CExpr], types: RowTypes) -> list[CExpr]:
    """The largest parts of a value that read nothing but elements at j // k."""
    if _is_spread(value, divided, types):
        return [value]
    match value:
        case CBinary(_, left, right):
            return [*_divided(left, divided, types), *_divided(right, divided, types)]
        case CUnary(_, operand):
            return _divided(operand, divided, types)
        case _:
            return []


def _is_spread(value: CExpr, divided: Set[CExpr], types: RowTypes) -> bool:
    """Whether a value reads elements at j // k, the divided ones, and nothing else."""
    elements = _elements([value])
    return bool(elements) and all(e in divided for e in elements) and _is_closed(value, elements, types)


def _is_closed(value: CExpr, elements: Sequence[CExpr], types: RowTypes) -> bool:
    """Whether a value depends on numbers and these elements alone, and all of it has the type of a row.

    What is computed as another type, of a conversion or a longer number on, would be rounded.
    """
    rest = substituted(Evaluate(value), dict.fromkeys(elements, Literal("0")))
    parts = [*expressions([rest])]
    numbers = [part.text for part in parts if isinstance(part, Literal)]
    typed = all(text.isdecimal() or types.is_number(text) for text in numbers)
    return typed and not names_in([rest]) and not any(isinstance(part, Cast) for part in parts)


def _elements(parts: Sequence[Stmt | CExpr]) -> list[Subscript]:
    return [e for e in expressions(parts) if isinstance(e, Subscript)]


def _divided_elements(loop: For) -> Set[CExpr]:
    """The elements that a loop reads at j // k."""
    return {e for e in set(_elements(loop.body)) if _is_divided(e, loop.variable)}


def _is_divided(element: Subscript, variable: str) -> bool:
    """Whether an element is one of a row that is read at j // k."""
    if variable not in names_in([Evaluate(element.index)]):
        return False
    calls = [
        e for e in expressions([Evaluate(element.index)]) if isinstance(e, CCall) and e.function == DIVISION
    ]
    moving = [call for call in calls if variable in names_in([Evaluate(call)])]
    if len(moving) != 1:
        return False
    return variable not in names_in([substituted(element.index, {moving[0]: Literal("0")})])


def _with(item: Stmt, known: dict[CExpr, CExpr]) -> Stmt:
    """A statement with rows in place of what is spread out."""
    match item:
        case Assign(target, operator, value):
            return Assign(target, operator, substituted(value, known))
        case Declare(ctype, name, value) if value is not None:
            return Declare(ctype, name, substituted(value, known))
        case _:
            return item
