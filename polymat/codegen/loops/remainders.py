"""Loops that read at j // k, run k points at a time.

For the compiler an index j // 2 is a gather; with j = 2 q + r it is q + (r // 2): rows that are read and
written by whole vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import gcd, lcm

from polymat.codegen.c.countingloops import HIGH, LOW, between, known_ends
from polymat.codegen.c.ctree import (
    Block,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    expressions,
    names_in,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import index_terms, integer_of
from polymat.codegen.loops.innermost import DIVISION, straight_range, with_innermost
from polymat.dataclass import dataclass

LONGEST = 8  # points of a block; more of them do not fit the registers
BLOCK, FIRST, BEHIND = "_pm_block", "_pm_blocks_begin", "_pm_blocks_end"


def split_by_remainder(statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements with blocks of k points in innermost loops that divide their index by k.

    before:  for j: y[j] = x[j // 2]
    after:   for q: y[2 q] = x[q]; y[2 q + 1] = x[q]; and the points before and behind whole blocks as before
    """
    return with_innermost(statements, _split)


def _split(loop: For) -> Block | None:
    """The loops over blocks and over the points around them; None for a loop without such divisions."""
    if (span := straight_range(loop, choosing=True)) is None:
        return None
    start, high = span
    variable, body = loop.variable, loop.body
    found = tuple(dict.fromkeys(_divisions(body, variable)))
    periods = _turns(body, variable)
    if periods is None:
        return None
    count = lcm(*(division.period for division in found), *periods)
    if count == 1 or count > LONGEST:
        return None
    begin = CCall(DIVISION, (CBinary("+", Id(LOW), Literal(str(count - 1))), Literal(str(count))))
    end = CCall(MAX_I64.function, (Id(FIRST), CCall(DIVISION, (Id(HIGH), Literal(str(count))))))
    known = (
        *known_ends((start, high)),
        Declare("const ptrdiff_t", FIRST, begin),
        Declare("const ptrdiff_t", BEHIND, end),
    )
    copies = [_copy(body, variable, found, count, remainder) for remainder in range(count)]
    together = tuple(part for copy in copies for part in copy)
    inside = CBinary("<", Id(BLOCK), Id(BEHIND))
    blocks = For(BLOCK, Id(FIRST), inside, Literal("1"), together, loop.pragmas)
    before = _points(loop, Id(LOW), CCall(MIN_I64.function, (Id(HIGH), _times(count, Id(FIRST)))))
    behind = _points(loop, _times(count, Id(BEHIND)), Id(HIGH))
    return Block((*known, before, blocks, behind))


def _points(loop: For, low: CExpr, high: CExpr) -> For:
    """Less than a block of points, one by one."""
    return replace(between(loop, low, high), pragmas=())


@dataclass(frozen=True, slots=True)
class _Division:
    """(factor * j + rest) // divisor; its value moves by whole numbers every `period` points."""

    call: CCall
    factor: int
    constant: int
    rest: tuple[tuple[int, CExpr], ...]
    divisor: int

    @property
    def period(self) -> int:
        return self.divisor // gcd(self.factor, self.divisor)

    def at(self, count: int, remainder: int) -> CExpr:
        """What it is at the point j = count * BLOCK + remainder."""
        known = self.constant + self.factor * remainder
        if self.rest:
            total: CExpr = Literal(str(known))
            for sign, term in self.rest:
                total = CBinary("+" if sign > 0 else "-", total, term)
            fixed: CExpr = CCall(DIVISION, (total, Literal(str(self.divisor))))
        else:
            fixed = Literal(str(known // self.divisor))
        return CBinary("+", _times(self.factor * count // self.divisor, Id(BLOCK)), fixed)


def _divisions(body: Sequence[Stmt], variable: str) -> Iterator[_Division]:
    """Every division of something linear in the loop's variable by a number."""
    for expr in expressions(body):
        match expr:
            case CCall(function, (inner, Literal() as by)) if function == DIVISION:
                divisor, linear = integer_of(by), _linear(inner, variable)
                if divisor is not None and divisor > 1 and linear is not None and linear[0]:
                    yield _Division(expr, *linear, divisor)


def _turns(body: Sequence[Stmt], variable: str) -> set[int] | None:
    """The numbers of parts that take turns; None where something else is chosen by."""
    found: set[int] = set()
    for item in body:
        if isinstance(item, If):
            turn, *inner = (
                _turn(item, variable),
                _turns(item.then, variable),
                _turns(item.otherwise, variable),
            )
            if turn is None or None in inner:
                return None
            found |= {turn[0]}.union(*(periods for periods in inner if periods is not None))
    return found


def _turn(choice: If, variable: str) -> tuple[int, int] | None:
    """The period and the remainder of the points at which a choice takes its first part."""
    match choice.condition:
        case CBinary("==", CBinary("&", index, Literal() as mask), Literal() as rest):
            bits, turn, linear = integer_of(mask), integer_of(rest), _linear(index, variable)
            if (
                bits is not None
                and turn is not None
                and linear is not None
                and linear[0] == 1
                and not linear[2]
            ):
                return bits + 1, (turn - linear[1]) % (bits + 1)
    return None


def _at_turn(body: Sequence[Stmt], variable: str, remainder: int) -> Iterator[Stmt]:
    """What runs at the points of a remainder, with no choices left."""
    for item in body:
        if not isinstance(item, If):
            yield item
            continue
        turn = _turn(item, variable)
        assert turn is not None, "the choices of a loop are known by now"
        period, first = turn
        yield from _at_turn(item.then if remainder % period == first else item.otherwise, variable, remainder)


def _linear(expr: CExpr, variable: str) -> tuple[int, int, tuple[tuple[int, CExpr], ...]] | None:
    """factor, constant and rest of factor * variable + constant + rest."""
    factor = constant = 0
    rest = []
    for sign, term in index_terms(expr):
        number = integer_of(term)
        match term:
            case _ if number is not None:
                constant += sign * number
            case Id(name) if name == variable:
                factor += sign
            case CBinary("*", Literal() as by, Id(name)) | CBinary("*", Id(name), Literal() as by) if (
                name == variable and (times := integer_of(by)) is not None
            ):
                factor += sign * times
            case _ if variable in names_in([Evaluate(term)]):
                return None
            case _:
                rest.append((sign, term))
    return factor, constant, tuple(rest)


def _copy(
    body: Sequence[Stmt], variable: str, divisions: Sequence[_Division], count: int, remainder: int
) -> tuple[Stmt, ...]:
    """The body at one point of a block; locals get the number of the point."""
    point: CExpr = _times(count, Id(BLOCK))
    if remainder:
        point = CBinary("+", point, Literal(str(remainder)))
    values: dict[CExpr, CExpr] = {division.call: division.at(count, remainder) for division in divisions}
    values[Id(variable)] = point
    made: list[Stmt] = []
    for item in _at_turn(body, variable, remainder):
        changed = substituted(item, values)
        if isinstance(changed, Declare):
            numbered = f"{changed.name}_{remainder}"
            values[Id(changed.name)] = Id(numbered)
            changed = replace(changed, name=numbered)
        made.append(changed)
    return tuple(made)


def _times(count: int, value: CExpr) -> CExpr:
    return value if count == 1 else CBinary("*", Literal(str(count)), value)
