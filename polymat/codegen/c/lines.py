"""Vectors of rows stored in parts, and whole lines of memory written past the caches: the C text."""

from __future__ import annotations

from polymat.codegen.c.rows import RowTypes

STREAMS = "_PM_STREAMS"  # whether the C compiler has stores past the caches


def lines_text(types: RowTypes) -> str:
    """A piece of the prelude, put after the vectors of the same type."""
    return types.kernel("lines")
