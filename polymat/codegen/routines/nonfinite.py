"""Whether a library wrote an infinity or NaN, which it may have spread to elements that have no part in it.

Libraries pack a triangle as a square with zeros, or solve for a block of rows with the inverse of its
triangle, and 0 times infinity is NaN.  What is finite is right.
"""

from __future__ import annotations

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CExpr,
    CUnary,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.vectorloops import Vectors
from polymat.codegen.routines.blas import CallWriter

ZERO, RESULT, ROW, COLUMN = "_pm_zero", "_pm_result", "_pm_row", "_pm_column"


def begin_watch(ctype: str) -> Stmt:
    """The sum of all results times 0: 0 as long as they are finite."""
    return Declare(ctype, ZERO, Literal("0"))


def watch(calls: CallWriter) -> tuple[Stmt, ...]:
    """Add the results of a call."""
    to = calls.call.result
    array = Declare(f"const {calls.call.dtype.c} *const ", RESULT, calls.address(to, {}))
    element = Subscript(Id(RESULT), CBinary("+", CBinary("*", Id(ROW), calls.leading(to)), Id(COLUMN)))
    add = Assign(Id(ZERO), "+=", CBinary("*", Literal("0"), element))
    pragmas = (Vectors((("+", (ZERO,)),)),) if calls.call.dtype.kind == "f" else ()
    across = For(
        COLUMN, Literal("0"), CBinary("<", Id(COLUMN), calls.extent_of("n")), Literal("1"), (add,), pragmas
    )
    rows = For(ROW, Literal("0"), CBinary("<", Id(ROW), calls.extent_of("m")), Literal("1"), (across,))
    return (Block((array, rows)),)


def has_spread() -> CExpr:
    """Whether a result was not finite."""
    return CUnary("!", CBinary("==", Id(ZERO), Literal("0")))
