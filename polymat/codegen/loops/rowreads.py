"""Reads of rows that become vectors, and which of them share registers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polymat.codegen.c.ctree import (
    CBinary,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    Id,
    Literal,
    Stmt,
    Subscript,
    expressions,
    names_in,
)
from polymat.codegen.c.rows import RowRead, RowTypes, read_of


def has_vectors(value: CExpr, variable: str, types: RowTypes, values: Sequence[str]) -> bool:
    """Whether an expression is made of what C has for vectors too."""
    match value:
        case Subscript():
            return read_of(value, variable) is not None
        case Literal(text):
            return types.is_number(text)
        case Id(name):
            return name in values
        case CUnary("-", operand):
            return has_vectors(operand, variable, types, values)
        case CBinary("+" | "-" | "*" | "/", left, right):
            return all(has_vectors(part, variable, types, values) for part in (left, right))
        case _:
            return False


def elements_of(parts: Iterable[CExpr | Stmt]) -> set[Subscript]:
    """All array elements in them."""
    statements = [part if isinstance(part, Stmt) else Evaluate(part) for part in parts]
    return {expr for expr in expressions(statements) if isinstance(expr, Subscript)}


def is_vector(value: CExpr | None, body: Sequence[Stmt]) -> bool:
    """Whether an expression is a vector: it reads an array, or a local that does."""
    if value is None:
        return False
    if any(isinstance(e, Subscript) for e in expressions([Evaluate(value)])):
        return True
    used = names_in([Evaluate(value)])
    return any(isinstance(s, Declare) and s.name in used and is_vector(s.value, body) for s in body)


def streams_of(reads: Sequence[RowRead], lanes: int) -> tuple[tuple[RowRead, ...], ...]:
    """Reads of the same row that lie at most a vector apart, in order; those alone in a row are left out."""
    rows: dict[object, list[RowRead]] = {}
    for read in reads:
        rows.setdefault(read.row, []).append(read)
    found: list[tuple[RowRead, ...]] = []
    for row in rows.values():
        current: list[RowRead] = []
        for read in sorted(row, key=lambda item: item.offset):
            if current and read.offset - current[0].offset > lanes:
                found.append(tuple(current))
                current = []
            current.append(read)
        found.append(tuple(current))
    return tuple(stream for stream in found if stream[-1].offset > stream[0].offset)
