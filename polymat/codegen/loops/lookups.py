"""Look-ups in tables of small elements: the places of several points in vectors, and then what is there.

Processors gather elements of four and eight bytes.  A loop that reads smaller ones where data say has no
vectors, so that it would compute each place by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    Ternary,
    always_evaluated,
    expressions,
    names_in,
    substituted,
)
from polymat.codegen.c.needs import MIN_I64, Need
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.lang.types import ScalarType

TOGETHER = 128  # points
LEAST_COMPUTED = 3  # operations of a place that are worth vectors of their own
LARGEST = 2  # bytes of an element that is not gathered
FIRST, END, HIGH, PLACES = "_pm_look_first", "_pm_look_end", "_pm_look_high", "_pm_looked_up"
INDEX = "ptrdiff_t"
_SUFFIX = re.compile(r"_(u?)i?(8|16|32|64)$")


def lookups_last(
    statements: Sequence[Stmt], arrays: Mapping[str, ScalarType], needs: set[Need]
) -> tuple[Stmt, ...]:
    """The statements with their innermost loops on vectors, where such a place takes some computing, in two.

    arrays: element types, by name.

    before:  for i: y[i] = table[min(max(2 * x[i] + z[i], 0), 255)]
    after:   for i by 128:  for 128: p = min(max(2 * x[i] + z[i], 0), 255);  for 128: y[i] = table[p]
    """
    small = {name for name, dtype in arrays.items() if dtype.kind in "iub" and dtype.size <= LARGEST}
    return with_innermost(statements, lambda loop: _split(loop, small, needs)) if small else tuple(statements)


def _split(loop: For, small: set[str], needs: set[Need]) -> Stmt | None:
    span = straight_range(loop)
    if span is None:
        return None
    assigned = [item for item in loop.body if isinstance(item, Assign)]
    places = tuple(dict.fromkeys(place for item in assigned for place in _places(item.value, small)))
    known: dict[CExpr, CExpr] = {}
    point, first = Id(loop.variable), Id(FIRST)
    found: list[Stmt] = [item for item in loop.body if isinstance(item, Declare)]
    rooms = []
    for number, place in enumerate(places):
        name = f"{PLACES}{number}"
        room = Subscript(Id(name), CBinary("-", point, first))
        found.append(Assign(room, "=", place.operand))
        known[place] = replace(place, operand=room)
        rooms.append(Declare(_type(place.operand), f"{name}[{TOGETHER}]"))
    looked_up = tuple(substituted(item, known) for item in assigned)
    declared = {item.name for item in loop.body if isinstance(item, Declare)}
    if not places or declared & names_in(looked_up):
        return None
    needs.add(MIN_I64)
    high = CBinary("+", first, Literal(str(TOGETHER)))
    inside = CBinary("<", point, Id(END))
    part = For(loop.variable, first, inside, Literal("1"), tuple(found), loop.pragmas)
    reading = replace(part, body=looked_up, pragmas=())
    last_one = Declare("const ptrdiff_t", END, CCall(MIN_I64.function, (high, Id(HIGH))))
    blocks = For(
        FIRST,
        span[0],
        CBinary("<", first, Id(HIGH)),
        Literal(str(TOGETHER)),
        (*rooms, last_one, part, reading),
    )
    return Block((Declare("const ptrdiff_t", HIGH, span[1]), blocks))


def _places(value: CExpr, small: set[str]) -> list[Cast]:
    """The computed indices of elements of those arrays, of which all that a value takes are computed."""
    indices = [node.index for node in always_evaluated([Evaluate(value)]) if _is_element(node, small)]
    computed = [part for index in indices for part in always_evaluated([Evaluate(index)])]
    return [
        part
        for part in computed
        if isinstance(part, Cast) and part.ctype == INDEX and _operations(part) >= LEAST_COMPUTED
    ]


def _is_element(node: CExpr, arrays: set[str]) -> TypeGuard[Subscript]:
    return isinstance(node, Subscript) and isinstance(node.array, Id) and node.array.name in arrays


def _within(value: CExpr) -> Iterator[CExpr]:
    return expressions([Evaluate(value)])


def _operations(value: CExpr) -> int:
    """How much is computed, beside the places of what is read."""
    places = [node.index for node in _within(value) if isinstance(node, Subscript)]
    return _counted(value) - sum(map(_counted, places))


def _counted(value: CExpr) -> int:
    return sum(isinstance(node, CBinary | CCall | Ternary) for node in _within(value))


def _type(value: CExpr) -> str:
    """A C type that holds an index: the value's own where that shows."""
    if isinstance(value, Cast):
        return value.ctype
    found = _SUFFIX.search(value.function) if isinstance(value, CCall) else None
    return INDEX if found is None else f"{'u' if found[1] else ''}int{found[2]}_t"
