"""Predicted seconds of sums of products over a box of indices, before there are stages to plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from math import inf

from polymat.dataclass import dataclass
from polymat.idiom.profit import CALL_SECONDS, EFFICIENCY, product_share
from polymat.lang.types import ScalarType, real_part
from polymat.machine.model import MEMORY, Machine
from polymat.model.describe import COMPLEX_OPERATIONS
from polymat.model.team import sharing_seconds
from polymat.product.contraction import sides
from polymat.tilesize.kernelplanner import LEAST_POINTS
from polymat.tilesize.loopprice import OVERLAP_LOSS
from polymat.tilesize.stagework import VECTOR_SHARE


@dataclass(frozen=True, slots=True)
class _Team:
    """How fast threads are: operations a second, bytes a second by the size of a level, fixed seconds."""

    flops: float
    levels: tuple[tuple[float, float], ...]
    entering: float

    @staticmethod
    def of(machine: Machine, dtype: ScalarType, threads: int) -> _Team:
        levels = [(float(cache.bytes), machine.bandwidth(cache.level, threads)) for cache in machine.caches]
        memory = (inf, machine.bandwidth(MEMORY, threads))
        entering = sharing_seconds(machine) if threads > 1 else 0.0
        return _Team(machine.peak_flops(real_part(dtype).size, threads), (*levels, memory), entering)

    def seconds(self, operations: float, moved: float) -> float:
        """The longer of arithmetic and data movement, and what that does not hide of the other."""
        computing = operations / self.flops
        moving = moved / next(speed for size, speed in self.levels if moved <= size)
        hidden = min(computing, moving)
        return max(computing, moving) + OVERLAP_LOSS * hidden + CALL_SECONDS + self.entering


@dataclass(frozen=True, slots=True, eq=False)
class ContractionTime:
    """Predicted seconds of one loop nest over indices that are bits of a set.

    lengths: of the indices, by bit.  teams: one thread, and all, on which a nest runs that is long enough.
    """

    lengths: Sequence[float]
    dtype: ScalarType
    teams: tuple[_Team, ...]
    _points: dict[int, float] = field(default_factory=dict)

    @staticmethod
    def of(lengths: Sequence[float], dtype: ScalarType, machine: Machine, threads: int) -> ContractionTime:
        """The model for indices of these lengths; the first of them is the lowest bit."""
        teams = tuple(_Team.of(machine, dtype, each) for each in dict.fromkeys((1, threads)))
        return ContractionTime(lengths, dtype, teams)

    def points(self, indices: int) -> float:
        """How many points indices have together."""
        known = self._points.get(indices)
        if known is None:
            known = 1.0
            for bit, length in enumerate(self.lengths):
                if indices >> bit & 1:
                    known *= length
            self._points[indices] = known
        return known

    def seconds(self, factors: Sequence[int], result: int) -> float:
        """A product of elements over these indices each, summed over all that the result has not."""
        loops = result
        moved = self.points(result)
        for indices in factors:
            loops |= indices
            moved += self.points(indices)
        operations = self.points(loops) * len(factors)
        if self.dtype.kind == "c":
            operations *= COMPLEX_OPERATIONS
        share = self._share(factors, result) if len(factors) == 2 else VECTOR_SHARE
        size = self.dtype.size
        return min(team.seconds(operations / share, moved * size) for team in self.teams)

    def weight(self, factors: Sequence[int], result: int) -> float:
        """Operations of the peak in the time of one point, where all lengths are long."""
        is_product = len(factors) == 2 and all(_sides(factors, result)) and self.dtype.kind in "fc"
        return len(factors) / (EFFICIENCY if is_product else VECTOR_SHARE)

    def _share(self, factors: Sequence[int], result: int) -> float:
        """Of the peak: register blocks fill more of it, where rows, columns and depth are long."""
        groups = _sides(factors, result)
        lengths = [self.points(group) for group in groups]
        one = lengths[0] * lengths[1] * lengths[2]
        if self.dtype.kind not in "fc" or not all(groups) or one < LEAST_POINTS:
            return VECTOR_SHARE
        return max(product_share(lengths), VECTOR_SHARE)


def _sides(factors: Sequence[int], result: int) -> tuple[int, int, int]:
    left, right = factors
    return sides(left, right, result)


def bits(names: Collection[str], dims: Sequence[str]) -> int:
    """Some of the indices as a set of bits."""
    return sum(1 << bit for bit, dim in enumerate(dims) if dim in names)
