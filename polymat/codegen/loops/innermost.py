"""Walks over loops, and the innermost ones whose points are independent, for passes that rewrite them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import counted_range
from polymat.codegen.c.ctree import Assign, Block, CExpr, Declare, For, If, Stmt
from polymat.codegen.c.needs import FLOORDIV_I64
from polymat.codegen.c.vectorloops import Vectors

DIVISION = FLOORDIV_I64.function  # an index divided and rounded down, which has no vector instruction


def with_innermost(
    statements: Sequence[Stmt], rewritten: Callable[[For], Stmt | None], *, sums: bool = False
) -> tuple[Stmt, ...]:
    """The statements with every such loop rewritten, but those for which there is nothing.

    sums: loops that add up or compare, instead of those whose points are independent.
    """

    def changed(statement: Stmt) -> Stmt | None:
        match statement:
            case For(pragmas=(Vectors(reduced),)) if bool(reduced) == sums:
                return rewritten(statement) or statement
            case _:
                return None

    return with_changed(statements, changed)


def with_changed(statements: Sequence[Stmt], changed: Callable[[Stmt], Stmt | None]) -> tuple[Stmt, ...]:
    """The statements with what each is changed to; where that is None, with what is within it changed."""

    def each(inner: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(map(visit, inner))

    def visit(statement: Stmt) -> Stmt:
        made = changed(statement)
        if made is not None:
            return made
        match statement:
            case For(body=body):
                return replace(statement, body=each(body))
            case If(_, then, otherwise):
                return replace(statement, then=each(then), otherwise=each(otherwise))
            case Block(body):
                return Block(each(body))
            case _:
                return statement

    return each(statements)


def straight_range(loop: For, *, choosing: bool = False) -> tuple[CExpr, CExpr] | None:
    """The first index of a loop and the one after the last; None if it steps or does more than assign.

    choosing: whether it may choose what to assign, too.
    """
    return counted_range(loop) if _assigns(loop.body, choosing) else None


def _assigns(body: Sequence[Stmt], choosing: bool) -> bool:
    """Whether statements do nothing but assign, or choose what to."""
    for item in body:
        if isinstance(item, If):
            if not choosing or not _assigns((*item.then, *item.otherwise), choosing):
                return False
        elif not isinstance(item, (Declare, Assign)):
            return False
    return True
