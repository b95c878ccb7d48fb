"""Sums whose reduced dimensions run between bounds that data give: the rows of a sparse matrix.

A definition says it by a choice, `Select((row(i) <= k) & (k < row(i + 1)), value, neutral)`, which is right
wherever it is computed.  Loops over k from row(i) on, to row(i + 1), leave out what adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.dataclass import dataclass
from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Load, SelectExpr, Variable
from polymat.lang.traverse import comparisons, condition_operands, conjuncts, names_of, walk
from polymat.lang.types import Long

_ONE = Const(1, Long)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Where along a dimension something is accumulated: from each of `lows` on, and before each of `ends`."""

    dim: str
    lows: tuple[Expr, ...]
    ends: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SegmentedSum:
    """The dimensions that run between bounds, in their order, and the value that is accumulated there."""

    dims: tuple[Segment, ...]
    value: Expr

    def names(self) -> frozenset[str]:
        """The names of the dimensions and sizes that the bounds depend on."""
        return frozenset(names_of(bound for each in self.dims for bound in (*each.lows, *each.ends)))


def find_segments(
    expr: Expr, reduced: Sequence[str], order: Sequence[str], nothing: Const
) -> SegmentedSum | None:
    """Find the dimensions that a sum runs along between bounds from data; None where it has no such bounds.

    reduced: the dimensions that are summed over.  order: of the loops; bounds depend on those further out.
    nothing: the neutral element.
    """
    if not isinstance(expr, SelectExpr) or expr.otherwise != nothing or expr.then.dtype != nothing.dtype:
        return None
    rest = list(conjuncts(expr.condition))
    found = []
    for dim in reduced:
        later = frozenset(order[order.index(dim) :])
        bounds = [(each, bound) for each in rest if (bound := _bound(each, dim, later)) is not None]
        if bounds:
            lows = tuple(value for _, (end, value) in bounds if not end)
            found.append(Segment(dim, lows, tuple(value for _, (end, value) in bounds if end)))
            rest = [each for each in rest if all(each is not known for known, _ in bounds)]
    data = (bound for each in found for bound in (*each.lows, *each.ends))
    if rest or not any(isinstance(node, Load) for bound in data for node in walk(bound)):
        return None
    return SegmentedSum(tuple(found), expr.then)


def _bound(condition: Condition, dim: str, later: frozenset[str]) -> tuple[bool, Expr] | None:
    """Whether a comparison says where a dimension ends, or where it begins, and that value."""
    if condition.combines or len(comparisons(condition)) > 1:
        return None
    left, right = condition_operands(condition)
    op = condition.op
    if _is(right, dim):
        left, right, op = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
    if not _is(left, dim) or op not in ("<", "<=", ">", ">=") or right.dtype.kind not in "iu":
        return None
    if not later.isdisjoint(names_of([right])):
        return None
    value = right if right.dtype == Long else CastExpr(right, Long)
    return (op in ("<", "<="), Binary("+", value, _ONE, Long) if op in ("<=", ">") else value)


def _is(side: Expr, dim: str) -> bool:
    """Whether it is an index, as it is or in 64 bits."""
    while isinstance(side, CastExpr) and side.dtype == Long:
        side = side.operand
    return isinstance(side, Variable) and side.name == dim
