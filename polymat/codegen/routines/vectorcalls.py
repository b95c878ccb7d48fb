"""What the routines of BLAS on vectors, and those that make or solve for one, are called with."""

from __future__ import annotations

from polymat.codegen.c.ctree import Assign, Block, CBinary, CExpr, CUnary, Declare, Id, Literal, Stmt
from polymat.codegen.routines.blas import CallWriter
from polymat.codegen.routines.callparts import called, diagonal, evaluated, pair, transposition, triangle

SUM = "_pm_sum"


def gemv(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """result = beta result + alpha A x."""
    matrix, vector = calls.call.operands
    sizes = [calls.extent_of("m"), calls.extent_of("k")]
    stored = reversed(sizes) if matrix.transposed else sizes
    to = pair(calls, calls.call.result)
    pairs = (*pair(calls, matrix), *pair(calls, vector), beta, *to)
    return [evaluated(calls, "gemv", transposition(matrix), *stored, calls.alpha, *pairs)]


def symv(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """A call of symv: y = alpha A x + beta y with a symmetric A."""
    matrix, vector = calls.call.operands
    pairs = (*pair(calls, matrix), *pair(calls, vector), beta, *pair(calls, calls.call.result))
    return [evaluated(calls, "symv", triangle(calls), calls.extent_of("m"), calls.alpha, *pairs)]


def triangular_vector(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """trmv and trsv, of a vector that is there already, scaled: they take no scale."""
    matrix = calls.call.operands[0]
    how = (triangle(calls), transposition(matrix), diagonal(calls))
    pairs = (*pair(calls, matrix), *pair(calls, calls.call.result))
    return [evaluated(calls, calls.call.routine, *how, calls.extent_of("m"), *pairs)]


def ger(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """Result += alpha x y^T, or y^H."""
    column, row = calls.call.operands
    sizes = (calls.extent_of("m"), calls.extent_of("n"))
    pairs = (*pair(calls, column), *pair(calls, row), *pair(calls, calls.call.result))
    return [evaluated(calls, calls.call.routine, *sizes, calls.alpha, *pairs)]


def syr(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """Result += alpha x x^T in a triangle."""
    (vector,) = calls.call.operands
    pairs = (*pair(calls, vector), *pair(calls, calls.call.result))
    return [evaluated(calls, "syr", triangle(calls), calls.extent_of("m"), calls.alpha, *pairs)]


def dot(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """Result = beta result + alpha x y; complex sums are returned through an address."""
    one, other = calls.call.operands
    arguments = (calls.extent_of("k"), *pair(calls, one), *pair(calls, other))
    ctype, name = calls.call.dtype.c, Id(SUM)
    body: list[Stmt]
    if calls.call.dtype.kind == "c":
        body = [
            Declare(ctype, SUM),
            evaluated(calls, calls.call.routine, *arguments, CUnary("&", name)),
        ]
    else:
        body = [Declare(f"const {ctype}", SUM, called(calls, calls.call.routine, *arguments))]
    value: CExpr = name if calls.call.alpha is None else CBinary("*", calls.alpha, name)
    target = CUnary("*", calls.address(calls.call.result, {}))
    body.append(Assign(target, "+=" if beta != Literal("0") else "=", value))
    return [Block(tuple(body))]


def axpy(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """Result += alpha x."""
    (vector,) = calls.call.operands
    pairs = (*pair(calls, vector), *pair(calls, calls.call.result))
    return [evaluated(calls, "axpy", calls.extent_of("m"), calls.alpha, *pairs)]


def scal(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """Result = alpha result, which is x already."""
    return [evaluated(calls, "scal", calls.extent_of("m"), calls.alpha, *pair(calls, calls.call.result))]


def nrm2(calls: CallWriter, beta: CExpr) -> list[Stmt]:
    """Result = sqrt of the sum of squares."""
    (vector,) = calls.call.operands
    norm = called(calls, "nrm2", calls.extent_of("k"), *pair(calls, vector))
    return [Assign(CUnary("*", calls.address(calls.call.result, {})), "=", norm)]


VECTOR_ROUTINES = {
    "gemv": gemv,
    "symv": symv,
    "trmv": triangular_vector,
    "trsv": triangular_vector,
    "ger": ger,
    "gerc": ger,
    "syr": syr,
    "dot": dot,
    "dotc": dot,
    "axpy": axpy,
    "scal": scal,
    "nrm2": nrm2,
}
