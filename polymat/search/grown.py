"""Sizes that the structured search takes: pieces of an extent, grown until they fill a good part of a cache.

Tollenaere and others grow a tile from the inside, dimension by dimension, until it takes more than half of a
cache, and reuse it there; the next dimensions are grown for the next cache.  Sizes divide the extent into
nearly equal pieces, in whole units of what is inside.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from random import Random

FILLED = 0.5  # of a cache, from which on a tile is reused in it
MOST_PIECES = 64  # that an extent is cut into


def pieces(extent: int, unit: int) -> tuple[int, ...]:
    """Sizes of nearly equal pieces of an extent in whole units, largest first: one piece, two, and so on."""
    found = (ceil(ceil(max(1, extent) / number) / unit) * unit for number in range(1, MOST_PIECES + 1))
    return tuple(dict.fromkeys(found))


def filling(extent: int, unit: int, element_bytes: float, cache_bytes: float) -> tuple[int, ...]:
    """The pieces that take more than half of a cache and no more than it has; the largest that fits else.

    element_bytes: of one step along the extent.
    """
    fitting = [size for size in pieces(extent, unit) if size * element_bytes <= cache_bytes]
    filled = [size for size in fitting if size * element_bytes > FILLED * cache_bytes]
    return tuple(filled or fitting[:1] or [unit])


def grown_tile(
    start: tuple[int, ...],
    most: tuple[int, ...],
    size_of: Callable[[tuple[int, ...]], float],
    cache_bytes: float,
    rng: Random,
) -> tuple[int, ...]:
    """A tile that is doubled along one dimension after the other, in a random order, until it fills a cache.

    most: sizes that it does not grow beyond.  size_of: bytes of a tile.
    """
    sizes = start
    while size_of(sizes) <= FILLED * cache_bytes:
        levels = [level for level in range(len(sizes)) if sizes[level] < most[level]]
        if not levels:
            break
        level = rng.choice(levels)
        sizes = tuple(min(2 * s, most[k]) if k == level else s for k, s in enumerate(sizes))
    return sizes
