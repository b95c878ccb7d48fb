"""Intervals whose bounds are computed from data: the whole range that they lie in, and where they hold.

before:  k in Interval(Int, row(i), row(i + 1) - 1), row declared with values=(0, NNZ)
after:   k in 0 .. NNZ - 1, and only where (row(i) <= k) & (k < row(i + 1))
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from polymat.errors import BoundsError, Location
from polymat.lang.affine import Affine, Computed, Limits, computed_in
from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, CastExpr, Const, Expr, SelectExpr, Variable
from polymat.lang.expressiontext import expr_text
from polymat.lang.traverse import has_loads
from polymat.lang.types import Long
from polymat.lang.valueranges import never_wraps

_KNOWN = 2  # bytes of an element: the ranges of larger types are none that anything is declared with


def enclosed(low: Affine, high: Affine, sizes: Collection[str], at: Location | None) -> tuple[Affine, Affine]:
    """Forms that all values of two bounds lie between; `BoundsError` where nothing is known."""
    return _without_data(low, sizes, at, upwards=False), _without_data(high, sizes, at, upwards=True)


def holds_within(variable: Variable, bounds: tuple[Expr, Expr]) -> Condition:
    """The condition that a variable lies between two bounds, both included.

    Operands of minima and maxima of forms are compared each by itself: such conditions bound what is read.

    Max(i - 2, 0) .. row(i + 1) - 1:  (i - 2 <= k) & (0 <= k) & (k < row(i + 1))
    """
    low, high = bounds
    match high:
        case Binary("-", below, Const(1)) if never_wraps(high):
            last = _compared(below, variable, ">")
        case _:
            last = _compared(high, variable, ">=")
    return _compared(low, variable, "<=") & last


def _compared(bound: Expr, variable: Variable, op: str) -> Condition:
    """`bound op variable`; below a minimum is what is below both, above it what is above one of them."""
    match bound:
        case Binary("min" | "max" as which, one, other) if not has_loads(bound):
            first, second = _compared(one, variable, op), _compared(other, variable, op)
            return first & second if (which == "min") == (op != "<=") else first | second
        case SelectExpr(condition, one, other):
            first, second = _compared(one, variable, op), _compared(other, variable, op)
            return condition & first | ~condition & second
        case _ if op == "<=":
            return Condition(bound, "<=", variable)
        case _:
            return Condition(variable, op.replace(">", "<"), bound)


def widened(bound: Expr) -> Expr:
    """A bound with its last sum or difference in 64 bits: that of an unsigned 0 and 1 is -1, and no end."""
    match bound:
        case Binary("+" | "-" as op, left, right, dtype) if dtype.kind in "iu" and dtype != Long:
            return Binary(op, _long(left), _long(right), Long)
        case _:
            return bound


def _long(value: Expr) -> Expr:
    return value if value.dtype.weak or value.dtype == Long else CastExpr(value, Long)


def _without_data(form: Affine, sizes: Collection[str], at: Location | None, *, upwards: bool) -> Affine:
    found = {}
    for atom in computed_in([form]):
        rises = _coefficient(form, atom) > 0
        limit = _limit(atom, sizes, upwards=upwards == rises)
        if limit is None:
            text = expr_text(atom.value)
            raise BoundsError(
                f"an interval ends at {text}, and nothing says where that lies",
                at=at,
                hint='declare it: Vector(Int, "row", [N + 1], values=(0, M)), or Clamp(..., 0, M)',
            )
        found[atom] = limit
    return form.with_computed(found)


def _coefficient(form: Affine, atom: Computed) -> int:
    """Its sign says whether a form rises with a value: in a quotient as its numerator does."""
    for other, coefficient in form.terms:
        if other == atom:
            return coefficient
        if not isinstance(other, str | Computed) and atom in computed_in([other.numerator]):
            return coefficient * _coefficient(other.numerator, atom)
    return 1


def _limit(atom: Computed, sizes: Collection[str], *, upwards: bool) -> Affine | None:
    """What a value is at most, or at least: what was declared rather than what its type can hold."""
    sides = [_sides(each, upwards=upwards) for each in atom.ranges]
    listed = [*dict.fromkeys(form for side in sides for form in side)]
    clamped = isinstance(atom.value, Binary)

    def bounding(forms: list[Affine]) -> list[Affine]:
        return [form for form in forms if all(_bounds(form, side, sizes, clamped, upwards) for side in sides)]

    forms = bounding(listed) or bounding([form + (1 if upwards else -1) for form in listed])
    of_sizes = [form for form in forms if not form.is_constant]
    declared = [form for form in forms if form.is_constant and not _is_end(form.const, atom.value)]
    return _tightest(of_sizes, upwards=upwards) or next(iter(declared), None)


def _bounds(
    form: Affine, side: tuple[Affine, ...], sizes: Collection[str], clamped: bool, upwards: bool
) -> bool:
    """Whether a form is no tighter than one of some limits, all of which hold.

    Of Clamp(e, 0, N - 1), which is e or an end, 0 is a lower limit: it is where there are N elements at all.
    Of a choice of 0 and N - 1, or of N and N - 1, the first one is none.
    """
    for limit in side:
        room = form - limit if upwards else limit - form
        least = -1 if clamped and not upwards and not room.is_constant else 0
        if form == limit or _is_at_least(least, room, sizes):
            return True
    return False


def _is_at_least(number: int, form: Affine, sizes: Collection[str]) -> bool:
    """Whether a form of sizes, which are at least 0, is at least some number, whatever they are."""
    return form.const >= number and all(atom in sizes and factor >= 0 for atom, factor in form.terms)


def _tightest(forms: list[Affine], *, upwards: bool) -> Affine | None:
    """The first of some limits, or another one that is tighter whatever the sizes are."""
    best = forms[0] if forms else None
    for form in forms[1:]:
        apart = form - (best or form)
        if apart.is_constant and (apart.const < 0) == upwards:
            best = form
    return best


def _sides(limits: Limits, *, upwards: bool) -> tuple[Affine, ...]:
    return limits.highs if upwards else limits.lows


def _is_end(number: int, value: Expr) -> bool:
    """Whether a number is an end of a large type, and says nothing of what was meant."""
    dtype = value.dtype
    info = np.iinfo(dtype.dtype)
    return dtype.size > _KNOWN and number in (int(info.min), int(info.max)) and number != 0
