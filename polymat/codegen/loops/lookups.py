"""Look-ups in tables of small elements: the places of several points in vectors, and then what is there.

Processors gather elements of four and eight bytes.  A loop that reads smaller ones where data say has no
vectors, so that it would compute each place by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Stmt,
    Subscript,
    Ternary,
    always_evaluated,
    expressions,
    names_in,
)
from polymat.codegen.c.needs import Helper, Need
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import is_element
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.pointblocks import Kept, in_two
from polymat.lang.types import ALL_TYPES, ScalarType

LEAST_COMPUTED = 3  # operations of a place that are worth vectors of their own
LARGEST = 2  # bytes of an element that is not gathered
PLACES = "_pm_looked_up"
INDEX = "ptrdiff_t"
_TYPES = {dtype.suffix: dtype.c for dtype in ALL_TYPES if dtype.kind in "iu"}


def lookups_last(
    statements: Sequence[Stmt], arrays: Mapping[str, ScalarType], needs: set[Need]
) -> tuple[Stmt, ...]:
    """The statements with their innermost loops on vectors, where such a place takes some computing, in two.

    arrays: element types, by name.

    before:  for i: y[i] = table[min(max(2 * x[i] + z[i], 0), 255)]
    after:   for i by 64:  for 64: p = min(max(2 * x[i] + z[i], 0), 255);  for 64: y[i] = table[p]
    """
    small = {name for name, dtype in arrays.items() if dtype.kind in "iub" and dtype.size <= LARGEST}
    return with_innermost(statements, lambda loop: _split(loop, small, needs)) if small else tuple(statements)


def _split(loop: For, small: set[str], needs: set[Need]) -> Stmt | None:
    span = straight_range(loop)
    if span is None:
        return None
    assigned = [item for item in loop.body if isinstance(item, Assign)]
    declared = [item for item in loop.body if isinstance(item, Declare)]
    places = tuple(dict.fromkeys(place for item in assigned for place in _places(item.value, small)))
    kept = [
        Kept(f"{PLACES}{number}", _type(place.operand, needs), place.operand, loop.variable)
        for number, place in enumerate(places)
    ]
    known: dict[CExpr, CExpr] = {
        place: replace(place, operand=each.element) for place, each in zip(places, kept, strict=True)
    }
    looked_up = tuple(substituted(item, known) for item in assigned)
    if not places or {item.name for item in declared} & names_in(looked_up):
        return None
    return in_two(loop, span, declared, kept, looked_up, needs)


def _places(value: CExpr, small: set[str]) -> list[Cast]:
    """The computed indices of elements of those arrays, of which all that a value takes are computed."""
    indices = [node.index for node in always_evaluated([Evaluate(value)]) if is_element(node, small)]
    computed = [part for index in indices for part in always_evaluated([Evaluate(index)])]
    return [
        part
        for part in computed
        if isinstance(part, Cast) and part.ctype == INDEX and _operations(part) >= LEAST_COMPUTED
    ]


def _within(value: CExpr) -> Iterator[CExpr]:
    return expressions([Evaluate(value)])


def _operations(value: CExpr) -> int:
    """How much is computed, beside the places of what is read."""
    places = [node.index for node in _within(value) if isinstance(node, Subscript)]
    return _counted(value) - sum(map(_counted, places))


def _counted(value: CExpr) -> int:
    return sum(isinstance(node, CBinary | CCall | Ternary) for node in _within(value))


def _type(value: CExpr, needs: set[Need]) -> str:
    """A C type that holds an index: the value's own where a conversion or a helper gives it."""
    if isinstance(value, Cast):
        return value.ctype
    helpers = (need for need in needs if isinstance(need, Helper) and need.suffix in _TYPES)
    return next((_TYPES[each.suffix] for each in helpers if _is_call(value, each)), INDEX)


def _is_call(value: CExpr, helper: Helper) -> bool:
    return isinstance(value, CCall) and value.function == helper.function
