"""Tiles of several dimensions by number: threads share all of them, not the outermost loop alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Declare, For, Id, Literal, Stmt
from polymat.codegen.c.needs import MAX_I64
from polymat.codegen.loops.rowtiles import FIRST
from polymat.codegen.memory.storage import TILE
from polymat.codegen.tilerun import LAST
from polymat.plan.tile import TilePlan

NUMBER, COUNT = "_pm_tile", "_pm_tiles"  # of a tile; with a number: how many there are along a dimension

Hulls = Sequence[tuple[CExpr, CExpr]]


def tile_count(plan: TilePlan, hulls: Hulls) -> CExpr:
    """How many tiles there are; needs `min_i64` and `max_i64`."""
    counts = (_along(hull, size) for hull, size in zip(hulls, plan.sizes, strict=True))
    return reduce(partial(CBinary, "*"), counts)


def numbered(plan: TilePlan, hulls: Hulls, ends: Sequence[Declare], body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The loop over the tiles of a thread, in the order of nested loops; ends: where a tile ends.

    before:  for tile0 by 8: for tile1 by 4: ...
    after:   for tile: tile0 = low0 + tile / tiles1 * 8;  tile1 = low1 + tile % tiles1 * 4;  ...
    """
    counts = [
        Declare("const ptrdiff_t", f"{COUNT}{level}", _along(hulls[level], plan.sizes[level]))
        for level in range(1, len(plan.dims))
    ]
    inside = (*_begins(plan, hulls), *ends, *body)
    return (*counts, For(NUMBER, Id(FIRST), CBinary("<", Id(NUMBER), Id(LAST)), Literal("1"), inside))


def _begins(plan: TilePlan, hulls: Hulls) -> Iterator[Declare]:
    """Where the tile of a number begins along every dimension."""
    last = len(plan.dims) - 1
    for level, size in enumerate(plan.sizes):
        place: CExpr = Id(NUMBER)
        behind = [Id(f"{COUNT}{k}") for k in range(level + 1, last + 1)]
        for count in behind:
            place = CBinary("/", place, count)
        if level > 0:
            place = CBinary("%", place, Id(f"{COUNT}{level}"))
        steps = place if size == 1 else CBinary("*", place, Literal(str(size)))
        low = hulls[level][0]
        begin = steps if low == Literal("0") else CBinary("+", low, steps)
        yield Declare("const ptrdiff_t", f"{TILE}{level}", begin)


def _along(hull: tuple[CExpr, CExpr], size: int) -> CExpr:
    low, high = hull
    length = high if low == Literal("0") else CBinary("-", high, low)
    if size > 1:
        length = CBinary("/", CBinary("+", length, Literal(str(size - 1))), Literal(str(size)))
    return CCall(MAX_I64.function, (length, Literal("0")))
