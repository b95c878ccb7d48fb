"""Lines of two neighbouring points of a loop in one loop along both, so that they share what they load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import counted_range, in_groups
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CExpr,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.vectorloops import Vectors
from polymat.codegen.loops.innermost import with_changed

REST = "_pm_single"  # where the lines begin that are left


def lines_together(statements: Sequence[Stmt], variable: str, count: int) -> tuple[Stmt, ...]:
    """The loops of a map along a dimension with so many of its lines at a time, then those that are left.

    before:  for j: for k: y[j][k] = x[j][k] + x[j + 1][k]
    after:   for j by 2: for k: { y[j][k] = x[j][k] + x[j + 1][k];  y[j + 1][k] = x[j + 1][k] + x[j + 2][k] }
             for j from there on: for k: y[j][k] = x[j][k] + x[j + 1][k]
    """

    def changed(statement: Stmt) -> Stmt | None:
        match statement:
            case For(name, body=(For(pragmas=(Vectors(sums=()),)) as row,)) if name == variable:
                return _together(statement, row, count)
            case _:
                return None

    return with_changed(statements, changed)


def _together(loop: For, row: For, count: int) -> Block | None:
    """Both loops; None of rows that copy alone, and where there is more in them than a point."""
    span = counted_range(loop)
    if span is None or not all(isinstance(each, Declare | Assign) for each in row.body) or _only_copies(row):
        return None
    several = tuple(each for copy in range(count) for each in _copied(row.body, loop.variable, copy))
    return in_groups(loop, span, count, (replace(row, body=several),), REST)


def _only_copies(row: For) -> bool:
    return all(isinstance(each, Assign) and isinstance(each.value, Subscript) for each in row.body)


def _copied(body: Sequence[Stmt], variable: str, copy: int) -> tuple[Stmt, ...]:
    """The statements of a row at a line so many behind, with locals of their own."""
    if copy == 0:
        return tuple(body)
    values: dict[CExpr, CExpr] = {Id(variable): CBinary("+", Id(variable), Literal(str(copy)))}
    made: list[Stmt] = []
    for statement in body:
        found = substituted(statement, values)
        if isinstance(found, Declare):
            values[Id(found.name)] = Id(f"{found.name}_{copy}")
            found = replace(found, name=f"{found.name}_{copy}")
        made.append(found)
    return tuple(made)
