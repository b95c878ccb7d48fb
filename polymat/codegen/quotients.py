"""Loops that divide their index by a large number: one loop for each quotient, in which nothing is divided.

Processors have no vector division of integers, so that a loop over the results of blocks of thousands of
points, each read at i // 3584, would take its indices one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.ctree import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    expressions,
    substituted,
)

SHORTEST = 64  # points of a loop that are worth one of their own
DIVISION = "_pm_floordiv_i64"
QUOTIENT, LOW, HIGH = "_pm_quotient", "_pm_quotient_low", "_pm_quotient_high"


def split_by_quotient(statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements with one innermost loop for each value of an index divided by a large number.

    before:  for i: y[i] = x[4096 * (i // 3584) + i - 3584 * (i // 3584)]
    after:   for q: for i of q: y[i] = x[4096 * q + i - 3584 * q]
    """
    return tuple(_statement(statement) for statement in statements)


def _statement(statement: Stmt) -> Stmt:
    match statement:
        case For(pragmas=("omp simd",)):
            return _split(statement) or statement
        case For(body=body):
            return replace(statement, body=split_by_quotient(body))
        case If(_, then, otherwise):
            return replace(statement, then=split_by_quotient(then), otherwise=split_by_quotient(otherwise))
        case Block(body):
            return Block(split_by_quotient(body))
        case _:
            return statement


def _split(loop: For) -> Block | None:
    """The loop over quotients; None for a loop that has none, or several."""
    match loop:
        case For(variable, start, Binary("<", Id(name), high), Literal("1"), body) if name == variable:
            pass
        case _:
            return None
    if not all(isinstance(item, (Declare, Assign)) for item in body):
        return None
    divisors = {
        node.arguments[1].text
        for node in expressions(body)
        if isinstance(node, Call)
        and node.function == DIVISION
        and node.arguments[0] == Id(variable)
        and isinstance(node.arguments[1], Literal)
    }
    if len(divisors) != 1 or not (text := divisors.pop()).isdigit() or int(text) < SHORTEST:
        return None
    divisor, quotient = Literal(text), Id(QUOTIENT)
    first = Binary("*", quotient, divisor)
    part = replace(
        loop,
        start=Call("_pm_max_i64", (Id(LOW), first)),
        condition=Binary("<", Id(variable), Call("_pm_min_i64", (Id(HIGH), Binary("+", first, divisor)))),
        body=substituted(body, {Call(DIVISION, (Id(variable), divisor)): quotient}),
    )
    inside = Binary("<", first, Id(HIGH))
    begin = Call(DIVISION, (Id(LOW), divisor))
    return Block(
        (
            Declare("const ptrdiff_t", LOW, start),
            Declare("const ptrdiff_t", HIGH, high),
            For(QUOTIENT, begin, inside, Literal("1"), (part,), ()),
        )
    )
