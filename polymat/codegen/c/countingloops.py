"""Loops that count up: over which indices they run, and the same loops over others."""

from __future__ import annotations

from dataclasses import replace

from polymat.codegen.c.ctree import CBinary, CExpr, For, Id, Literal


def counted_range(loop: For) -> tuple[CExpr, CExpr] | None:
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
