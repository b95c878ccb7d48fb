"""Points that take turns, and differ in nothing but what they read at j // k."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import Assign, CBinary, CExpr, CUnary, Declare, If, Stmt
from polymat.dataclass import dataclass

Row = Callable[[int], CExpr]  # the element of a row of values, by its number


@dataclass(frozen=True, slots=True)
class SpreadTurn:
    """Statements that some points of a loop run, and the condition for these; None: all others do."""

    condition: CExpr | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class SpreadOut:
    """A loop with rows of values in it: their elements, by the value at each turn, and what uses them."""

    rows: Mapping[tuple[CExpr, ...], CExpr]
    body: tuple[Stmt, ...]


def turns_of(body: Sequence[Stmt]) -> tuple[SpreadTurn, ...] | None:
    """The turns of a loop, one where it chooses nothing; None where it chooses among other things."""
    match tuple(body):
        case (If(condition, then, otherwise),):
            rest = turns_of(otherwise)
            simple = rest is not None and not any(isinstance(item, If) for item in then)
            return (SpreadTurn(condition, then), *(rest or ())) if simple else None
        case statements if any(isinstance(item, If) for item in statements):
            return None
        case statements:
            return (SpreadTurn(None, statements),)


def by_turns(rows: Mapping[tuple[CExpr, ...], CExpr], turns: Sequence[SpreadTurn]) -> tuple[Stmt, ...]:
    """The values of all rows at a point, each at its turn."""
    made: tuple[Stmt, ...] = ()
    for number in reversed(range(len(turns))):
        own = tuple(Assign(row, "=", values[number]) for values, row in rows.items())
        condition = turns[number].condition
        made = own if condition is None else (If(condition, own, made),)
    return made


def joined(turns: Sequence[SpreadTurn], is_spread: Callable[[CExpr], bool], row: Row) -> SpreadOut | None:
    """The body that all turns have with rows in place of what differs; None where that is anything else.

    is_spread: whether a value reads nothing but elements at j // k.

    before:  if even: y[j] = a[j] + x[j // 2]; else: y[j] = a[j] + x[j // 2 + 1]
    after:   y[j] = a[j] + t[j - k]
    """
    found = _Joining(is_spread, row, {})
    if len({len(turn.body) for turn in turns}) > 1:
        return None
    body = [found.statement(items) for items in zip(*(turn.body for turn in turns), strict=True)]
    made = tuple(item for item in body if item is not None)
    return SpreadOut(found.rows, made) if len(made) == len(body) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Joining:
    """Makes one of what turns have; rows: so far."""

    is_spread: Callable[[CExpr], bool]
    row: Row
    rows: dict[tuple[CExpr, ...], CExpr]

    def statement(self, items: Sequence[Stmt]) -> Stmt | None:
        match items[0]:
            case Assign() | Declare() as first:
                values = [_value_like(item, first) for item in items]
                known = [value for value in values if value is not None]
                value = self.value(known) if len(known) == len(items) else None
                return None if value is None else replace(first, value=value)
            case _:
                return None

    def value(self, values: Sequence[CExpr]) -> CExpr | None:
        """One value for all turns."""
        if all(map(self.is_spread, values)):
            return self.rows.setdefault(tuple(values), self.row(len(self.rows)))
        match values[0]:
            case CBinary(op) if all(isinstance(each, CBinary) and each.op == op for each in values):
                sides = [(each.left, each.right) for each in values if isinstance(each, CBinary)]
                left, right = (self.value(side) for side in zip(*sides, strict=True))
                return None if left is None or right is None else CBinary(op, left, right)
            case CUnary(op) if all(isinstance(each, CUnary) and each.op == op for each in values):
                operand = self.value([each.operand for each in values if isinstance(each, CUnary)])
                return None if operand is None else CUnary(op, operand)
            case first:
                return first if all(each == first for each in values) else None


def _value_like(item: Stmt, first: Assign | Declare) -> CExpr | None:
    """The value of a statement that differs from another one in nothing else."""
    if not isinstance(item, (Assign, Declare)) or item.value is None or first.value is None:
        return None
    return item.value if replace(item, value=first.value) == first else None
