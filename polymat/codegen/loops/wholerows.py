"""Loops over whole rows that follow each other in memory, as one loop: rows of a few elements start none.

before:  for (i = begin; i < end; i++) for (j = 0; j < M; j++) s += A[i * M + j];
after:   for (j = begin * M; j < end * M; j++) s += A[j];
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import Span, between, counted_range
from polymat.codegen.c.ctree import (
    CBinary,
    CExpr,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    Ternary,
    expressions,
    names_in,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.loops.innermost import with_changed

PLACE = "_pm_place"  # of an element, until the loop has its name


def as_one_loop(statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements with such loops as one, from the inside: those over planes of whole rows as well."""

    def changed(statement: Stmt) -> Stmt | None:
        if not isinstance(statement, For):
            return None
        body = as_one_loop(statement.body)
        loop = statement if body == statement.body else replace(statement, body=body)
        return _joined(loop) or loop

    return with_changed(statements, changed)


def _joined(outer: For) -> For | None:
    """Two loops as one; None where what they do is not at one place after the other."""
    rows = counted_range(outer)
    match outer:
        case For(body=(For() as inner,), pragmas=()):
            elements = counted_range(inner)
        case _:
            return None
    if rows is None or elements is None or elements[0] != Literal("0"):
        return None
    length, whole = _as_written(elements[1]), _whole(elements[1])
    places = {
        index: place
        for index in _indices(inner.body)
        if (place := _place(index, outer.variable, rows, inner.variable, length)) is not None
    }
    body = substituted(inner.body, places)
    if not places or not names_in(body).isdisjoint({outer.variable, inner.variable}):
        return None
    body = substituted(body, {Id(PLACE): Id(inner.variable)})
    return replace(between(inner, _times(rows[0], whole), _times(rows[1], whole)), body=body)


def _indices(body: Sequence[Stmt]) -> Iterator[CExpr]:
    return (each.index for each in expressions(body) if isinstance(each, Subscript))


def _place(index: CExpr, row: str, rows: Span, element: str, length: CExpr) -> CExpr | None:
    """What an index is in the place of an element; None of other indices.

    `row * length + element`, and `(plane * rows + row) * length + element` of planes that are so many rows.
    """
    match index:
        case CBinary("+", CBinary("*", number, by), Id(name)) if by == length and name == element:
            pass
        case _:
            return None
    match number:
        case Id(name) if name == row:
            return Id(PLACE)
        case CBinary("+", CBinary("*", plane, count), Id(name)) if name == row and rows == (
            Literal("0"),
            count,
        ):
            return CBinary("+", CBinary("*", plane, CBinary("*", count, length)), Id(PLACE))
        case _:
            return None


def _whole(length: CExpr) -> CExpr:
    """A length that is 0 where there are less than no elements: of less than no rows these would be some."""
    if _is_of_array(length):
        return length
    return Ternary(CBinary(">", length, Literal("0")), length, Literal("0"))


def _is_of_array(length: CExpr) -> bool:
    """Whether a length is a size, or a product of sizes: arrays have no elements at least."""
    match length:
        case Id() | Literal():
            return True
        case CBinary("*", rows, of):
            return _is_of_array(rows) and _is_of_array(of)
        case _:
            return False


def _as_written(length: CExpr) -> CExpr:
    """A length as indices have it, where loops that are one already have run over whole rows."""
    match length:
        case Ternary(CBinary(">", _, Literal("0")), then, Literal("0")):
            return _as_written(then)
        case CBinary("*", rows, of):
            return CBinary("*", rows, _as_written(of))
        case _:
            return length


def _times(number: CExpr, length: CExpr) -> CExpr:
    return number if number == Literal("0") else CBinary("*", number, length)
