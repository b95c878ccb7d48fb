"""Several ways to go along the rows of a sum, of which one is gone for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.codegen.c.ctree import Block, CExpr, Declare, Id, If, Stmt
from polymat.codegen.loops.innermost import with_changed

Way = tuple[str, CExpr, tuple[Stmt, ...]]
"""A way to go along rows by its name, when it is gone for all of them, and what it needs before."""


def one_of(statements: Sequence[Stmt], ways: Sequence[Way]) -> tuple[Stmt, ...]:
    """The statements for all rows in each of some ways: of several in one loop none has all registers."""
    if not ways:
        return tuple(statements)
    (name, condition, before), *others = ways
    taken = _taken(statements, {name: True} | {other: False for other, _, _ in others})
    left = one_of(_taken(statements, {name: False}), others)
    return (Declare("const int", name, condition), If(Id(name), (*before, *taken), left))


def _taken(statements: Sequence[Stmt], ways: Mapping[str, bool]) -> tuple[Stmt, ...]:
    """The statements where it is known which ways are gone."""

    def changed(statement: Stmt) -> Stmt | None:
        match statement:
            case If(Id(name), then, otherwise) if name in ways:
                return Block(_taken(then if ways[name] else otherwise, ways))
            case _:
                return None

    return with_changed(statements, changed)
