"""Tiles of several dimensions by number: threads share all of them, not the outermost loop alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Declare, For, Id, Literal, Stmt
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.loops.rowtiles import FIRST
from polymat.codegen.loops.toandfro import to_and_fro
from polymat.codegen.memory.storage import TILE
from polymat.codegen.tilerun import LAST
from polymat.plan.tile import TilePlan

NUMBER, COUNT = "_pm_tile", "_pm_tiles"  # of a tile; with a number: how many there are along a dimension
AROUND = "_pm_around"  # where a tile begins that has further tiles in it

Hulls = Sequence[tuple[CExpr, CExpr]]


def tile_count(plan: TilePlan, hulls: Hulls) -> CExpr:
    """How many tiles threads share; needs `min_i64` and `max_i64`."""
    counts = (_along(hulls[number], size) for number, size in plan.outermost)
    return reduce(partial(CBinary, "*"), counts)


def numbered(
    plan: TilePlan, hulls: Hulls, ends: Sequence[Declare], body: Sequence[Stmt], turning: str = ""
) -> tuple[Stmt, ...]:
    """The loop over the tiles of a thread, in the order of nested loops; ends: where a tile ends.

    turning: the name of a step in C: where that is odd, the last tile comes first.

    before:  for tile0 by 8: for tile1 by 4: ...
    after:   for tile: tile0 = low0 + tile / tiles1 * 8;  tile1 = low1 + tile % tiles1 * 4;  ...

    Loops over tiles in these tiles stand in it.
    """
    outermost = plan.outermost
    counts = [
        Declare("const ptrdiff_t", f"{COUNT}{k}", _along(hulls[number], size))
        for k, (number, size) in enumerate(outermost)
        if k > 0
    ]
    names = _names(plan)
    begins = _begins(plan, hulls, names)
    inside = (*begins, *_further(plan, hulls, names, (*ends, *body)))
    loop = For(NUMBER, Id(FIRST), CBinary("<", Id(NUMBER), Id(LAST)), Literal("1"), inside)
    if turning:
        loop = to_and_fro(loop, CBinary("-", Id(LAST), Literal("1")), turning)
    return (*counts, loop)


def _names(plan: TilePlan) -> list[str]:
    """The indices of all loops over tiles: that of the smallest tiles of a dimension is the tile's."""
    numbers = [number for number, _ in plan.levels]
    return [
        f"{AROUND}{number}_{k}" if number in numbers[k + 1 :] else f"{TILE}{number}"
        for k, number in enumerate(numbers)
    ]


def _begins(plan: TilePlan, hulls: Hulls, names: Sequence[str]) -> Iterator[Declare]:
    """Where the tile of a number begins along every dimension."""
    last = len(plan.outermost) - 1
    for k, (number, size) in enumerate(plan.outermost):
        place: CExpr = Id(NUMBER)
        behind = [Id(f"{COUNT}{further}") for further in range(k + 1, last + 1)]
        for count in behind:
            place = CBinary("/", place, count)
        if k > 0:
            place = CBinary("%", place, Id(f"{COUNT}{k}"))
        steps = place if size == 1 else CBinary("*", place, Literal(str(size)))
        low = hulls[number][0]
        begin = steps if low == Literal("0") else CBinary("+", low, steps)
        yield Declare("const ptrdiff_t", names[k], begin)


def _further(plan: TilePlan, hulls: Hulls, names: Sequence[str], body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The loops over tiles inside those that threads share, each within the tile of the loop around it."""
    levels, found = plan.levels, tuple(body)
    for k in range(len(levels) - 1, len(plan.outermost) - 1, -1):
        number, size = levels[k]
        around = next((j for j in range(k - 1, -1, -1) if levels[j][0] == number), None)
        low, high = hulls[number]
        first, stop = low, high
        if around is not None:
            first = Id(names[around])
            stop = CCall(MIN_I64.function, (CBinary("+", first, Literal(str(levels[around][1]))), high))
        found = (For(names[k], first, CBinary("<", Id(names[k]), stop), Literal(str(size)), found),)
    return found


def _along(hull: tuple[CExpr, CExpr], size: int) -> CExpr:
    low, high = hull
    length = high if low == Literal("0") else CBinary("-", high, low)
    if size > 1:
        length = CBinary("/", CBinary("+", length, Literal(str(size - 1))), Literal(str(size)))
    return CCall(MAX_I64.function, (length, Literal("0")))
