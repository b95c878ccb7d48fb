"""Integers whose operators in C differ from the language's, or have quicker ones."""

from __future__ import annotations

from polymat.codegen.c.ctree import Cast, CBinary, CExpr, CUnary, Literal
from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Load
from polymat.lang.traverse import children
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
    """Whether integers are divided in vectors: by constants compilers multiply and shift, but for 64 bits.

    Of these there are vectors where processors have conversions, which the C text asks, and of signed ones.
    """
    is_narrow = expr.dtype.kind in "iu" and expr.dtype.size <= Int.size
    return expr.dtype == Long or (is_narrow and not isinstance(expr.right, Const))


def is_converted_back(expr: Expr, *, is_read: bool) -> bool:
    """Whether a truncation in an expression may become a floating-point value again, there or in a reader."""
    left, seen = [(expr, is_read)], set[tuple[int, bool]]()
    while left:
        node, is_back = left.pop()
        if (id(node), is_back) in seen:
            continue
        seen.add((id(node), is_back))
        if is_back and _is_truncation(node):
            return True
        is_place = isinstance(node, Load)
        below = not is_place and (is_back or node.dtype.kind in "fc")
        unsigned = _is_never_negative(node)
        left += [(each, below and not (unsigned and _is_truncation(each))) for each in children(node)]
    return False


def _is_truncation(node: Expr) -> bool:
    """Whether a node makes an integer of a floating-point value."""
    return isinstance(node, CastExpr) and node.dtype.kind in "iu" and node.operand.dtype.kind == "f"


def _is_never_negative(node: Expr) -> bool:
    """Whether a node is a maximum with a constant of at least 0."""
    bounds = (node.left, node.right) if isinstance(node, Binary) and node.op == "max" else ()
    return any(isinstance(each, Const) and each.value.real >= 0 for each in bounds)
