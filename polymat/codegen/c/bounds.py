"""Bounds of floating-point values that become integers, as pixels do: `Cast(UChar, Clamp(e, 0, 255))`.

gcc makes of `(uint8_t)(e < 255 ? e : 255)` a conversion in each branch, and chooses among bytes by masks that
it packs from comparisons of floats, which takes up to twice the time.  It does not where
it cannot see the bound.  So each bound is a local of the function, given by a function that gcc does not look
into.

So are bounds of what an angle is computed from, `Atan(Min(e, 0.5))`: its code takes a side by its argument,
and gcc sends arguments that are the bound another way, before it looks for vectors and finds none.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CUnary,
    Declare,
    Id,
    Literal,
    Ternary,
    expressions,
)
from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.c.needs import Helper, Need
from polymat.codegen.c.othernames import substituted
from polymat.lang.types import Long, ScalarType

_SUFFIXES = ("f32", "f64")
_HIDDEN = {f"_pm_hidden_{suffix}": C_TYPES[suffix] for suffix in _SUFFIXES}
_CLAMPS = {
    f"_pm_{clamp}_{suffix}": (bounding, suffix)
    for clamp, bounding in (("min", "atmost"), ("max", "atleast"))
    for suffix in _SUFFIXES
}
# Functions whose code takes a side; of others gcc finds vectors, in a register less where it sees bounds.
SIDED = frozenset(("acos", "asin", "asinh", "atan", "atan2"))
_ROUNDINGS = frozenset(f"__builtin_{name}{tail}" for name in ("rint", "floor", "ceil") for tail in ("", "f"))


def bounded(value: CExpr, needs: set[Need]) -> CExpr:
    """A floating-point value that is converted to an integer next, its bounds for `named_bounds` to name."""
    if not isinstance(value, CCall):
        return value
    if value.function in _ROUNDINGS:
        return replace(value, arguments=(bounded(value.arguments[0], needs),))
    if value.function not in _CLAMPS:
        return value
    operand, bound = sorted(value.arguments, key=_is_number)
    if _is_number(operand) or not _is_number(bound):
        return value
    bounding, suffix = _CLAMPS[value.function]
    known = _where_known(operand) if bounding == "atleast" and _is_zero(bound) else None
    if known is not None:
        operand, bounding = known, "above"
    beside, hides = Helper(bounding, suffix), Helper("hidden", suffix)
    needs.update((beside, hides))
    return CCall(beside.function, (bounded(operand, needs), CCall(hides.function, (bound,))))


def apart(value: CExpr, target: ScalarType) -> CExpr:
    """A floating-point value that is converted to an integer next: not one function with that conversion.

    before:  (int64_t)__builtin_floor(x[i]), which gcc computes element by element
    after:   (int64_t)(__builtin_floor(x[i]) + 0.0), in vectors where processors convert such
    """
    if target == Long and isinstance(value, CCall) and value.function in _ROUNDINGS:
        return CBinary("+", value, Literal("0.0f" if value.function.endswith("f") else "0.0"))
    return value


def unseen(value: CExpr, needs: set[Need]) -> CExpr:
    """An argument whose function takes a side, its bounds for `named_bounds` to name: no other number."""
    match value:
        case CBinary(_, left, right):
            return replace(value, left=unseen(left, needs), right=unseen(right, needs))
        case CUnary() | Cast():
            return replace(value, operand=unseen(value.operand, needs))
        case CCall(name, arguments) if name in _CLAMPS and sum(map(_is_number, arguments)) == 1:
            hides = Helper("hidden", _CLAMPS[name][1])
            needs.add(hides)
            return CCall(
                name,
                tuple(
                    CCall(hides.function, (each,)) if _is_number(each) else unseen(each, needs)
                    for each in arguments
                ),
            )
    return value


def named_bounds(functions: Iterable[CFunction], needs: Set[Need]) -> list[CFunction]:
    """Functions that begin with the bounds that they use."""
    if needs.isdisjoint(Helper("hidden", suffix) for suffix in _SUFFIXES):
        return list(functions)
    return [_named(function) for function in functions]


def _named(function: CFunction) -> CFunction:
    calls = dict.fromkeys(
        found
        for found in expressions(function.body)
        if isinstance(found, CCall) and found.function in _HIDDEN
    )
    names: dict[CExpr, CExpr] = {call: Id(f"_pm_bound{number}") for number, call in enumerate(calls)}
    declared = [
        Declare(f"const {_HIDDEN[call.function]}", f"_pm_bound{number}", call)
        for number, call in enumerate(calls)
    ]
    return replace(function, body=(*declared, *substituted(function.body, names))) if calls else function


def _where_known(value: CExpr) -> CExpr | None:
    """Of a value with 0 in place of NaN, `x == x ? x : 0.0`, the value."""
    match value:
        case Ternary(CBinary("==", left, right), chosen, other) if left == right == chosen and _is_zero(
            other
        ):
            return chosen
    return None


def _is_zero(value: CExpr) -> bool:
    return isinstance(value, Literal) and value.text in ("0.0", "0.0f")


def _is_number(value: CExpr) -> bool:
    if isinstance(value, CUnary):
        return _is_number(value.operand)
    return isinstance(value, Literal) and value.text.removeprefix("-")[0].isdigit()
