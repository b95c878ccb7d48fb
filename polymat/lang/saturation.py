"""Conversions to integers in which what is beyond a type becomes its least or largest value."""

from __future__ import annotations

import numpy as np

from polymat.errors import DtypeError, Location
from polymat.lang import later
from polymat.lang.condition import Condition
from polymat.lang.expr import CastExpr, Const, Expr, SelectExpr, binary
from polymat.lang.types import Double, Long, ScalarType

_HALF = 32  # bits of the integers whose ends a Double has exactly


@later.saturated.given
def saturated(operand: Expr, dtype: ScalarType, at: Location | None) -> Expr:
    """The value of a number of any real type in an integer type: rounded towards zero, between its ends.

    NaN becomes 0.  Raises `DtypeError` for a type that has no such ends.
    """
    if dtype.kind not in "iu":
        raise DtypeError(
            f"saturate=True goes to an integer type, got {dtype}", at=at, hint="Clamp(x, low, high), say"
        )
    value = _real(operand, dtype) if operand.dtype.kind == "f" else _integer(operand, dtype)
    return value if value.dtype == dtype else CastExpr(value, dtype)


def _ends(dtype: ScalarType) -> tuple[int, int]:
    info = np.iinfo(Long.dtype if dtype.weak else dtype.dtype)
    return int(info.min), int(info.max)


def _integer(operand: Expr, dtype: ScalarType) -> Expr:
    if operand.dtype.kind == "b":
        return operand
    low, high = _ends(dtype)
    least, most = _ends(operand.dtype)
    if least < low:
        operand = binary("max", operand, Const(low, operand.dtype))
    return binary("min", operand, Const(high, operand.dtype)) if high < most else operand


def _real(operand: Expr, dtype: ScalarType) -> Expr:
    low, high = _ends(dtype)
    bits = 8 * dtype.size
    if bits >= _HALF:  # whose ends a Float has not
        operand = CastExpr(operand, Double)
    number = operand.dtype
    known = SelectExpr(Condition(operand, "==", operand), operand, Const(0.0, number), number)
    bounded = binary("max", known, Const(float(low), number))
    if bits <= _HALF:
        return binary("min", bounded, Const(float(high), number))
    past = Condition(bounded, ">=", Const(float(high), number))  # float(high) is one more than high
    return SelectExpr(past, Const(high, dtype), CastExpr(bounded, dtype), dtype)
