"""Loops that copy elements to where they are, since a step writes over the state that it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    Declare,
    For,
    Id,
    If,
    Note,
    Stmt,
    Subscript,
)
from polymat.codegen.c.shorthand import is_request

Pair = tuple[str, str]


def unless_in_place(body: tuple[Stmt, ...], pairs: Collection[Pair]) -> tuple[Stmt, ...]:
    """Loops left out where each of their elements would be stored where it lies.

    pairs: arrays of which the second may be written over the first, by their names in C.

    before:  for (i = 0; i < 9; i++) y[i] = x[i];
    after:   if (y != x) for (i = 0; i < 9; i++) y[i] = x[i];
    """
    found: list[Stmt] = []
    for pair, statements in groupby(body, lambda statement: _copied(statement, pairs)):
        if pair is None:
            found += statements
        else:
            source, target = pair
            found.append(If(CBinary("!=", Id(target), Id(source)), tuple(statements)))
    return tuple(found)


def _copied(statement: Stmt, pairs: Collection[Pair]) -> Pair | None:
    """The pair of arrays between which loops do nothing but copy."""
    if not isinstance(statement, For | Block | If):
        return None
    found = {*_copies(statement)}
    pair = found.pop() if len(found) == 1 else None
    return pair if pair in pairs else None


def _copies(statement: Stmt) -> Iterator[Pair | None]:
    """The arrays that a statement copies elements from and to, at the same places; None for all else."""
    match statement:
        case For(body=body) | Block(body=body) | If(then=body, otherwise=()):
            for inner in body:
                yield from _copies(inner)
        case Assign(Subscript(Id(target), place), "=", Subscript(Id(source), other)) if place == other:
            yield source, target
        case Declare() | Note():
            return
        case _ if is_request(statement):
            return
        case _:
            yield None
