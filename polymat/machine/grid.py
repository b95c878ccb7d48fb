"""Times measured at the points of a grid and read between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Grid:
    """Seconds at every combination of extents: `levels` of each axis, rising from 1; the last runs fastest.

    Between levels the logarithm of the time is linear in the logarithms of the extents, which is exact for
    every power of them; beyond the last level of an axis the time grows by the whole power of the extent that
    is nearest to its growth before: 2 for the order of a triangular matrix, 1 for most.

    steady: whether it stays there as it is at the last level, as ratios do.
    beyond: the times where the product of the extents is more than `seam`, if there they are others: those of
    another way to compute the same.
    """

    levels: tuple[tuple[int, ...], ...]
    seconds: tuple[float, ...]
    steady: bool = False
    seam: float = math.inf
    beyond: Grid | None = None

    def __post_init__(self) -> None:
        for levels in self.levels:
            if len(levels) < 2 or levels[0] != 1 or any(a >= b for a, b in pairwise(levels)):
                raise ValueError("levels rise from 1")
        if len(self.seconds) != math.prod(map(len, self.levels)):
            raise ValueError("a time for every point")
        if not all(0.0 < value < math.inf for value in self.seconds):
            raise ValueError("a time is more than nothing")

    def at(self, extents: Sequence[float]) -> float:
        """The time at any extents; those below 1 count as 1."""
        if self.beyond is not None and math.prod(max(extent, 1.0) for extent in extents) > self.seam:
            return self.beyond.at(extents)
        beyond = 1.0
        places: list[tuple[int, float]] = []
        for levels, power, extent in zip(self.levels, self.growth(), extents, strict=True):
            beyond *= max(1.0, extent / levels[-1]) ** power
            places.append(_place(levels, extent))
        return beyond * math.exp(self._interpolated(places, 0, 0))

    def growth(self) -> tuple[int, ...]:
        """The power of each extent by which the time grows beyond the last level, at least 1; 0 if steady."""
        if self.steady:
            return (0,) * len(self.levels)
        powers, stride = [], 1
        for levels in reversed(self.levels):
            grown = math.log(self.seconds[-1] / self.seconds[-1 - stride])
            powers.append(max(1, round(grown / math.log(levels[-1] / levels[-2]))))
            stride *= len(levels)
        return tuple(reversed(powers))

    def _interpolated(self, places: Sequence[tuple[int, float]], axis: int, offset: int) -> float:
        """The logarithm at these places, from the axis on; offset counts the points before."""
        if axis == len(places):
            return math.log(self.seconds[offset])
        lower, share = places[axis]
        offset = offset * len(self.levels[axis]) + lower
        below = self._interpolated(places, axis + 1, offset)
        return (
            below
            if share == 0.0
            else below + share * (self._interpolated(places, axis + 1, offset + 1) - below)
        )

    def bend(self) -> float:
        """By how much inner levels differ from what those beside them on an axis say, in logarithms.

        About as much as what is read between levels may be wrong: the root of the mean square.  What lies at
        1, below the least level, was not measured by itself.
        """
        squares = self._bends() + (self.beyond._bends() if self.beyond is not None else [])
        return math.sqrt(sum(squares) / len(squares)) if squares else 0.0

    def _bends(self) -> list[float]:
        """The squares of those differences on this side of the seam."""
        squares, stride = [], 1
        for levels in reversed(self.levels):
            for point in range(len(self.seconds)):
                at = point // stride % len(levels)
                if 1 < at < len(levels) - 1:
                    below, here, above = (math.log(self.seconds[point + k * stride]) for k in (-1, 0, 1))
                    share = math.log(levels[at] / levels[at - 1]) / math.log(levels[at + 1] / levels[at - 1])
                    squares.append((here - below - share * (above - below)) ** 2)
            stride *= len(levels)
        return squares

    def rising(self, most: float = 1.0) -> Grid:
        """The grid with no time above `most` times that of a larger point: disturbance only adds."""
        seconds = list(self.seconds)
        stride = 1
        for levels in reversed(self.levels):
            for point in range(len(seconds) - 1, -1, -1):
                if point // stride % len(levels) < len(levels) - 1:
                    seconds[point] = min(seconds[point], most * seconds[point + stride])
            stride *= len(levels)
        return Grid(self.levels, tuple(seconds))


def _place(levels: Sequence[int], extent: float) -> tuple[int, float]:
    """The level below an extent, and how far it is on the way to the next one, by logarithms."""
    if extent <= levels[0]:
        return 0, 0.0
    if extent >= levels[-1]:
        return len(levels) - 1, 0.0
    lower = next(k for k, level in enumerate(levels) if level > extent) - 1
    return lower, math.log(extent / levels[lower]) / math.log(levels[lower + 1] / levels[lower])
