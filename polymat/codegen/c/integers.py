"""Integers whose operators in C differ from the language's, or have quicker ones."""

from __future__ import annotations

from polymat.codegen.c.ctree import Cast, CBinary, CExpr, CUnary, Literal
from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, Const, Expr
from polymat.lang.types import Int, Long, UInt64

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def power_of_two(expr: Expr) -> int:
    """Of which positive power of two an expression is the constant; 0 where of none."""
    value = expr.value if isinstance(expr, Const) else 0
    if not isinstance(value, int) or value < 2 or value & (value - 1):
        return 0
    return value.bit_length() - 1


def unlike(condition: Condition, left: CExpr, right: CExpr) -> CExpr:
    """Compare an unsigned integer of 64 bits with a signed one as they are: C would make both unsigned."""
    op = condition.op
    if condition.left.dtype == UInt64:
        left, right, op = right, left, _MIRRORED[op]
    signed = Cast(Long.c, left)
    as_unsigned = CBinary(op, Cast(UInt64.c, signed), right)
    negative = CBinary("<", signed, Literal("0"))
    if op in ("<", "<=", "!="):
        return CBinary("||", negative, as_unsigned)
    return CBinary("&&", CUnary("!", negative), as_unsigned)


def is_divided_in_lanes(expr: Binary) -> bool:
    """Whether integers are divided in vectors: by constants compilers multiply and shift."""
    return expr.dtype.kind in "iu" and expr.dtype.size <= Int.size and not isinstance(expr.right, Const)
