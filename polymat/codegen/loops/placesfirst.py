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
)
from polymat.codegen.c.needs import Need
from polymat.codegen.c.othernames import substituted
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
                return _split(statement, array, ctype, needs) or statement
            case _:
                return None

    return with_changed(statements, changed)


def _split(loop: For, array: str, ctype: str, needs: set[Need]) -> Stmt | None:
    span = straight_range(loop)
    before = [item for item in loop.body if not isinstance(item, Assign)]
    added = [item for item in loop.body if isinstance(item, Assign)]
    if span is None or loop.pragmas or not all(_is_into(item, array) for item in added):
        return None
    if not _takes_computing(before, added):
        return None
    kept: list[Kept] = []
    then: list[Stmt] = []
    for item in added:
        assert isinstance(item.target, Subscript), "an element of the array"
        value, number = _addend(item), "" if len(added) == 1 else str(len(then))
        place = Kept(f"{PLACES}{number}", "ptrdiff_t", item.target.index, loop.variable)
        known: dict[CExpr, CExpr] = {item.target: replace(item.target, index=place.element)}
        kept.append(place)
        if not isinstance(value, Literal):
            kept.append(Kept(f"{ADDENDS}{number}", ctype, value, loop.variable))
            known[value] = kept[-1].element
        then.append(substituted(item, known))
    return in_two(loop, span, before, kept, then, needs)


def _is_into(item: Assign, array: str) -> bool:
    return isinstance(item.target, Subscript) and item.target.array == Id(array)


def _takes_computing(before: Sequence[Stmt], added: Sequence[Assign]) -> bool:
    """Whether a function is called for a place or an addend, a clamp say: else loads are all there is."""
    calls = [node for node in expressions([*before, *added]) if isinstance(node, CCall)]
    return len(calls) > sum(item.op == "=" for item in added)


def _addend(last: Assign) -> CExpr:
    """What is added, multiplied or compared with the element."""
    match last:
        case Assign(target, "=", CCall(_, (other, value))) if other == target:
            return value
        case _:
            return last.value
