"""The language's constructors of choices and conversions, named as in PolyMage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from polymat.errors import DtypeError, LangError, Location, caller_location
from polymat.lang import later
from polymat.lang.condition import Condition
from polymat.lang.expr import CastExpr, Const, Expr, SelectExpr, as_expr, as_stored
from polymat.lang.exproperators import is_whole
from polymat.lang.types import STORED, Bool, Float, ScalarType, check_type, promote

if TYPE_CHECKING:
    from polymat.lang.algebra import Result
    from polymat.lang.function import Source
    from polymat.lang.whole import Mask


def as_condition(condition: object, construct: str, at: Location | None) -> Condition:
    """A condition, also of a Bool value; `i == 0` has become a truth value by the time it is seen."""
    if isinstance(condition, Condition):
        return condition
    if isinstance(condition, Expr) and condition.dtype == Bool:
        return Condition(condition, "!=", 0)
    raise LangError(
        f"{construct} needs a Condition, got {type(condition).__name__}",
        at=at,
        hint='Condition(i, "==", 0), say',
    )


def truth(condition: Condition) -> Expr:
    """The Bool value of a condition."""
    return SelectExpr(condition, Const(1, Bool), Const(0, Bool), Bool)


@overload
def Select(condition: Mask | Source, then: Any, otherwise: Any) -> Result: ...
@overload
def Select(condition: Condition | Expr, then: Source, otherwise: Any) -> Result: ...
@overload
def Select(condition: Condition | Expr, then: Any, otherwise: Source) -> Result: ...
@overload
def Select(condition: Condition | Expr, then: Any, otherwise: Any) -> Expr: ...
def Select(condition: Any, then: Any, otherwise: Any) -> Any:  # noqa: N802 (PolyMage's name)
    """`then` where the condition holds, else `otherwise`; the condition may compare any values.

    Of whole arrays, and of a comparison of them, the array that takes each element from one or the other.
    """
    at = caller_location()
    if any(map(is_whole, (condition, then, otherwise))):
        return later.where(condition, then, otherwise)
    condition = as_condition(condition, "Select", at)
    then, otherwise = as_expr(then, at), as_expr(otherwise, at)
    return SelectExpr(condition, then, otherwise, promote(then.dtype, otherwise.dtype))


@overload
def Cast(dtype: ScalarType, operand: Source, *, saturate: bool = False) -> Result: ...
@overload
def Cast(dtype: ScalarType, operand: Any, *, saturate: bool = False) -> Expr: ...
def Cast(dtype: ScalarType, operand: Any, *, saturate: bool = False) -> Any:  # noqa: N802 (PolyMage's name)
    """Convert a value, or each element of an array, to another element type, with C's rules.

    To Bool: whether it is not zero; a condition is one, too.  To Half or BFloat16: rounded to that, and a
    Float again.
    saturate: of what is beyond an integer type take its least or largest value, of NaN 0.  Without it a
    floating-point value that is beyond one, a negative number for an unsigned type say, gives what the
    processor happens to make of it; through `Long` it is cut to the bits that the type has.
    """
    at = caller_location()
    check_type(dtype, "Cast", at)
    if not isinstance(saturate, bool):
        raise LangError(f"Cast: saturate is True or False, got {saturate!r:.40}", at=at)
    if is_whole(operand):
        return later.converted(operand, dtype, saturate)
    operand = truth(operand) if isinstance(operand, Condition) else as_expr(operand, at)
    if operand.dtype.kind == "c" and dtype.kind != "c":
        raise DtypeError(f"a complex value cannot be cast to {dtype}", at=at, hint="Real(x) or Abs(x)")
    if dtype in STORED:
        return CastExpr(as_stored(operand, dtype), Float)
    return later.saturated(operand, dtype, at) if saturate else CastExpr(operand, dtype)
