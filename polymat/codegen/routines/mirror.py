"""The copy of a symmetric result's lower triangle to the upper one."""

from __future__ import annotations

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.routines.blas import CallWriter

EDGE = 16  # of the squares copied one after the other: a few lines of the cache each way
FROM, ROW, COLUMN, THERE, HERE = "_pm_from", "_pm_row", "_pm_column", "_pm_i", "_pm_j"


def mirror_statements(calls: CallWriter) -> tuple[Stmt, ...]:
    """Copy the rows of a call's part, as columns: element (i, j), j < i, to (j, i).

    before:  rows b .. e - 1 of the lower triangle are complete
    after:   columns b .. e - 1 of the upper triangle, too, which no other part of the rows touches
    """
    calls.writer.needs.update({MIN_I64, MAX_I64})
    (row,), (column,) = calls.merged["m"], calls.merged["n"]
    low = calls.begin(column)
    first = CBinary("-", calls.begin(row), low)
    last = CBinary("+", first, calls.extent(row))
    leading = calls.leading(calls.call.result)
    address = calls.address(calls.call.result, {row: low, column: low})
    array = Declare(f"{calls.call.dtype.c} *const ", FROM, address)
    copy = Assign(_element(Id(HERE), Id(THERE), leading), "=", _element(Id(THERE), Id(HERE), leading))
    edge = Literal(str(EDGE))
    from_i = CCall(MAX_I64.function, (Id(ROW), CBinary("+", Id(HERE), Literal("1"))))
    to_i = CCall(MIN_I64.function, (CBinary("+", Id(ROW), edge), last))
    to_j = CCall(MIN_I64.function, (CBinary("+", Id(COLUMN), edge), last))
    inner = For(THERE, from_i, CBinary("<", Id(THERE), to_i), Literal("1"), (copy,))
    columns = For(HERE, Id(COLUMN), CBinary("<", Id(HERE), to_j), Literal("1"), (inner,))
    squares = For(COLUMN, Literal("0"), CBinary("<", Id(COLUMN), to_i), edge, (columns,))
    return (Block((array, For(ROW, first, CBinary("<", Id(ROW), last), edge, (squares,)))),)


def _element(i: CExpr, j: CExpr, leading: CExpr) -> CExpr:
    return Subscript(Id(FROM), CBinary("+", CBinary("*", i, leading), j))
