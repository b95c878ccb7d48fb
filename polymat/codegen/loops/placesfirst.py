"""Sums into computed places: the places of several points in vectors, and then what is added to them.

A loop that adds to places that data say has no vectors, since two points may meet, and computes each place by
itself.  Places and addends depend on nothing that is added.  Measured (Zen 3, one thread): a histogram of
floats, a product, a conversion and a clamp each, took 0.43 of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    CCall,
    CExpr,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    expressions,
    substituted,
)
from polymat.codegen.c.needs import Need
from polymat.codegen.loops.innermost import straight_range, with_changed
from polymat.codegen.loops.pointblocks import Kept, in_two

PLACES, ADDENDS = "_pm_places", "_pm_addends"


def places_first(statements: Sequence[Stmt], array: str, ctype: str, needs: set[Need]) -> tuple[Stmt, ...]:
    """The statements with their innermost loops, where places take some computing, in two.

    array, ctype: what is added to.

    before:  for i: h[min(max(x[i], 0), 9)] += y[i]
    after:   for i by 64:  for 64: p = min(max(x[i], 0), 9), a = y[i];  for 64: h[p] += a
    """

    def changed(statement: Stmt) -> Stmt | None:
        match statement:
            case For(body=(*_, Assign(Subscript(Id(name), _)))) if name == array:
                return _split(statement, ctype, needs) or statement
            case _:
                return None

    return with_changed(statements, changed)


def _split(loop: For, ctype: str, needs: set[Need]) -> Stmt | None:
    span = straight_range(loop)
    *before, last = loop.body
    several = sum(isinstance(item, Assign) for item in loop.body) != 1
    if span is None or loop.pragmas or several or not isinstance(last, Assign):
        return None
    if not isinstance(last.target, Subscript) or not _takes_computing([*before, last]):
        return None
    value = _addend(last)
    kept = [Kept(PLACES, "ptrdiff_t", last.target.index, loop.variable)]
    known: dict[CExpr, CExpr] = {last.target: replace(last.target, index=kept[0].element)}
    if not isinstance(value, Literal):
        kept.append(Kept(ADDENDS, ctype, value, loop.variable))
        known[value] = kept[1].element
    return in_two(loop, span, before, kept, (substituted(last, known),), needs)


def _takes_computing(statements: Sequence[Stmt]) -> bool:
    """Whether a function is called for a place or an addend, a clamp say: else loads are all there is."""
    calls = [node for node in expressions(statements) if isinstance(node, CCall)]
    combining = isinstance(statements[-1], Assign) and statements[-1].op == "="
    return len(calls) > combining


def _addend(last: Assign) -> CExpr:
    """What is added, multiplied or compared with the element."""
    match last:
        case Assign(target, "=", CCall(_, (other, value))) if other == target:
            return value
        case _:
            return last.value
