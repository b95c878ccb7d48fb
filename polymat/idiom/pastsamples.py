"""Terms of recurrences: their signs, and how many steps old the samples are that they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polymat.graph.stage import Ref
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Binary, Const, Expr, Load, Unary
from polymat.lang.types import WEAK_INT


def signed_terms(expr: Expr, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    """The terms of a sum, each with its sign."""
    stack = [(sign, expr)]
    while stack:
        now, node = stack.pop()
        match node:
            case Binary("+", left, right):
                stack += [(now, right), (now, left)]
            case Binary("-", left, right):
                stack += [(-now, right), (now, left)]
            case Unary("-", operand):
                stack.append((-now, operand))
            case _:
                yield now, node


def moving_element(expr: Expr, time: str) -> tuple[Ref, tuple[Affine, ...]] | None:
    """An element that moves by one along one of its dimensions with a step."""
    if not isinstance(expr, Load):
        return None
    moving = [form for form in expr.indices if time in form.names()]
    if len(moving) != 1 or moving[0].coefficient(time) != 1 or computed_in(expr.indices):
        return None
    return expr.source, expr.indices


def steps_between(
    newer: tuple[Affine, ...], older: tuple[Affine, ...], time: str, now: Mapping[str, Affine]
) -> int | None:
    """How many steps before an element another one is that differs from it in its step alone."""
    found = 0
    for one, other in zip(newer, older, strict=True):
        difference = one.substitute(now) - other.substitute(now)
        if time not in one.names() and difference != Affine():
            return None
        if not difference.is_constant:
            return None
        found = difference.const if time in one.names() else found
    return found


def negative(coefficient: Expr | None) -> Expr:
    match coefficient:
        case None:
            return Const(-1, WEAK_INT)
        case Const(value):
            return Const(-value, coefficient.dtype)
        case _:
            return -coefficient
