"""Ways and prices of products at the very sizes where the table of ways goes over to another one."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from polymat.machine.known import ZEN3
from polymat.product.asked import FACTS, NUMBERS
from polymat.product.blocks import blocks_of
from polymat.product.formula import Values
from polymat.product.prices import price
from polymat.product.question import machine_values
from polymat.product.ways import Way, way_of

BLOCKS = blocks_of(ZEN3, 8)
LETTERS = dict(zip(Way, "ulrcTnsgpbRCd", strict=True))
# On both sides of what conditions compare with: register blocks, few rows or columns, and what fits in the
# second level once or twice with the depths below.
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 23, 24, 25, 47, 48, 49, 64, 65, 91, 128, 256, 511, 512, 513)
LONG = (1024, 2048, 4096, 4097, 8192, 32768)
DEPTHS = (1, 3, 15, 16, 31, 32, 64, 65, 96, 128, 256, 1024, 1025)
LIES = {
    "AB": ("along", "in_order"),
    "ATB": ("rowwise", "in_order"),
    "ABT": ("along", "down"),
    "ATBT": ("rowwise", "down"),
}


def asked(lies: str, m: int, n: int, k: int) -> Values:
    """A product of matrices whose operands lie so, in one segment."""
    values = {each.name: 0.0 for each in FACTS} | {each.name: 1.0 for each in NUMBERS} | {"place": 0.0}
    holds = dict.fromkeys(LIES[lies], 1.0)
    step = {"left_power": float(m & -m), "right_power": float(n & -n)}
    return values | machine_values(BLOCKS) | holds | step | {"m": float(m), "n": float(n), "k": float(k)}


@pytest.mark.parametrize("lies", LIES)
def test_ways_at_limits(lies: str, golden: Callable[[str], None]) -> None:
    """A letter for each product: a row of them for each number of rows, columns of results along it."""
    sizes = (*EXTENTS, *LONG)
    lines = [" ".join(f"{letter} {way.value}," for way, letter in LETTERS.items()).rstrip(",")]
    for k in DEPTHS:
        lines.append(f"depth {k}")
        for m in sizes:
            letters = "".join(LETTERS[way_of(asked(lies, m, n, k))] for n in sizes)
            lines.append(f"{m:>5} {letters}")
    golden("\n".join(lines))


TOLD = ("m", "n", "k", "place", "row_segments", "column_segments", "depth_segments")
FREE = ("mirrored", "handed", "ended", "started", "past")


def drawn(draw: random.Random) -> Values:
    """A product of segments, of which a part is a triangle in one of two."""

    def extent() -> int:
        return draw.choice((draw.randint(1, 40), draw.randint(1, 5000)))

    values = asked(draw.choice([*LIES]), extent(), extent(), extent())
    segments = {f"{each}_segments": draw.choice((1.0, 1.0, 3.0)) for each in ("row", "column", "depth")}
    facts = {name: float(draw.random() < 0.3) for name in FREE}
    return values | segments | facts | {"place": float(draw.choice((0, 0, 0, 1, 2, 3)))}


def test_prices_of_segments_and_triangles(golden: Callable[[str], None]) -> None:
    """Operations in every way, possible or not: formulas know nothing of that."""
    draw = random.Random(7)
    lines = []
    for _ in range(40):
        values = drawn(draw)
        told = [f"{name} {values[name]:g}" for name in TOLD]
        lines.append(", ".join((*told, *(each.name for each in FACTS if values[each.name]))))
        lines += [
            f"  {way.name.lower()} {price(way).at(values):.6g}" for way in Way if way is not Way.UNROLLED
        ]
    golden("\n".join(lines))
