"""What each routine of BLAS is called with, and how a block of rows of a triangle is put together."""

from __future__ import annotations

from collections.abc import Callable

from polymat.codegen.c.ctree import CBinary, CExpr, Id, If, Literal, Stmt
from polymat.codegen.routines.blas import ZERO, CallWriter
from polymat.codegen.routines.callparts import (
    ONE,
    diagonal,
    evaluated,
    pair,
    side,
    transposition,
    triangle,
    turned,
)
from polymat.codegen.routines.mirror import mirror_statements
from polymat.codegen.routines.nonfinite import watch
from polymat.codegen.routines.vectorcalls import VECTOR_ROUTINES
from polymat.idiom.call import Operand


def call_statements(calls: CallWriter, *, adds: bool) -> tuple[Stmt, ...]:
    """The statements of one library call; adds: to what the result holds, else in its place."""
    return calls.in_loops(_ROUTINES[calls.call.routine](calls, Literal(str(int(adds)))))


def _gemm(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    left, right = calls.call.operands
    how = (transposition(left), transposition(right))
    sizes = (calls.extent_of("m"), calls.extent_of("n"), calls.extent_of("k"))
    to = pair(calls, calls.call.result)
    arguments = (*how, *sizes, calls.alpha, *pair(calls, left), *pair(calls, right), beta, *to)
    return [evaluated(calls, "gemm", *arguments)]


def _symm(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    left, right = calls.call.operands
    symmetric, other = (left, right) if calls.call.side == "left" else (right, left)
    sizes = (calls.extent_of("m"), calls.extent_of("n"))
    pairs = (*pair(calls, symmetric), *pair(calls, other), beta, *pair(calls, calls.call.result))
    return [evaluated(calls, "symm", side(calls), triangle(calls), *sizes, calls.alpha, *pairs)]


def _triangular(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """trmm and trsm: the result is the other array already."""
    matrix = calls.call.operands[0]
    how = (side(calls), triangle(calls), transposition(matrix), diagonal(calls))
    sizes = (calls.extent_of("m"), calls.extent_of("n"))
    pairs = (*pair(calls, matrix), *pair(calls, calls.call.result))
    watched = watch(calls) if calls.call.row.spreads else ()
    return [evaluated(calls, calls.call.routine, *how, *sizes, calls.alpha, *pairs), *watched]


def _syrk(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """syrk and herk."""
    matrix = calls.call.operands[0]
    square = _diagonal(calls)
    to = pair(calls, calls.call.result, square)
    sizes = (calls.extent_of("m"), calls.extent_of("k"))
    pairs = (*pair(calls, matrix, square), beta, *to)
    how = (triangle(calls), transposition(matrix))
    inside = evaluated(calls, calls.call.routine, *how, *sizes, calls.alpha, *pairs)
    mirror = mirror_statements(calls) if calls.call.mirrored else ()
    return [*_beside(calls, [(matrix, matrix, beta)]), inside, *mirror]


def _syr2k(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    one, other = calls.call.operands
    square = _diagonal(calls)
    sizes = (calls.extent_of("m"), calls.extent_of("k"))
    pairs = (*pair(calls, one, square), *pair(calls, other, square), beta)
    to = pair(calls, calls.call.result, square)
    how = (triangle(calls), transposition(one))
    inside = evaluated(calls, "syr2k", *how, *sizes, calls.alpha, *pairs, *to)
    return [*_beside(calls, [(one, other, beta), (other, one, ONE)]), inside]


def _diagonal(calls: CallWriter) -> dict[str, CExpr]:
    """Rows and columns both begin with the rows of the part."""
    (row,), (column,) = calls.merged["m"], calls.merged["n"]
    return {row: calls.begin(row), column: calls.begin(row)}


def _beside(calls: CallWriter, products: list[tuple[Operand, Operand, CExpr]]) -> list[Stmt]:
    """The rectangle between a block of rows of a triangle and the triangle's straight side, as products."""
    (row,), (column,) = calls.merged["m"], calls.merged["n"]
    if row not in calls.bounds:
        return []  # all rows: the triangle is whole
    low, end = calls.begin(column), CBinary("+", calls.begin(column), calls.extent(column))
    block = Id(calls.bounds[row].begin), Id(calls.bounds[row].end)
    lower = calls.call.triangle == "lower"
    begin, extent = (low, CBinary("-", block[0], low)) if lower else (block[1], CBinary("-", end, block[1]))
    sizes = (calls.extent_of("m"), extent, calls.extent_of("k"))
    rows, columns = {row: block[0], column: block[0]}, {row: begin, column: begin}
    to = pair(calls, calls.call.result, {row: block[0], column: begin})
    conjugated, body = calls.call.routine == "herk", []
    for left, right, beta in products:
        how = (transposition(left), turned(right, conjugated=conjugated))
        pairs = (*pair(calls, left, rows), *pair(calls, right, columns), beta, *to)
        body.append(evaluated(calls, "gemm", *how, *sizes, calls.alpha, *pairs))
    return [If(CBinary(">", extent, ZERO), tuple(body))]


_ROUTINES: dict[str, Callable[[CallWriter, CExpr], list[Stmt]]] = {
    "gemm": _gemm,
    "symm": _symm,
    "syrk": _syrk,
    "herk": _syrk,
    "syr2k": _syr2k,
    "trmm": _triangular,
    "trsm": _triangular,
    **VECTOR_ROUTINES,
}
