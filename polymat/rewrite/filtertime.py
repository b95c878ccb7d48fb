"""The ways of computing a filter, or several of one signal, and their predicted seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Literal, TypeAlias

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.lang.fftfilters import kept_of
from polymat.lang.types import ScalarType
from polymat.machine.model import Machine
from polymat.model.extents import extent
from polymat.options import Options
from polymat.rewrite.transformtime import Transforms, easy_length
from polymat.tilesize.filterprice import filter_seconds

SIZES = tuple(sorted(m << n for n in range(6, 20) for m in (2, 3)))  # points of the transforms of blocks
# Passes over a block in memory that take as long as what is around its transforms.  Where a block goes
# through all stages in the second-level cache, those of the signal and of each filter; else for all arrays of
# all blocks, with what the transforms take longer from memory.  Measured on two million samples, one thread:
# 4.0 to 5.9 of 512 to 8192 points in double precision, 6.5 to 9 in single; from memory 16 to 26.
CACHED = (2.5, 3.0)
FROM_MEMORY = (8.0, 12.0)
ARRAYS = 2  # of a block for the signal, and as many for each filter
STEPS = 8  # at least so many multiples of a power of two are the length of one that depends on sizes

Kind: TypeAlias = Literal["direct", "blocks", "whole"]


@dataclass(frozen=True, slots=True)
class FilterWay:
    """How filters are computed: by sums, by transforms of blocks of so many points, or by one transform."""

    kind: Kind
    seconds: float
    points: Affine

    def __str__(self) -> str:
        how = {
            "direct": "sums",
            "blocks": f"transforms of blocks of {self.points} samples",
            "whole": f"transforms of all as {self.points} samples",
        }
        return f"{self.seconds:.3g} s by {how[self.kind]}"


@dataclass(frozen=True, slots=True)
class Task:
    """Filters of one signal: how many samples a result needs (of all filters together), how many results.

    taps: of each filter.  step: every so many results are kept, and sums compute no others.
    """

    taps: tuple[Affine, ...]
    reach: Affine
    length: Affine
    dtype: ScalarType
    step: int = 1


@dataclass(frozen=True, slots=True)
class FilterTimes:
    """Predicts the ways; sizes: what is assumed of every size."""

    transforms: Transforms
    options: Options
    sizes: Mapping[str, int]

    def ways(self, task: Task) -> list[FilterWay]:
        """Those that `Options` leaves, the quickest first; sums where there is none."""
        found = {"direct": self._direct, "blocks": self._blocks, "whole": self._whole}
        wanted = {"auto": ("direct", "blocks", "whole"), "fft": ("blocks", "whole")}
        kinds = wanted.get(self.options.fir, (self.options.fir,))
        ways = [way for kind in kinds if (way := found[kind](task)) is not None]
        return sorted(ways or [self._direct(task)], key=lambda way: way.seconds)

    @property
    def machine(self) -> Machine:
        """The machine that is predicted for."""
        return self.transforms.machine

    @property
    def _threads(self) -> int:
        return self.machine.team(self.options.threads)

    def at(self, form: Affine) -> float:
        """A length at what is assumed of the sizes; at least 1."""
        return max(extent(form, self.sizes), 1.0)

    def _direct(self, task: Task) -> FilterWay:
        """Each filter for itself, whose samples are as many as its results with those that are not kept."""
        length = self.at(task.length)
        each = partial(
            filter_seconds, self.machine, task.dtype, self._threads, samples=length, step=task.step
        )
        seconds = (each(taps=self.at(count), results=length / task.step) for count in task.taps)
        return FilterWay("direct", sum(seconds), Affine())

    def _blocks(self, task: Task) -> FilterWay | None:
        """Of all blocks, one after the other; the spectra of the taps count as more transforms."""
        if not task.reach.is_constant:
            return None
        points = [size for size in SIZES if size > task.reach.const]
        times = {size: self._blocks_time(task, size) for size in points}
        best = min(points, key=times.__getitem__, default=None)
        return None if best is None else FilterWay("blocks", times[best], Affine((), best))

    def _blocks_time(self, task: Task, points: int) -> float:
        count = math.ceil(self.at(task.length) / kept_of(points, task.reach.const, task.step))
        used = min(count, self._threads)
        filters = len(task.taps)
        transform = self.transforms.seconds(task.dtype, points)
        room = ARRAYS * (1 + filters) * points * task.dtype.size
        first, each = CACHED if self._is_tiled and room <= self.machine.l2_bytes else FROM_MEMORY
        passes = (first + each * filters) * points
        blocks = (1 + filters) * transform + self.transforms.pass_seconds(task.dtype, passes)
        return math.ceil(count / used) * blocks + filters * transform

    @property
    def _is_tiled(self) -> bool:
        return self.options.fuse and self.options.tile

    def _whole(self, task: Task) -> FilterWay:
        """One transform for the signal, and two for each filter of which that of its taps may be kept."""
        points = self._length(task.length + task.reach - 1)
        count, filters = round(self.at(points)), len(task.taps)
        transform = self.transforms.seconds(task.dtype, count)
        passes = (FROM_MEMORY[0] + FROM_MEMORY[1] * filters) * count
        if ARRAYS * (1 + filters) * count * task.dtype.size <= self.machine.l2_bytes:
            passes = (CACHED[0] + CACHED[1] * filters) * count
        seconds = (1 + 2 * filters) * transform + self.transforms.pass_seconds(task.dtype, passes)
        return FilterWay("whole", seconds, points)

    def _length(self, least: Affine) -> Affine:
        """A length from there on that transforms find easy: of known sizes, else at the estimates."""
        if not least.is_constant:
            step = 1 << max(int(self.at(least) // STEPS).bit_length() - 1, 1)
            return (least + (step - 1)).floordiv(step).scale(step)
        return Affine((), easy_length(least.const))
