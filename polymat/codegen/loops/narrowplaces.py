"""Look-ups of elements of four bytes at computed places: places of four bytes as well, where arrays allow it.

Processors gather such elements by places of four bytes and of eight, gcc (up to 12 at least) by four alone: a
loop with places of eight it computes element by element.  A gather loads no quicker than one read after the
other: what is computed with the elements has to be worth the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CExpr,
    Declare,
    For,
    Id,
    If,
    Stmt,
    Subscript,
    expressions,
    names_in,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import is_element
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.lookups import INDEX
from polymat.codegen.loops.streamedrows import is_larger
from polymat.codegen.memory.storage import Buffer
from polymat.lang.affine import Affine
from polymat.lang.types import ALL_TYPES

BYTES = 4  # of elements, and of places
NARROW = "int32_t"
_INTEGERS = tuple(f"_{dtype.suffix}" for dtype in ALL_TYPES if dtype.kind in "iu")  # ends of helpers' names
WORTH = 3  # operations a look-up for which vectors pay
FUNCTION = 8  # operations that a function of real numbers is worth, minima and maxima among them
MOST = BYTES * (2**31 - 1)  # bytes of arrays of which each element has a place of four bytes


def with_narrow_places(
    statements: Sequence[Stmt], arrays: Mapping[str, Buffer], size: Callable[[Affine], CExpr]
) -> tuple[Stmt, ...]:
    """The statements with innermost loops that look such elements up once more, with short places.

    arrays: by name.

    before:  for i: y[i] = t[p * n + q]
    after:   if t is large: the same, one by one;  else: for i: y[i] = t[(int32_t)(p * n + q)]
    """
    there = {name: each for name, each in arrays.items() if each.dtype.size == BYTES and _is_whole(each)}
    return (
        with_innermost(statements, lambda loop: _narrowed(loop, there, size)) if there else tuple(statements)
    )


def _is_whole(buffer: Buffer) -> bool:
    return buffer.place != "scratchpad" and not buffer.folds and buffer.ring is None


def _narrowed(loop: For, arrays: Mapping[str, Buffer], size: Callable[[Affine], CExpr]) -> Stmt | None:
    if straight_range(loop) is None:
        return None
    found = dict.fromkeys(
        node for node in expressions(loop.body) if is_element(node, arrays) and _is_computed(node)
    )
    if not found or _computed_beside(loop, found) < WORTH * len(found):
        return None
    names = {part.name for node in found for part in expressions([node]) if isinstance(part, Id)}
    large = is_larger(size, [each for name, each in arrays.items() if name in names], MOST)
    narrow: dict[CExpr, CExpr] = {node: replace(node, index=Cast(NARROW, node.index)) for node in found}
    fast = replace(loop, body=tuple(substituted(item, narrow) for item in loop.body))
    return If(large, (replace(loop, pragmas=()),), (fast,))


def _computed_beside(loop: For, found: Iterable[Subscript]) -> int:
    """Operations of a point of a loop, without those of places."""
    named = names_in(node.index for node in found)
    values = [
        item.value
        for item in loop.body
        if isinstance(item, Assign | Declare)
        and item.value is not None
        and not (isinstance(item, Declare) and item.name in named)
    ]
    indices = [node.index for node in expressions(values) if isinstance(node, Subscript)]
    return _operations(values) - _operations(indices)


def _operations(values: Iterable[CExpr]) -> int:
    nodes = [*expressions(values)]
    calls = [node for node in nodes if isinstance(node, CCall) and not node.function.endswith(_INTEGERS)]
    arithmetic = [node for node in nodes if isinstance(node, CBinary) and node.op in ("+", "-", "*", "/")]
    return len(arithmetic) + FUNCTION * len(calls)


def _is_computed(node: Subscript) -> bool:
    """Whether the place is computed with, beside an element that says it, which gcc sees by itself."""
    parts = [each for each in expressions([node.index]) if isinstance(each, Cast) and each.ctype == INDEX]
    return any(not isinstance(part.operand, Subscript) for part in parts)
