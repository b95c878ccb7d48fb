"""Loops that count up: over which indices they run, and the same loops over others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from polymat.codegen.c.ctree import Block, CBinary, CExpr, Declare, For, Id, If, Literal, Stmt

LOW, HIGH = "_pm_low", "_pm_high"  # the first index of a loop, and the one after the last
BEHIND = "_pm_behind"  # the index after its whole vectors
Span: TypeAlias = tuple[CExpr, CExpr]


def counted_range(loop: For) -> Span | None:
    """The first index of a loop that counts up one by one, and the one after the last; None of others."""
    match loop:
        case For(variable, start, CBinary("<", Id(name), end), Literal("1")) if name == variable:
            return start, end
        case _:
            return None


def between(loop: For, start: CExpr, end: CExpr) -> For:
    """The loop from one index up to another.

    before:  for (i = ...; ...; i += step) body
    after:   for (i = start; i < end; i += step) body
    """
    return replace(loop, start=start, condition=CBinary("<", Id(loop.variable), end))


def known_ends(span: Span) -> tuple[Declare, Declare]:
    """The ends of a loop by name: `LOW` and `HIGH`."""
    return Declare("const ptrdiff_t", LOW, span[0]), Declare("const ptrdiff_t", HIGH, span[1])


def in_groups(loop: For, span: Span, count: int, group: Sequence[Stmt], rest: str) -> Block:
    """So many points of a loop at a time, then those that are left; rest: the name of the first of these.

    before:  for (i = first; i < end; i++) body
    after:   rest = first + (end - first) / count * count;
             for (i = first; i < rest; i += count) group;  for (i = rest; i < end; i++) body
    """
    (start, end), number = span, Literal(str(count))
    from_zero = start == Literal("0")
    length = end if from_zero else CBinary("-", end, start)
    whole = CBinary("*", CBinary("/", length, number), number)
    begin = Declare("const ptrdiff_t", rest, whole if from_zero else CBinary("+", start, whole))
    groups = replace(between(loop, start, Id(rest)), step=number, body=tuple(group))
    return Block((begin, groups, replace(loop, start=Id(rest))))


def where_long(loop: For, span: Span, least: CExpr, then: Sequence[Stmt]) -> Block:
    """Put statements in place of a loop where it has so many points at least; fewer it runs over itself.

    before:  for (i = first; i < end; i++) body
    after:   low = first, high = end;  if (high - low >= least) then  else for (i = low; i < high; i++) body
    """
    low, high = Id(LOW), Id(HIGH)
    long = CBinary(">=", CBinary("-", high, low), least)
    return Block((*known_ends(span), If(long, tuple(then), (between(loop, low, high),))))
