"""Grids of products that a library computes in two ways, by how many multiplications they have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import median

from polymat.machine.grid import Grid

PACKED_FROM = 1e6
"""Multiplications beyond which OpenBLAS copies operands that kernels for a processor do not: 100 cubed."""
CLEAR = 0.1
"""By how much longer a multiplication takes beyond a seam, in logarithms: larger products else take less."""


def parted(grid: Grid, seam: float = PACKED_FROM) -> Grid:
    """The grid with other times beyond a seam, if a multiplication clearly takes longer there.

    What a side has not at a point is what it has at the nearest one along the longest extents, since short
    ones say how fast a product is.
    """
    if grid.beyond is not None:
        return grid
    points = _Points(grid)
    if points.jump(seam) < CLEAR:
        return grid
    above = replace(grid, seconds=points.side(seam, beyond=True))
    return replace(grid, seconds=points.side(seam, beyond=False), seam=seam, beyond=above)


class _Points:
    """The points of a grid by their numbers: their extents, and the time of a multiplication, or a ratio."""

    def __init__(self, grid: Grid) -> None:
        self._extents = [*product(*grid.levels)]
        self._sizes = [math.prod(extents) for extents in self._extents]
        self._scales = [1] * len(self._sizes) if grid.steady else self._sizes
        self._each = [time / scale for time, scale in zip(grid.seconds, self._scales, strict=True)]
        self._axes = [
            (math.prod(map(len, grid.levels[axis + 1 :])), levels[0], levels[-1])
            for axis, levels in enumerate(grid.levels)
        ]

    def jump(self, seam: float) -> float:
        """By how much the logarithm of the time of a multiplication rises from level to level across it."""
        found = [math.log(self._each[after] / self._each[before]) for before, after in self._across(seam)]
        return median(found) if found else 0.0

    def _across(self, seam: float) -> Iterator[tuple[int, int]]:
        """Neighbours on either side, of extents that were measured: not 1, which stands for what is short."""
        for point, extents in enumerate(self._extents):
            if self._sizes[point] > seam or 1 in extents:
                continue
            for extent, (stride, _, last) in zip(extents, self._axes, strict=True):
                if extent < last and self._sizes[point + stride] > seam:
                    yield point, point + stride

    def side(self, seam: float, *, beyond: bool) -> tuple[float, ...]:
        """The times on one side, at all points."""
        found: dict[int, float] = {}
        numbers = range(len(self._sizes))
        for point in reversed(numbers) if beyond else numbers:  # those that others take theirs from first
            there = (self._sizes[point] > seam) == beyond
            near = None if there else self._towards(point, beyond=beyond)
            found[point] = self._each[point] if near is None else found[near]
        return tuple(found[point] * self._scales[point] for point in numbers)

    def _towards(self, point: int, *, beyond: bool) -> int | None:
        """The point beside one on the way to a side: the longest extent that can be is another one."""
        free = [
            (extent, -axis, stride if beyond else -stride)
            for axis, (extent, (stride, first, last)) in enumerate(
                zip(self._extents[point], self._axes, strict=True)
            )
            if extent != (last if beyond else first)
        ]
        return point + max(free)[2] if free else None
