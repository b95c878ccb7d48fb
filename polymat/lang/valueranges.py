"""Between which limits an integer expression lies, whatever the data: interval arithmetic on forms of sizes.

A range is a list of alternatives (`Limits`), of which one holds: the smaller of x and N - 1 is N - 1 or less.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TypeAlias

import numpy as np

from polymat.lang.affine import Affine, Limits
from polymat.lang.bitranges import bit_range, power_of
from polymat.lang.expr import (
    BITS,
    Binary,
    Call,
    CastExpr,
    Const,
    Expr,
    Load,
    Parameter,
    SelectExpr,
    Unary,
    Variable,
)
from polymat.lang.table import Lookup
from polymat.lang.traverse import Node, fold
from polymat.lang.types import Bool, Long, ScalarType

Ranges: TypeAlias = tuple[Limits, ...]

MOST = 12  # alternatives; beyond them only the type is known
_EXACT_BITS = 62  # constants beyond that are taken for any of the type


def ranges_of(expr: Expr) -> Ranges:
    """The alternatives of an integer expression."""
    return fold(expr, _ranges)


def never_wraps(expr: Expr) -> bool:
    """Whether the last operation of an integer expression is exact: its result fits the type."""
    fits = True

    def ranges(node: Node, parts: tuple[Ranges, ...]) -> Ranges:
        nonlocal fits
        if node is expr:
            raw = _operation(node, parts)
            fits = raw is not None and _fits(raw, node.dtype)
        return _ranges(node, parts)

    fold(expr, ranges)
    return fits


def is_always(expr: Expr, dtype: ScalarType) -> bool:
    """Whether all values that an integer expression can have are ones of a type."""
    return _fits(ranges_of(expr), dtype)


def of_type(dtype: ScalarType) -> Ranges:
    """All values of a type; of an integer that is known as late as at the call, all of 64 bits."""
    if dtype == Bool:
        return (_between(0, 1),)
    info = np.iinfo(dtype.dtype if dtype.kind in "iu" and not dtype.weak else Long.dtype)
    return (_between(int(info.min), int(info.max)),)


def _between(low: int, high: int) -> Limits:
    return Limits((Affine((), low),), (Affine((), high),))


def _exactly(form: Affine) -> Ranges:
    return (Limits((form,), (form,)),)


def _ranges(node: Node, parts: tuple[Ranges, ...]) -> Ranges:
    """The alternatives of a node, of its operands' ones; none of what is no integer."""
    if node.dtype.kind not in "iub":
        return ()
    raw = _operation(node, parts)
    kept = raw is not None and (isinstance(node, Load) or _chooses(node) or _fits(raw, node.dtype))
    return raw if raw is not None and kept else of_type(node.dtype)


def _chooses(node: Expr) -> bool:
    """Whether the result is one of the operands."""
    return isinstance(node, SelectExpr) or (isinstance(node, Binary) and node.op in ("min", "max"))


def _operation(node: Node, parts: tuple[Ranges, ...]) -> Ranges | None:
    """What an operation gives where it is exact; None where nothing is known of it."""
    match node:
        case Const(value):
            return _exactly(Affine((), int(value.real)))
        case Parameter() | Variable():
            return _exactly(Affine.name(node.name))
        case Load(source):
            return _declared(getattr(source, "values", None), node.dtype)
        case Lookup(table):
            values = table.array
            return (_between(int(values.min()), int(values.max())),) if values.size else None
        case CastExpr(operand):
            return parts[0] if operand.dtype.kind in "iub" else None
        case Unary():
            return _scaled(parts[0], -1)
        case Binary(op):
            return _binary(op, *parts) if all(parts) else None
        case Call("abs" | "sign" | "floor" | "ceil" | "round" as function):
            return _called(function, parts[0])
        case SelectExpr():
            return _few((*parts[-2], *parts[-1]))
        case _:
            return None


def _declared(values: Ranges | None, dtype: ScalarType) -> Ranges | None:
    """What was declared of an array's elements, which are values of its type besides."""
    if values is None:
        return None
    pairs = product(values, of_type(dtype))
    return tuple(_plain((*a.lows, *b.lows), (*a.highs, *b.highs)) for a, b in pairs)


def _binary(op: str, left: Ranges, right: Ranges) -> Ranges | None:
    match op:
        case "+":
            return _few([_sum(one, other) for one, other in product(left, right)])
        case "-":
            return _binary("+", left, _scaled(right, -1))
        case "*":
            return _times(left, right)
        case "min":
            return _least(left, right)
        case "max":
            return _scaled(_least(_scaled(left, -1), _scaled(right, -1)), -1)
        case "//" | "%":
            by = _constant(right)
            if by is None or by <= 0:
                return None
            if op == "%":
                return (_between(0, by - 1),)
            return tuple(
                Limits(*(tuple(form.floordiv(by) for form in side) for side in (each.lows, each.highs)))
                for each in left
            )
        case "<<" | ">>" if (power := power_of(_constant(right))) is not None:
            return _binary("*" if op == "<<" else "//", left, (_between(power, power),))
        case _ if op in BITS:
            found = bit_range(op, _hull(left), _hull(right))
            return None if found is None else (_between(*found),)
        case _:
            return None


def _sum(one: Limits, other: Limits) -> Limits:
    lows = tuple(a + b for a, b in product(one.lows, other.lows))
    return _plain(lows, tuple(a + b for a, b in product(one.highs, other.highs)))


def _lesser(one: Limits, other: Limits) -> Ranges:
    """The smaller of two is the first one, and no more than the other, or the other way round."""
    highs = (*one.highs, *other.highs)
    return (_plain(one.lows, highs), _plain(other.lows, highs))


def _least(left: Ranges, right: Ranges) -> Ranges:
    """The smaller of two; of too many alternatives only what all of a side say."""
    for sides in ((left, right), ((_common(left),), (_common(right),))):
        found = _few([each for one, other in product(*sides) for each in _lesser(one, other)])
        if found is not None:
            return found
    return (Limits(),)


def _common(ranges: Ranges) -> Limits:
    """Limits that hold in each of some alternatives."""
    lows, highs = _shared([each.lows for each in ranges], min), _shared([each.highs for each in ranges], max)
    return Limits(lows, highs)


def _shared(sides: list[tuple[Affine, ...]], worst: Callable[[list[int]], int]) -> tuple[Affine, ...]:
    constants = [form.const for side in sides for form in side if form.is_constant]
    everywhere = [form for form in sides[0] if all(form in side for side in sides) and not form.is_constant]
    return (*([Affine((), worst(constants))] if len(constants) == len(sides) else []), *everywhere)


def _scaled(ranges: Ranges, factor: int) -> Ranges:
    def scaled(each: Limits) -> Limits:
        lows, highs = (tuple(form.scale(factor) for form in side) for side in (each.lows, each.highs))
        return Limits(lows, highs) if factor >= 0 else Limits(highs, lows)

    return tuple(map(scaled, ranges))


def _times(left: Ranges, right: Ranges) -> Ranges | None:
    for side, rest in ((left, right), (right, left)):
        factor = _constant(side)
        if factor is not None:
            return _scaled(rest, factor)
    one, other = _hull(left), _hull(right)
    if one is None or other is None:
        return None
    corners = [a * b for a, b in product(one, other)]
    return (_between(min(corners), max(corners)),)


def _called(function: str, of: Ranges) -> Ranges | None:
    if function == "sign":
        return (_between(-1, 1),)
    if function != "abs":
        return of
    hull = _hull(of)
    if hull is None:
        return None
    low, high = hull
    return (_between(0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high))),)


def _plain(lows: tuple[Affine, ...], highs: tuple[Affine, ...]) -> Limits:
    """Limits without the constants that others imply."""
    return Limits(_tightest(lows, max), _tightest(highs, min))


def _tightest(forms: tuple[Affine, ...], best: Callable[[list[int]], int]) -> tuple[Affine, ...]:
    constants = [form.const for form in forms if form.is_constant]
    others = dict.fromkeys(form for form in forms if not form.is_constant)
    if others:  # sizes are far from the ends of 64 bits
        constants = [each for each in constants if abs(each) < 1 << _EXACT_BITS]
    return (*([Affine((), best(constants))] if constants else []), *others)


def _few(alternatives: Ranges | list[Limits]) -> Ranges | None:
    """The alternatives that are possible, without those that others include; None for too many."""
    kept: list[Limits] = []
    for each in dict.fromkeys(alternatives):
        if not _is_empty(each) and not any(_includes(other, each) for other in kept):
            kept = [*(other for other in kept if not _includes(each, other)), each]
    return tuple(kept) if 0 < len(kept) <= MOST else None


def _is_empty(limits: Limits) -> bool:
    low, high = _first_constant(limits.lows), _first_constant(limits.highs)
    return low is not None and high is not None and low > high


def _includes(outer: Limits, inner: Limits) -> bool:
    """Whether each limit of the outer one is a limit of the inner one, or weaker than its constant one."""
    low, high = _first_constant(inner.lows), _first_constant(inner.highs)
    return all(
        form in inner.lows or (form.is_constant and low is not None and form.const <= low)
        for form in outer.lows
    ) and all(
        form in inner.highs or (form.is_constant and high is not None and form.const >= high)
        for form in outer.highs
    )


def _first_constant(forms: tuple[Affine, ...]) -> int | None:
    return next((form.const for form in forms if form.is_constant), None)


def _constant(ranges: Ranges) -> int | None:
    hull = _hull(ranges)
    return hull[0] if hull is not None and hull[0] == hull[1] else None


def _hull(ranges: Ranges) -> tuple[int, int] | None:
    """The smallest and the largest value, where these are numbers."""
    lows = [low for each in ranges if (low := _first_constant(each.lows)) is not None]
    highs = [high for each in ranges if (high := _first_constant(each.highs)) is not None]
    return (min(lows), max(highs)) if ranges and len(lows) == len(highs) == len(ranges) else None


def _fits(ranges: Ranges, dtype: ScalarType) -> bool:
    """Whether all values are ones of a type; sizes are known to fit 64 bits with room to calculate."""
    hull = _hull(ranges)
    if hull is None:
        bounded = all(each.lows and each.highs for each in ranges)
        return bounded and (dtype.weak or dtype == Long)
    if dtype.weak or dtype == Long:
        return max(map(abs, hull)) < 1 << _EXACT_BITS
    info = _hull(of_type(dtype))
    return info is not None and info[0] <= hull[0] and hull[1] <= info[1]
