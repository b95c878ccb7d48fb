"""What each routine of BLAS is called with, and how a block of rows of a triangle is put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from polymat.codegen.blas import ZERO, CallWriter, pointer_call
from polymat.codegen.ctree import Binary, CExpr, Evaluate, Id, If, Literal, Stmt
from polymat.codegen.routines import (
    CONJ_TRANS,
    LEFT,
    LOWER,
    NO_TRANS,
    NON_UNIT,
    RIGHT,
    TRANS,
    UNIT,
    UPPER,
    blas_routine,
    has_routine,
)
from polymat.idiom.call import LibraryCall, Operand

ONE = Literal("1")
NOWHERE: Mapping[str, CExpr] = MappingProxyType({})


def call_statements(calls: CallWriter, *, adds: bool) -> tuple[Stmt, ...]:
    """The statements of one library call; adds: to what the result holds, else in its place."""
    return calls.in_loops(_ROUTINES[calls.call.routine](calls, Literal(str(int(adds)))))


def supported(call: LibraryCall) -> bool:
    """Whether there is code for a routine, and CBLAS has it for the type: complex symv it has not."""
    return call.routine in _ROUTINES and has_routine(call.routine, call.dtype.dtype)


def triangle_can_be_cut(routine: str) -> bool:
    """Whether there is code for a block of rows of the routine's triangle."""
    return routine in ("syrk", "syr2k")


def _evaluate(calls: CallWriter, routine: str, *arguments: CExpr) -> Stmt:
    name = blas_routine(routine, calls.call.dtype.dtype)
    calls.writer.needs.add(name)
    return Evaluate(pointer_call(name, arguments))


def _pair(calls: CallWriter, operand: Operand, at: Mapping[str, CExpr] = NOWHERE) -> tuple[CExpr, CExpr]:
    """The address of an operand and its leading dimension, or increment."""
    return calls.address(operand, at), calls.leading(operand)


def _transposition(operand: Operand) -> CExpr:
    if not operand.transposed:
        return Literal(str(NO_TRANS))
    return Literal(str(CONJ_TRANS if operand.conjugated else TRANS))


def _turned(operand: Operand) -> CExpr:
    """The transposition that makes rows of an operand the columns of a product."""
    return Literal(str(NO_TRANS if operand.transposed else TRANS))


def _side(calls: CallWriter) -> CExpr:
    return Literal(str(LEFT if calls.call.side == "left" else RIGHT))


def _triangle(calls: CallWriter) -> CExpr:
    return Literal(str(LOWER if calls.call.triangle == "lower" else UPPER))


def _gemm(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    left, right = calls.call.operands
    how = (_transposition(left), _transposition(right))
    sizes = (calls.extent_of("m"), calls.extent_of("n"), calls.extent_of("k"))
    to = _pair(calls, calls.call.result)
    arguments = (*how, *sizes, calls.alpha, *_pair(calls, left), *_pair(calls, right), beta, *to)
    return [_evaluate(calls, "gemm", *arguments)]


def _gemv(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    matrix, vector = calls.call.operands
    sizes = [calls.extent_of("m"), calls.extent_of("k")]
    stored = reversed(sizes) if matrix.transposed else sizes
    to = _pair(calls, calls.call.result)
    pairs = (*_pair(calls, matrix), *_pair(calls, vector), beta, *to)
    return [_evaluate(calls, "gemv", _transposition(matrix), *stored, calls.alpha, *pairs)]


def _symm(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    left, right = calls.call.operands
    symmetric, other = (left, right) if calls.call.side == "left" else (right, left)
    sizes = (calls.extent_of("m"), calls.extent_of("n"))
    pairs = (*_pair(calls, symmetric), *_pair(calls, other), beta, *_pair(calls, calls.call.result))
    return [_evaluate(calls, "symm", _side(calls), _triangle(calls), *sizes, calls.alpha, *pairs)]


def _symv(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    matrix, vector = calls.call.operands
    pairs = (*_pair(calls, matrix), *_pair(calls, vector), beta, *_pair(calls, calls.call.result))
    return [_evaluate(calls, "symv", _triangle(calls), calls.extent_of("m"), calls.alpha, *pairs)]


def _trmm(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    triangular = calls.call.operands[0]
    unit = Literal(str(UNIT if calls.call.unit else NON_UNIT))
    how = (_side(calls), _triangle(calls), _transposition(triangular), unit)
    sizes = (calls.extent_of("m"), calls.extent_of("n"))
    pairs = (*_pair(calls, triangular), *_pair(calls, calls.call.result))
    return [_evaluate(calls, "trmm", *how, *sizes, calls.alpha, *pairs)]


def _syrk(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    matrix = calls.call.operands[0]
    square = _diagonal(calls)
    to = _pair(calls, calls.call.result, square)
    sizes = (calls.extent_of("m"), calls.extent_of("k"))
    pairs = (*_pair(calls, matrix, square), beta, *to)
    inside = _evaluate(calls, "syrk", _triangle(calls), _transposition(matrix), *sizes, calls.alpha, *pairs)
    return [*_beside(calls, [(matrix, matrix, beta)]), inside]


def _syr2k(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    one, other = calls.call.operands
    square = _diagonal(calls)
    sizes = (calls.extent_of("m"), calls.extent_of("k"))
    pairs = (*_pair(calls, one, square), *_pair(calls, other, square), beta)
    to = _pair(calls, calls.call.result, square)
    how = (_triangle(calls), _transposition(one))
    inside = _evaluate(calls, "syr2k", *how, *sizes, calls.alpha, *pairs, *to)
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
    low, end = calls.begin(column), Binary("+", calls.begin(column), calls.extent(column))
    block = Id(calls.bounds[row].begin), Id(calls.bounds[row].end)
    lower = calls.call.triangle == "lower"
    begin, extent = (low, Binary("-", block[0], low)) if lower else (block[1], Binary("-", end, block[1]))
    sizes = (calls.extent_of("m"), extent, calls.extent_of("k"))
    rows, columns = {row: block[0], column: block[0]}, {row: begin, column: begin}
    to = _pair(calls, calls.call.result, {row: block[0], column: begin})
    body = []
    for left, right, beta in products:
        how = (_transposition(left), _turned(right))
        pairs = (*_pair(calls, left, rows), *_pair(calls, right, columns), beta, *to)
        body.append(_evaluate(calls, "gemm", *how, *sizes, calls.alpha, *pairs))
    return [If(Binary(">", extent, ZERO), tuple(body))]


_ROUTINES: dict[str, Callable[[CallWriter, CExpr], list[Stmt]]] = {
    "gemm": _gemm,
    "gemv": _gemv,
    "symm": _symm,
    "symv": _symv,
    "syrk": _syrk,
    "syr2k": _syr2k,
    "trmm": _trmm,
}
