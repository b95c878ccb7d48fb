"""What calls of BLAS routines are put together from: addresses with strides, CBLAS's enumerations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from polymat.codegen.c.ctree import CExpr, Evaluate, Literal, Stmt
from polymat.codegen.routines.blas import CallWriter, pointer_call
from polymat.codegen.routines.cblas import (
    CONJ_TRANS,
    LEFT,
    LOWER,
    NO_TRANS,
    NON_UNIT,
    RIGHT,
    TRANS,
    UNIT,
    UPPER,
    cblas_routine,
)
from polymat.idiom.call import Operand
from polymat.idiom.libraryroutines import blas_routine

ONE = Literal("1")
NOWHERE: Mapping[str, CExpr] = MappingProxyType({})


def called(calls: CallWriter, routine: str, *arguments: CExpr) -> CExpr:
    """The call of a routine of the library, with its type's letter."""
    name = blas_routine(routine, calls.call.dtype.dtype)
    calls.writer.needs.add(cblas_routine(name))
    return pointer_call(name, arguments)


def evaluated(calls: CallWriter, routine: str, *arguments: CExpr) -> Stmt:
    """A call whose value nobody needs, as a statement."""
    return Evaluate(called(calls, routine, *arguments))


def pair(calls: CallWriter, operand: Operand, at: Mapping[str, CExpr] = NOWHERE) -> tuple[CExpr, CExpr]:
    """The address of an operand and its leading dimension, or increment."""
    return calls.address(operand, at), calls.leading(operand)


def transposition(operand: Operand) -> CExpr:
    """How a routine reads the rows of an operand."""
    if not operand.transposed:
        return Literal(str(NO_TRANS))
    return Literal(str(CONJ_TRANS if operand.conjugated else TRANS))


def turned(operand: Operand, *, conjugated: bool = False) -> CExpr:
    """The transposition that makes rows of an operand the columns of a product, or their conjugates."""
    if operand.transposed:
        return Literal(str(NO_TRANS))
    return Literal(str(CONJ_TRANS if conjugated else TRANS))


def side(calls: CallWriter) -> CExpr:
    """On which side the symmetric or triangular array stands."""
    return Literal(str(LEFT if calls.call.side == "left" else RIGHT))


def triangle(calls: CallWriter) -> CExpr:
    """Which triangle is stored."""
    return Literal(str(LOWER if calls.call.triangle == "lower" else UPPER))


def diagonal(calls: CallWriter) -> CExpr:
    """Whether the diagonal is ones and not read."""
    return Literal(str(UNIT if calls.call.unit else NON_UNIT))
