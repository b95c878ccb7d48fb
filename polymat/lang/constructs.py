"""The language's constructors of choices and conversions, named as in PolyMage."""

from __future__ import annotations

from typing import Any

from polymat.errors import DtypeError, LangError, Location, caller_location
from polymat.lang.condition import Condition
from polymat.lang.expr import CastExpr, Expr, SelectExpr, as_expr
from polymat.lang.types import ScalarType, check_type, promote


def check_condition(condition: object, construct: str, at: Location | None) -> None:
    """Refuse anything but a Condition; `i == 0` has become a truth value by the time it is seen."""
    if not isinstance(condition, Condition):
        raise LangError(
            f"{construct} needs a Condition, got {type(condition).__name__}",
            at=at,
            hint='Condition(i, "==", 0), say',
        )


def Select(condition: Condition, then: Any, otherwise: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """`then` where the condition holds, else `otherwise`; the condition may compare any values."""
    at = caller_location()
    check_condition(condition, "Select", at)
    then, otherwise = as_expr(then, at), as_expr(otherwise, at)
    return SelectExpr(condition, then, otherwise, promote(then.dtype, otherwise.dtype))


def Cast(dtype: ScalarType, operand: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Convert a value to another element type, with C's rules."""
    at = caller_location()
    check_type(dtype, "Cast", at)
    operand = as_expr(operand, at)
    if operand.dtype.kind == "c" and dtype.kind != "c":
        raise DtypeError(f"a complex value cannot be cast to {dtype}", at=at, hint="Real(x) or Abs(x)")
    return CastExpr(operand, dtype)
