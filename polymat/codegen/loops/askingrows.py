"""Rows that several terms are added to, with requests for what comes next of the rows of these terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polymat.codegen.c.countingloops import BEHIND, HIGH, LOW, between, known_ends
from polymat.codegen.c.ctree import (
    Block,
    CBinary,
    CExpr,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    expressions,
)
from polymat.codegen.c.rows import read_of
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.requests import Requests
from polymat.codegen.memory.storage import LINE_BYTES

STRIP = "_pm_strip"  # where a line's worth of a row begins


def asking_rows(statements: Sequence[Stmt], requests: Requests, element_bytes: int) -> tuple[Stmt, ...]:
    """The statements with each innermost loop over rows a line at a time, and requests in front of each.

    before:  for i: y[i] += A[k, i] * x[k] + A[k + 1, i] * x[k + 1]
    after:   for i by 8: ask for A[k, i + 128], A[k + 1, i + 128]; for 8 of i: y[i] += ...;
             near the end of the rows: ask for A[k + 2, ...], A[k + 3, ...] from their begin on;  the rest
    """
    return with_innermost(statements, lambda loop: _asking(loop, requests, element_bytes))


def _asking(loop: For, requests: Requests, element_bytes: int) -> Block | None:
    if (span := straight_range(loop)) is None:
        return None
    line = LINE_BYTES // element_bytes
    low, high, behind, strip = (Id(name) for name in (LOW, HIGH, BEHIND, STRIP))
    row = requests.split(_rows(loop), loop.variable, low, behind, requests.bytes // element_bytes)
    if not row.here:
        return None
    whole = CBinary("*", CBinary("/", CBinary("-", high, low), Literal(str(line))), Literal(str(line)))
    part = between(loop, strip, CBinary("+", strip, Literal(str(line))))

    def strips(start: CExpr, end: CExpr, asked: tuple[Stmt, ...]) -> For:
        begin = Declare("const ptrdiff_t", loop.variable, strip)
        body = (Block((begin, *asked)), part)
        return For(STRIP, start, CBinary("<", strip, end), Literal(str(line)), body)

    return Block(
        (
            *known_ends(span),
            Declare("const ptrdiff_t", BEHIND, CBinary("+", low, whole)),
            *row.loops(strips),
            between(loop, behind, high),
        )
    )


def _rows(loop: For) -> Iterator[Subscript]:
    """The elements that are neighbours in memory along the loop, each once."""
    for node in dict.fromkeys(expressions(loop.body)):
        if isinstance(node, Subscript) and read_of(node, loop.variable) is not None:
            yield node
