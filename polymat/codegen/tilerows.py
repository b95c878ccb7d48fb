"""Loops over the rows of a tile, a few at a time, between the products that register blocks compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import CBinary, CCall, Declare, For, Id, Literal, Stmt
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.memory.storage import TILE
from polymat.graph.aligned import Member
from polymat.plan.tile import TilePlan

STOP = "_pm_stop"  # with a number: where the tile ends
ROWS, ROWS_STOP = "_pm_at_once", "_pm_at_once_stop"  # where the rows of the loops begin, and end


def is_by_rows(plan: TilePlan, member: Member) -> bool:
    """Whether a stage of a tile is computed some rows at a time."""
    return plan.rows_at_once > 0 and member.stage not in plan.kernels and member.dims[-1] is not None


def with_call(plan: TilePlan, calls: Sequence[Stmt], call: Stmt, *, by_rows: bool) -> list[Stmt]:
    """The calls of a tile and one more; those by rows that follow each other share a loop.

    before:  for rows: largest(rows);  exponentials(rows)
    after:   for rows: largest(rows), exponentials(rows)
    """
    if not by_rows:
        return [*calls, call]
    last = calls[-1] if calls else None
    if isinstance(last, For):
        return [*calls[:-1], replace(last, body=(*last.body, call))]
    level, size = len(plan.dims) - 1, Literal(str(plan.rows_at_once))
    end = Id(f"{STOP}{level}")
    stop = CCall(MIN_I64.function, (CBinary("+", Id(ROWS), size), end))
    declared = Declare("const ptrdiff_t", ROWS_STOP, stop)
    return [*calls, For(ROWS, Id(f"{TILE}{level}"), CBinary("<", Id(ROWS), end), size, (declared, call))]
