"""Conditions: comparisons of expressions, where a Case holds and what a Select chooses by."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat.errors import DtypeError, LangError, Location, caller_location
from polymat.lang import later
from polymat.lang.expr import Const, Expr, as_expr, binary
from polymat.lang.exproperators import is_whole
from polymat.lang.types import WEAK_INT, Bool, promote

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_SCALE = "x * 2 and x / 2 of floating-point values; Cast(Int, b) of a truth value"
_COMPARISON_HINT = "one of " + " ".join(COMPARISONS)


class Condition:
    """`Condition(left, op, right)` with op one of < <= > >= == !=; combined with `&`, `|`, opposed by `~`."""

    __slots__ = ("at", "left", "op", "right")
    op: str
    left: Any
    right: Any

    def __new__(cls, left: Any, op: str, right: Any) -> Any:
        """A condition; of whole arrays their comparison, a `Mask`."""
        if not isinstance(op, str):
            return super().__new__(cls)  # which `__init__` refuses
        if is_whole(left) or is_whole(right):
            return (later.arithmetic if op in ("&", "|") else later.compared)(op, left, right)
        return super().__new__(cls)

    def __init__(self, left: Any, op: str, right: Any) -> None:
        self.at = caller_location()
        if not isinstance(op, str):
            raise LangError(f"a comparison is a string, got {op!r:.60}", at=self.at, hint=_COMPARISON_HINT)
        if op in ("&", "|"):
            left, right = held(left, op, self.at), held(right, op, self.at)
        elif op in COMPARISONS:
            left, right = as_expr(left, self.at), as_expr(right, self.at)
            common = promote(left.dtype, right.dtype)
            if common.kind == "c" and op not in ("==", "!="):
                raise DtypeError(f"complex values have no order: {op}", at=self.at)
        else:
            raise LangError(f"unknown comparison {op!r:.60}", at=self.at, hint=_COMPARISON_HINT)
        self.left, self.op, self.right = left, op, right

    def __getnewargs__(self) -> tuple[Any, str, Any]:
        """What a copy is made of."""
        return self.left, self.op, self.right

    def __and__(self, other: Condition | Expr) -> Condition:
        return NotImplemented if is_whole(other) else Condition(self, "&", other)

    def __or__(self, other: Condition | Expr) -> Condition:
        return NotImplemented if is_whole(other) else Condition(self, "|", other)

    def __xor__(self, other: Condition | Expr) -> Condition:
        return NotImplemented if is_whole(other) else logical("^", self, other)

    def __invert__(self) -> Condition:
        """Where this does not hold: the opposite comparison, or a NaN on either side."""
        if self.combines:
            return Condition(~self.left, "|" if self.op == "&" else "&", ~self.right)
        found = Condition(self.left, _OPPOSITE[self.op], self.right)
        if self.op in ("==", "!="):
            return found
        for side in (self.left, self.right):
            if side.dtype.kind == "f" and not (isinstance(side, Const) and side.value == side.value):
                found = found | Condition(side, "!=", side)
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and (self.left, self.op, self.right) == (
            other.left,
            other.op,
            other.right,
        )

    def __hash__(self) -> int:
        return hash((self.left, self.op, self.right))

    def __bool__(self) -> bool:
        raise LangError(
            f"{self} has no truth value while the pipeline is being described",
            at=caller_location(),
            hint="a Case or a Select chooses by it; combine conditions with & and |, not with and, or, not",
        )

    @property
    def combines(self) -> bool:
        """Whether the sides are conditions themselves."""
        return self.op in ("&", "|")


@later.held.given
def held(value: object, op: str, at: Location | None) -> Condition:
    """A condition, or where a Bool value holds; `op` is what it was written beside."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, Expr) and value.dtype == Bool:
        return Condition(value, "!=", 0)
    if isinstance(value, Expr):
        raise no_bits(op, f"~{value}" if op == "~" else f"{op} of {value}")
    raise LangError(f"{op} combines conditions, got {value!r:.60}", at=at)


@later.logical.given
def logical(op: str, left: object, right: object) -> Condition:
    """`left op right` of conditions and Bool values, with `&`, `|` or `^`."""
    if op != "^":
        return Condition(left, op, right)
    at = caller_location()
    one, other = held(left, op, at), held(right, op, at)
    return (one & ~other) | (~one & other)


@later.combined.given
def combined(op: str, left: Any, right: Any) -> Any:
    """`left op right` with `&`, `|` or `^`: a condition of truth values, an integer of integers."""
    tell = [_tells(side) for side in (left, right)]
    if all(tell):
        return logical(op, left, right)
    if any(tell):
        raise no_bits(op, f"{left} {op} {right}")
    return binary(op, left, right)


def _tells(side: object) -> bool:
    """Whether a value is true or false."""
    return isinstance(side, Condition | bool | np.bool_) or (isinstance(side, Expr) and side.dtype == Bool)


@later.complement.given
def complement(operand: Expr) -> Any:
    """`~operand`: where it does not hold, or an integer with every bit the other way."""
    if operand.dtype.kind not in "iu":
        return ~held(operand, "~", None)
    ones = operand.dtype.kind == "u"
    all_bits = Const(int(np.iinfo(operand.dtype.dtype).max), operand.dtype) if ones else Const(-1, WEAK_INT)
    return binary("^", operand, all_bits)


@later.no_bits.given
def no_bits(op: str, text: str) -> LangError:
    """The error that says that `op` is for truth values or for integers, and not for what it was given."""
    if op in ("<<", ">>"):
        return LangError(f"{text}: {op} shifts the bits of integers", at=caller_location(), hint=_SCALE)
    return LangError(
        f"{text}: {op} is for two truth values or for two integers",
        at=caller_location(),
        hint="A == 0 of elements; Cast(Int, x) of what has no bits"
        if op == "~"
        else f"(A > 0) {op} (B > 0), say; Cast(Int, b) of a truth value beside an integer",
    )
