"""Loops that divide their index by a large number: one loop for each quotient, in which nothing is divided.

Processors have no vector division of integers, so that a loop over the results of blocks of thousands of
points, each read at i // 3584, would take its indices one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import between
from polymat.codegen.c.ctree import (
    Block,
    CBinary,
    CCall,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    expressions,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.loops.innermost import DIVISION, straight_range, with_innermost

SHORTEST = 64  # points of a loop that are worth one of their own
QUOTIENT, LOW, HIGH = "_pm_quotient", "_pm_quotient_low", "_pm_quotient_high"


def split_by_quotient(statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements with one innermost loop for each value of an index divided by a large number.

    before:  for i: y[i] = x[4096 * (i // 3584) + i - 3584 * (i // 3584)]
    after:   for q: for i of q: y[i] = x[4096 * q + i - 3584 * q]
    """
    return with_innermost(statements, _split)


def _split(loop: For) -> Block | None:
    """The loop over quotients; None for a loop that has none, or several."""
    if (found := straight_range(loop)) is None:
        return None
    start, high = found
    variable = loop.variable
    divisors = {
        node.arguments[1].text
        for node in expressions(loop.body)
        if isinstance(node, CCall)
        and node.function == DIVISION
        and node.arguments[0] == Id(variable)
        and isinstance(node.arguments[1], Literal)
    }
    if len(divisors) != 1 or not (text := divisors.pop()).isdigit() or int(text) < SHORTEST:
        return None
    divisor, quotient = Literal(text), Id(QUOTIENT)
    first = CBinary("*", quotient, divisor)
    end = CCall(MIN_I64.function, (Id(HIGH), CBinary("+", first, divisor)))
    body = substituted(loop.body, {CCall(DIVISION, (Id(variable), divisor)): quotient})
    part = replace(between(loop, CCall(MAX_I64.function, (Id(LOW), first)), end), body=body)
    inside = CBinary("<", first, Id(HIGH))
    begin = CCall(DIVISION, (Id(LOW), divisor))
    return Block(
        (
            Declare("const ptrdiff_t", LOW, start),
            Declare("const ptrdiff_t", HIGH, high),
            For(QUOTIENT, begin, inside, Literal("1"), (part,), ()),
        )
    )
