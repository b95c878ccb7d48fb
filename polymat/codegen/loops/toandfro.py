"""Loops that run from the last value to the first at every other step, over what all steps read."""

from __future__ import annotations

from dataclasses import replace

from polymat.codegen.c.ctree import CBinary, CExpr, Declare, For, Id, Literal, Ternary
from polymat.codegen.c.othernames import substituted

TURN = "_pm_turn"  # counts what the index takes in this direction or in the other one


def to_and_fro(loop: For, last: CExpr, step: str) -> For:
    """The loop, backwards where a step is odd; last: the largest value that its index takes.

    before:  for (i = first; i < end; i += 8) ...
    after:   for (turn = first; turn < end; turn += 8) { i = step & 1 ? last - (turn - first) : turn; ... }
    """
    turn, index = Id(TURN), Id(loop.variable)
    other = CBinary("-", last, CBinary("-", turn, loop.start))
    here = Ternary(backwards(step), other, turn)
    condition = substituted(loop.condition, {index: turn})
    body = (Declare("const ptrdiff_t", loop.variable, here), *loop.body)
    return replace(loop, variable=TURN, condition=condition, body=body)


def backwards(step: str) -> CExpr:
    """Whether loops run backwards at a step."""
    return CBinary("&", Id(step), Literal("1"))
