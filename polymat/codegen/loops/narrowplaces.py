"""Look-ups of elements of four bytes at computed places: places of four bytes as well, where arrays allow it.

Processors gather such elements by places of four bytes and of eight, gcc (up to 12 at least) by four alone: a
loop with places of eight it computes element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import Cast, CExpr, For, Id, If, Stmt, Subscript, expressions
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import is_element
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.lookups import INDEX
from polymat.codegen.loops.streamedrows import is_larger
from polymat.codegen.memory.storage import Buffer
from polymat.lang.affine import Affine

BYTES = 4  # of elements, and of places
NARROW = "int32_t"
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
    found: dict[CExpr, CExpr] = {
        node: replace(node, index=Cast(NARROW, node.index))
        for node in expressions(loop.body)
        if is_element(node, arrays) and _is_computed(node)
    }
    if not found:
        return None
    names = {part.name for node in found for part in expressions([node]) if isinstance(part, Id)}
    large = is_larger(size, [each for name, each in arrays.items() if name in names], MOST)
    fast = replace(loop, body=tuple(substituted(item, found) for item in loop.body))
    return If(large, (replace(loop, pragmas=()),), (fast,))


def _is_computed(node: Subscript) -> bool:
    """Whether the place is computed with, beside an element that says it, which gcc sees by itself."""
    parts = [each for each in expressions([node.index]) if isinstance(each, Cast) and each.ctype == INDEX]
    return any(not isinstance(part.operand, Subscript) for part in parts)
