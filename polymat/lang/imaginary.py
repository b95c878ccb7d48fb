"""Complex expressions without a real part."""

from __future__ import annotations

from polymat.lang.expr import Binary, Const, Expr, Unary, binary
from polymat.lang.types import WEAK_FLOAT, real_part


def imaginary_part(expr: Expr) -> Expr | None:
    """The real expression that times 1j is an expression, as x * 2 of 2j * x; None where that is none."""
    match expr:
        case Const(value) if expr.dtype.kind == "c" and value.real == 0:
            return Const(value.imag, WEAK_FLOAT if expr.dtype.weak else real_part(expr.dtype))
        case Unary():
            part = imaginary_part(expr.operand)
            return None if part is None else Unary(expr.op, part, part.dtype)
        case Binary("*" | "/", left, right) if right.dtype.kind != "c":
            part = imaginary_part(left)
            return None if part is None else binary(expr.op, part, right)
        case Binary("*", left, right) if left.dtype.kind != "c":
            part = imaginary_part(right)
            return None if part is None else binary("*", left, part)
    return None
