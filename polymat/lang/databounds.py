"""Intervals whose bounds are computed from data: the whole range that they lie in, and where they hold.

before:  k in Interval(Int, row(i), row(i + 1) - 1), row declared with values=(0, NNZ)
after:   k in 0 .. NNZ - 1, and only where (row(i) <= k) & (k < row(i + 1))
"""

from __future__ import annotations

import numpy as np

from polymat.errors import BoundsError, Location
from polymat.lang.affine import Affine, Computed, Limits, computed_in
from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Variable
from polymat.lang.expressiontext import expr_text
from polymat.lang.types import Long
from polymat.lang.valueranges import never_wraps

_KNOWN = 2  # bytes of an element: the ranges of larger types are none that anything is declared with


def enclosed(low: Affine, high: Affine, at: Location | None) -> tuple[Affine, Affine]:
    """Forms of sizes that all values of two bounds lie between; `BoundsError` where nothing is known."""
    return _without_data(low, at, upwards=False), _without_data(high, at, upwards=True)


def holds_within(variable: Variable, bounds: tuple[Expr, Expr]) -> Condition:
    """The condition that a variable lies between two bounds, both included."""
    low, high = bounds
    match high:
        case Binary("-", below, Const(1)) if never_wraps(high):
            last = Condition(variable, "<", below)
        case _:
            last = Condition(variable, "<=", high)
    return Condition(low, "<=", variable) & last


def widened(bound: Expr) -> Expr:
    """A bound with its last sum or difference in 64 bits: that of an unsigned 0 and 1 is -1, and no end."""
    match bound:
        case Binary("+" | "-" as op, left, right, dtype) if dtype.kind in "iu" and dtype != Long:
            return Binary(op, _long(left), _long(right), Long)
        case _:
            return bound


def _long(value: Expr) -> Expr:
    return value if value.dtype.weak or value.dtype == Long else CastExpr(value, Long)


def _without_data(form: Affine, at: Location | None, *, upwards: bool) -> Affine:
    found = {}
    for atom in computed_in([form]):
        rises = _coefficient(form, atom) > 0
        limit = _limit(atom, upwards=upwards == rises)
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


def _limit(atom: Computed, *, upwards: bool) -> Affine | None:
    """What a value is at most, or at least: what was declared rather than what its type can hold."""
    sides = [_sides(each, upwards=upwards) for each in atom.ranges]
    if not sides:
        return None
    common = [form for form in sides[0] if all(form in side for side in sides)]
    forms = common if upwards else [*sides[0]]
    of_sizes = [form for form in forms if not form.is_constant]
    declared = [form for form in forms if form.is_constant and not _is_end(form.const, atom.value)]
    return _tightest(of_sizes, upwards=upwards) or next(iter(declared), None)


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
