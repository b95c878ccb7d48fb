"""Expressions: a closed union of frozen nodes, each knowing its element type."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, LangError, Location, caller_location
from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.exproperators import ExprOperators
from polymat.lang.names import check_name
from polymat.lang.types import (
    STORED,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Bool,
    Float,
    ScalarType,
    call_type,
    check_type,
    computed_with,
    floating,
    index_type,
    promote,
    quotient_type,
    scalar_type,
    type_of_dtype,
)

if TYPE_CHECKING:
    from polymat.lang.condition import Condition


class Expr(ExprOperators):
    """Base of the expression nodes; arithmetic follows NumPy's rules, Python literals are weak."""

    __slots__ = ()
    dtype: ScalarType


@dataclass(frozen=True, slots=True, repr=False)
class Const(Expr):
    """A literal; `dtype` is weak when it was a Python number."""

    value: int | float | complex
    dtype: ScalarType


class Parameter(Expr):
    """A size (an integer that domains may depend on) or a run-time scalar.

    declared: the type that a call accepts; in expressions integers count as Python's do in NumPy 2: beside
    floating-point values they take their type, beside integers they are Long.
    values: of an integer the least and the largest, `values=(0, N - 1)`: what may be an index of N elements.
    Each call checks them.
    """

    __slots__ = ("at", "declared", "dtype", "limits", "name")
    declared: ScalarType
    limits: tuple[Condition, ...]
    name: str
    at: Location | None

    def __init__(self, dtype: ScalarType, name: str, *, values: Any = None) -> None:
        self.at = caller_location()
        self.declared = check_type(dtype, "a Parameter", self.at)
        if self.declared == Bool:
            raise DtypeError("a Parameter is a number, got Bool", at=self.at, hint="Int, 0 or 1")
        if self.declared in STORED:
            raise DtypeError(
                f"a Parameter is computed with, and {self.declared} is for arrays", at=self.at, hint="Float"
            )
        self.dtype = scalar_type(self.declared)
        self.name = check_name(name, "Parameter", self.at)
        self.limits = () if values is None else later.limits(self, values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (other.name, other.declared) == (self.name, self.declared)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.declared}, {self.name!r})"

    def __str__(self) -> str:
        return self.name


class Variable(Expr):
    """An index of a domain; in expressions it counts as Long, as NumPy's `arange` does."""

    __slots__ = ("at", "declared", "dtype", "name")
    declared: ScalarType
    name: str
    at: Location | None

    def __init__(self, dtype: ScalarType, name: str) -> None:
        self.at = caller_location()
        self.declared = check_type(dtype, "a Variable", self.at)
        self.dtype = index_type(self.declared)
        if dtype.kind not in "iu":
            raise DtypeError(f"a Variable is an integer, got {dtype}", at=self.at)
        self.name = check_name(name, "Variable", self.at)

    __eq__ = Parameter.__eq__
    __hash__ = Parameter.__hash__
    __repr__ = Parameter.__repr__
    __str__ = Parameter.__str__


@dataclass(frozen=True, slots=True, repr=False)
class Load(Expr):
    """The value of a function or input at affine indices."""

    source: Any
    indices: tuple[Affine, ...]
    dtype: ScalarType
    at: Location | None = field(default=None, compare=False, repr=False)
    sizes: tuple[Parameter, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class Unary(Expr):
    """Negation."""

    op: str
    operand: Expr
    dtype: ScalarType


@dataclass(frozen=True, slots=True, repr=False)
class Binary(Expr):
    """`op` is one of + - * / // % ** & | ^ << >> min max atan2 hypot."""

    op: str
    left: Expr
    right: Expr
    dtype: ScalarType


@dataclass(frozen=True, slots=True, repr=False)
class Call(Expr):
    """A mathematical function of one argument, by its C name without suffix."""

    function: str
    operand: Expr
    dtype: ScalarType


@dataclass(frozen=True, slots=True, repr=False)
class SelectExpr(Expr):
    """`then` where the condition holds, else `otherwise`; only the chosen one is read."""

    condition: Condition
    then: Expr
    otherwise: Expr
    dtype: ScalarType


@dataclass(frozen=True, slots=True, repr=False)
class CastExpr(Expr):
    """Explicit conversion, with C's rules."""

    operand: Expr
    dtype: ScalarType


def as_computed(value: Expr) -> Expr:
    """A value to compute with: one of sixteen bits in single precision."""
    return CastExpr(value, Float) if value.dtype in STORED else value


def as_stored(value: Expr, dtype: ScalarType) -> Expr:
    """A value rounded to sixteen bits, from single precision."""
    return CastExpr(value if value.dtype == Float else CastExpr(value, Float), dtype)


_ARRAY_HINT = "declare an input for the array: Vector, Matrix or Image"


def _numpy_literal(value: np.number[Any], at: Location | None) -> Const:
    try:
        return Const(value.item(), computed_with(type_of_dtype(value.dtype)))
    except DtypeError as error:
        raise error.at(at or caller_location()) from None


def as_expr(value: Any, at: Location | None = None) -> Expr:
    """Turn a Python or NumPy number into an expression; expressions pass."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, np.number):
        return _numpy_literal(value, at)
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise DtypeError(f"the integer {value} does not fit 64 bits", at=at or caller_location())
        return Const(value, WEAK_INT)
    if isinstance(value, float):
        return Const(value, WEAK_FLOAT)
    if isinstance(value, complex):
        return Const(value, WEAK_COMPLEX)
    if isinstance(value, Affine):
        return later.extent_expression(value)
    label, rank = getattr(value, "label", None), getattr(value, "rank", None)
    if isinstance(label, str) and isinstance(rank, int):
        raise LangError(
            f"{label} stands in an expression without indices",
            at=at or caller_location(),
            hint=f"index it: {label}({', '.join('ijklmnop'[:rank])})",
        )
    text = f"{value!r:.40}".partition("\n")[0]
    raise LangError(
        f"expected a number or an expression, got {type(value).__name__} {text}",
        at=at or caller_location(),
        hint=_ARRAY_HINT if isinstance(value, np.ndarray) else getattr(value, "belongs", ""),
    )


@later.value_of_sizes.given
def value_of_sizes(op: str, left: Any, right: Any) -> Any:
    """An extent with a number, an expression or another extent, combined; nothing with anything else."""
    sides = (left, right)
    if any(isinstance(side, bool) for side in sides):
        return NotImplemented
    known = all(isinstance(side, Expr | Affine | np.number | int | float | complex) for side in sides)
    return binary(op, *sides) if known else NotImplemented


def fits(expr: Expr, dtype: ScalarType) -> bool:
    """Say whether an integer literal is a value of an integer type (anything else is not our business)."""
    if isinstance(expr, Const) and expr.dtype == WEAK_INT and dtype.kind in "iu":
        info = np.iinfo(dtype.dtype)
        return int(info.min) <= int(expr.value.real) <= int(info.max)
    return True


ANGLES = ("atan2", "hypot")  # the functions of two coordinates
BITS = ("&", "|", "^", "<<", ">>")  # of integers alone


@later.binary.given
def binary(op: str, left: Any, right: Any) -> Expr:
    """Build a binary operation and find its type by NumPy's rules."""
    left, right = as_expr(left), as_expr(right)
    dtype = quotient_type(left.dtype, right.dtype) if op == "/" else promote(left.dtype, right.dtype)
    if op in ANGLES:
        dtype = floating(dtype)
    if dtype == Bool:
        op = {"+": "max", "*": "min"}.get(op, op)  # or, and
    if dtype == Bool and op not in ("min", "max"):
        raise DtypeError(
            f"{op} is not defined for two Bool values",
            at=caller_location(),
            hint="Cast(Int, b) counts; conditions are combined with & and |",
        )
    if dtype.kind == "c" and op in ("//", "%", "min", "max", *ANGLES):
        raise DtypeError(f"{op} is not defined for complex values", at=caller_location())
    if op in BITS and dtype.kind not in "iu":
        text = f"{left} {op} {right}"
        integers = all(side.dtype.kind in "iu" for side in (left, right))
        raise _no_integer(text, left, right) if integers else later.no_bits(op, text)
    if not dtype.weak:
        for side in (left, right):
            if not fits(side, dtype):
                raise DtypeError(f"the integer {side.value} does not fit {dtype}", at=caller_location())
    return Binary(op, left, right, dtype)


def _no_integer(text: str, left: Expr, right: Expr) -> DtypeError:
    """The error that NumPy's rules make no integer of two integers of 64 bits, one of them unsigned."""
    return DtypeError(
        f"{text}: {left.dtype} and {right.dtype} make a Double, which has no bits",
        at=caller_location(),
        hint="let both have one type: Cast(Long, x), or Cast(UInt64, x), of one of them",
    )


@later.negative.given
def negative(operand: Expr) -> Expr:
    """The negative of a value."""
    return Unary("-", operand, operand.dtype)


@later.call.given
def call(function: str, operand: Any) -> Expr:
    """Build a mathematical function call."""
    operand = as_expr(operand)
    dtype = call_type(function, operand.dtype)
    if dtype is None:
        kind = "Bool" if operand.dtype == Bool else "complex"
        raise DtypeError(f"{function} is not defined for {kind} values", at=caller_location())
    return Call(function, operand, dtype)
