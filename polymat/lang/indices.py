"""From an index expression to an affine form."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat.errors import Location, NotAffineError
from polymat.lang.affine import Affine
from polymat.lang.bitranges import power_of
from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Load, Parameter, Unary, Variable, as_expr
from polymat.lang.expressiontext import expr_text
from polymat.lang.traverse import condition_operands, fold
from polymat.lang.types import ScalarType

LIMIT = 2**62
_WIDE = 4  # bytes of a type with a sign in which indices do not come round
_HINT = (
    "indices, bounds and case conditions are sums of integer multiples of variables and sizes, "
    "// and % by constants"
)
_BORDERS = 'pad(x, 2, "edge") has a border around it, and indices need no bounds; or a Case for each border'
_CUT = "the index itself, {0}, or its bits, ({0}) % 256 say"
_COUNTED = "compare it with every k: a sum of Select(Condition({}, '==', k), value, 0)"


def as_affine(value: Any, at: Location | None) -> Affine:
    """Read an affine form, or raise `NotAffineError` naming the part that is not."""
    if isinstance(value, Affine):
        return value
    return fold(as_expr(value, at), lambda node, parts: _small(_affine(node, parts, at), at))


def _small(form: Affine, at: Location | None) -> Affine:
    for number in (form.const, *(coefficient for _, coefficient in form.terms)):
        if abs(number) >= LIMIT:
            raise NotAffineError(
                f"not affine: {number} in {form} is too large to compute with",
                at=at,
                hint="integers below 2**62",
            )
    return form


def _affine(expr: Expr, parts: tuple[Affine, ...], at: Location | None) -> Affine:
    match expr:
        case Const(value) if expr.dtype.kind in "iu":
            return Affine((), int(value.real))
        case Parameter() | Variable() if expr.dtype.kind in "iu":
            return Affine.name(expr.name)
        case Const(value):
            raise NotAffineError(f"not affine: {value!r} is not an integer", at=at, hint=_HINT)
        case Parameter(name=name, dtype=dtype):
            raise NotAffineError(
                f"not affine: the parameter {name} is a {dtype}, not an integer",
                at=at,
                hint=f'Parameter(Int, "{name}") where it is a size',
            )
        case Unary("-"):
            return -parts[0]
        case CastExpr(operand, dtype) if dtype.kind in "iu" and operand.dtype.kind in "iu":
            if (dtype.size < _WIDE or dtype.kind == "u") and not _holds(dtype, parts[0]):
                raise NotAffineError(
                    f"not affine: {expr_text(expr)}", at=at, hint=_CUT.format(expr_text(operand))
                )
            return parts[0]
        case Binary("+"):
            return parts[0] + parts[1]
        case Binary("-"):
            return parts[0] - parts[1]
        case Binary("*" | "//" | "%"):
            return _scaled(expr, expr.op, parts[0], parts[1], at)
        case Binary("<<" | ">>") if parts[1].is_constant and (power := power_of(parts[1].const)):
            return _scaled(expr, "*" if expr.op == "<<" else "//", parts[0], Affine((), power), at)
        case Binary("&") if parts[1].is_constant and _is_mask(parts[1].const):
            return _scaled(expr, "%", parts[0], parts[1] + 1, at)
        case Binary("&") if parts[0].is_constant and _is_mask(parts[0].const):
            return _scaled(expr, "%", parts[1], parts[0] + 1, at)
        case _:
            raise NotAffineError(f"not affine: {expr_text(expr)}", at=at, hint=_instead_of(expr))


def _instead_of(expr: Expr) -> str:
    """What a user who wrote that as an index may write."""
    match expr:
        case Binary("min" | "max"):
            return _BORDERS
        case Load() if expr.indices and expr.dtype.kind in "iu":
            return _COUNTED.format(expr_text(expr))
    return _HINT


def _holds(dtype: ScalarType, form: Affine) -> bool:
    """Whether a type of a few bits, or without a sign, has room for a form at all sizes."""
    info = np.iinfo(dtype.dtype)
    return form.is_constant and int(info.min) <= form.const <= int(info.max)


def _is_mask(number: int) -> bool:
    """Whether a number is one less than a power of two, so that its bits are those of a remainder."""
    return number >= 0 and number & (number + 1) == 0


def _scaled(expr: Binary, op: str, left: Affine, right: Affine, at: Location | None) -> Affine:
    if op == "*" and left.is_constant:
        return right.scale(left.const)
    if op == "*" and right.is_constant:
        return left.scale(right.const)
    if op != "*" and right.is_constant and right.const > 0:
        quotient = left.floordiv(right.const)
        return quotient if op == "//" else left - quotient.scale(right.const)
    raise NotAffineError(f"not affine: {expr_text(expr)}", at=at, hint=_HINT)


def affine_form(value: Expr) -> Affine | None:
    """An expression as an affine form; None when it is none."""
    try:
        return as_affine(value, None)
    except NotAffineError:
        return None


def affine_names(condition: Condition) -> set[str] | None:
    """The names in a condition between affine forms; None when it compares anything else."""
    try:
        return {n for operand in condition_operands(condition) for n in as_affine(operand, None).names()}
    except NotAffineError:
        return None


def index_variable(name: str, dtype: ScalarType, at: Location | None = None) -> Variable:
    """A variable that polymat makes: its name may be one that is kept from users."""
    variable = Variable.__new__(Variable)
    variable.name, variable.declared, variable.dtype, variable.at = name, dtype, dtype, at
    return variable
