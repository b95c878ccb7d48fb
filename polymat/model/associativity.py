"""Whether the tiles of several arrays can stay in a set-associative cache together.

Analytical cache modelling of tensor contractions, section 5.2, equation 9: a packed tile spreads over all
sets and takes ⌈footprint / (sets · line)⌉ lines of each; the lines of all tiles may not exceed the ways.
"""

from __future__ import annotations

from collections.abc import Mapping

from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CacheShape:
    """A set-associative cache; line in bytes."""

    sets: int
    ways: int
    line_bytes: int

    @staticmethod
    def of(size_bytes: int, ways: int, line_bytes: int) -> CacheShape:
        """The shape of a cache by its size."""
        return CacheShape(max(1, size_bytes // (ways * line_bytes)), ways, line_bytes)


def rows_kept(cache: CacheShape) -> int:
    """Rows of an array whose lines may lie in one set: a power of two; the rest is for others."""
    return 1 << max(0, (2 * cache.ways // 3).bit_length() - 1)


def rows_that_stay(apart_bytes: int, cache: CacheShape) -> int:
    """Rows so many bytes apart of which a line each stays in the cache.

    Addresses a way apart lie in one set, so that rows of a distance with a large power of two as a factor
    share few sets.
    """
    way = cache.sets * cache.line_bytes
    power = min(max(apart_bytes & -apart_bytes, cache.line_bytes), way)
    return rows_kept(cache) * way // power


def lines_per_set(footprint_bytes: Mapping[str, float], cache: CacheShape) -> dict[str, int]:
    """Lines of each set that each packed tile takes."""
    way = cache.sets * cache.line_bytes
    return {array: max(1, -int(-size // way)) for array, size in footprint_bytes.items()}


def stays_resident(footprint_bytes: Mapping[str, float], cache: CacheShape) -> bool:
    """Whether no tile need evict another one."""
    return sum(lines_per_set(footprint_bytes, cache).values()) <= cache.ways
