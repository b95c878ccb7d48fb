"""Whether the tiles of several arrays can stay in a set-associative cache together.

Analytical cache modelling of tensor contractions, section 5.2, equation 9: a packed tile spreads over all
sets and takes ⌈footprint / (sets · line)⌉ lines of each; the lines of all tiles may not exceed the ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheShape:
    """A set-associative cache; line in bytes."""

    sets: int
    ways: int
    line_bytes: int

    @staticmethod
    def of(size_bytes: int, ways: int, line_bytes: int = 64) -> CacheShape:
        """The shape of a cache by its size."""
        return CacheShape(max(1, size_bytes // (ways * line_bytes)), ways, line_bytes)


def lines_per_set(footprint_bytes: Mapping[str, float], cache: CacheShape) -> dict[str, int]:
    """Lines of each set that each packed tile takes."""
    way = cache.sets * cache.line_bytes
    return {array: max(1, -int(-size // way)) for array, size in footprint_bytes.items()}


def stays_resident(footprint_bytes: Mapping[str, float], cache: CacheShape) -> bool:
    """Whether no tile need evict another one."""
    return sum(lines_per_set(footprint_bytes, cache).values()) <= cache.ways
