"""Operators between expressions and numbers, and what expressions refuse: they have no value yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from polymat.errors import DtypeError, LangError, caller_location
from polymat.lang import later
from polymat.lang.logical import Logical
from polymat.lang.types import Bool, ScalarType
from polymat.lang.ufuncs import apply_ufunc, refuse_function

if TYPE_CHECKING:
    from polymat.lang.expr import Expr

    Operand: TypeAlias = "Expr | int | float | complex"


def is_whole(value: object) -> bool:
    """Say whether `value` is an array as a whole, whose own operators decide."""
    return hasattr(value, "algebra")


class ExprOperators(Logical):
    """The operators of expressions by NumPy's rules; comparisons and conversions are refused."""

    __slots__ = ()
    dtype: ScalarType

    # NumPy asks these before it takes an operand for an array of objects.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
        return apply_ufunc(self, ufunc, method, inputs, str)

    def __array_function__(self, function: Any, types: Any, arguments: Any, _: Any) -> Any:
        return refuse_function(function, types, arguments)

    def __add__(self, other: Operand) -> Any:
        return NotImplemented if is_whole(other) else later.binary("+", self, other)

    def __radd__(self, other: Operand) -> Expr:
        return later.binary("+", other, self)

    def __sub__(self, other: Operand) -> Any:
        return NotImplemented if is_whole(other) else later.binary("-", self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return later.binary("-", other, self)

    def __mul__(self, other: Operand) -> Any:
        return NotImplemented if is_whole(other) else later.binary("*", self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return later.binary("*", other, self)

    def __truediv__(self, other: Operand) -> Any:
        return NotImplemented if is_whole(other) else later.binary("/", self, other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return later.binary("/", other, self)

    def __floordiv__(self, other: Operand) -> Any:
        return NotImplemented if is_whole(other) else later.binary("//", self, other)

    def __rfloordiv__(self, other: Operand) -> Expr:
        return later.binary("//", other, self)

    def __mod__(self, other: Operand) -> Any:
        return NotImplemented if is_whole(other) else later.binary("%", self, other)

    def __rmod__(self, other: Operand) -> Expr:
        return later.binary("%", other, self)

    def __pow__(self, other: Operand) -> Any:
        return NotImplemented if is_whole(other) else later.binary("**", self, other)

    def __rpow__(self, other: Operand) -> Expr:
        return later.binary("**", other, self)

    def __neg__(self) -> Expr:
        if self.dtype == Bool:
            raise DtypeError(
                "- is not defined for a Bool value", at=caller_location(), hint="~ is, for conditions"
            )
        return later.negative(self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Expr:
        return later.call("abs", self)

    def __bool__(self) -> bool:
        raise LangError(
            "an expression has no truth value while the pipeline is being described",
            at=caller_location(),
            hint='use Condition(i, "<", N) in a Case or a Select',
        )

    def __float__(self) -> float:
        raise _no_value("float")

    def __int__(self) -> int:
        raise _no_value("int")

    def __complex__(self) -> complex:
        raise _no_value("complex")

    def __index__(self) -> int:
        raise DtypeError(
            "an expression is no integer of Python's while the pipeline is being described",
            at=caller_location(),
            hint="Interval(Int, 0, N - 1) says what an index runs over; range() and lists take numbers",
        )

    def __round__(self, digits: int | None = None) -> Any:
        raise _no_value("round")

    def __lt__(self, other: object) -> Any:
        if is_whole(other):
            return NotImplemented
        raise _comparison("<")

    def __le__(self, other: object) -> Any:
        if is_whole(other):
            return NotImplemented
        raise _comparison("<=")

    def __gt__(self, other: object) -> Any:
        if is_whole(other):
            return NotImplemented
        raise _comparison(">")

    def __ge__(self, other: object) -> Any:
        if is_whole(other):
            return NotImplemented
        raise _comparison(">=")


def _no_value(function: str) -> LangError:
    return LangError(
        f"an expression has no value while the pipeline is being described: {function} cannot convert it",
        at=caller_location(),
        hint="polymat's own functions take expressions: Sin(x), Sqrt(x), Cast(Int, x)",
    )


def _comparison(op: str) -> LangError:
    return LangError(
        f"expressions are not compared with {op}",
        at=caller_location(),
        hint=f'Condition(a, "{op}", b); Min(a, b) and Max(a, b) for the smaller and the larger of two',
    )
