"""What moves into every cache for many sizes of its tiles at a time.

Analytical cache modelling of tensor contractions, sections 3.1, 3.2 and 5.2.  A nest has a band of loops for
every cache, which run over the tiles that the cache holds, and one band around all of these.  An array moves
again with every tile but where the innermost loops of a band do not move it: of one index, none does that
another index of the same arrays would not do as well, so that what matters of the order within a band is
which arrays its innermost loops leave where they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass
from polymat.machine.model import Cache
from polymat.model.loopnest import LoopNest
from polymat.model.uniform import Matrix, UniformClass

Sizes = npt.NDArray[np.float64]
"""Tiles as rows of sizes by dimension, in the order of the nest."""


@dataclass(frozen=True, eq=False)
class TiledArray:
    """An array of a nest: where its elements lie.

    steps: bytes from one element to the next along each dimension that moves it.  copied: whether its tiles
    are copied, so that their elements are neighbours.  slowdown: times as long as lines in a row its lines
    take to come.
    """

    group: UniformClass
    steps: Mapping[str, int]
    copied: bool = False
    slowdown: float = 1.0

    def moves_along(self, dim: str) -> bool:
        """Whether an index moves it."""
        return dim in self._dims

    @cached_property
    def _dims(self) -> frozenset[str]:
        return frozenset(self.group.dims)

    @cached_property
    def is_window(self) -> bool:
        """Whether neighbouring tiles share elements, as the windows of a convolution do."""
        return any(len(row) > 1 for row in self.group.slopes)


Kind = tuple[str, ...]
"""Dimensions that move the same arrays, the innermost last: any of them innermost leaves the same ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """Tiles of a cache, one or many.

    touched: bytes of each operand in them.
    """

    sizes: Sizes
    touched: tuple[Sizes, ...]

    def some(self, which: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Tiles:
        """Those of some rows."""
        return Tiles(self.sizes[which], tuple(each[which] for each in self.touched))

    def beside(self, other: Tiles) -> Tiles:
        """These and others."""
        pairs = zip(self.touched, other.touched, strict=True)
        return Tiles(np.vstack([self.sizes, other.sizes]), tuple(np.concatenate(each) for each in pairs))

    def one(self, at: int) -> Tiles:
        """That of one row."""
        return Tiles(self.sizes[at : at + 1], tuple(each[at : at + 1] for each in self.touched))


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The loops around the tiles of one cache.

    outer: sizes of the tiles that they are in.  order: kinds of dimensions, innermost first.
    """

    outer: Sizes
    order: tuple[Kind, ...]


@dataclass(frozen=True, eq=False)
class TiledNest:
    """A nest whose tiles are counted.

    dims: its dimensions with their extents.
    """

    extents: Mapping[str, int]
    operands: tuple[TiledArray, ...]
    line_bytes: int

    @staticmethod
    def of(
        nest: LoopNest,
        steps: Mapping[tuple[str, Matrix], Mapping[str, int]],
        copied: Sequence[frozenset[str]],
        slowdowns: Mapping[frozenset[str], float],
        line_bytes: int,
    ) -> TiledNest:
        """A nest whose arrays have these steps in bytes, by their names and slopes.

        copied: the dimensions of the arrays that are copied.  slowdowns: of others, by their dimensions.
        """
        operands = tuple(
            TiledArray(
                group,
                steps[group.array, group.slopes],
                not group.writes and frozenset(group.dims) in copied,
                1.0 if group.writes else slowdowns.get(frozenset(group.dims), 1.0),
            )
            for group in nest.classes
        )
        return TiledNest(nest.extents, operands, line_bytes)

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """The dimensions in the order of sizes."""
        return tuple(self.extents)

    @cached_property
    def whole(self) -> Sizes:
        """The sizes of all of the nest."""
        return np.array([*self.extents.values()], dtype=float).reshape(1, -1)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds of its dimensions."""
        found: dict[tuple[bool, ...], list[str]] = {}
        for dim in self.dims:
            found.setdefault(tuple(each.moves_along(dim) for each in self.operands), []).append(dim)
        return tuple(tuple(dims) for dims in found.values())

    def orders(self) -> tuple[tuple[Kind, ...], ...]:
        """The orders of a band that are told apart: each kind innermost."""
        return tuple((kind, *(other for other in self.kinds if other != kind)) for kind in self.kinds)

    def tiles(self, sizes: Sizes) -> Tiles:
        """Tiles with what they touch."""
        return Tiles(sizes, tuple(self.bytes_of(each, sizes) for each in self.operands))

    def bytes_of(self, operand: TiledArray, sizes: Sizes) -> Sizes:
        """Bytes of an array in tiles; of what is not copied those of whole lines.

        Exact where no dimension moves two indices.
        """
        columns = {dim: sizes[:, column] for column, dim in enumerate(self.dims)}
        size, count, length = operand.group.element_bytes, np.ones(len(sizes)), np.ones(len(sizes))
        for row in operand.group.slopes:
            span, points = np.ones(len(sizes)), np.ones(len(sizes))
            for dim, slope in row:
                span = span + abs(slope) * (columns[dim] - 1.0)
                points = points * columns[dim]
            length = span
            count = count * np.minimum(span, points)
        if operand.copied or not operand.group.slopes:
            return count * size
        least = min((abs(slope) for _, slope in operand.group.slopes[-1]), default=1.0)
        stride = min(self.line_bytes, size * max(1.0, least))
        return count / length * ((length - 1.0) * stride + self.line_bytes)

    def stays(self, tiles: Tiles, cache: Cache) -> npt.NDArray[np.bool_]:
        """Which tiles stay in a cache while their loops run: no array need evict another one (equation 9).

        A copy spreads over all sets.  The rows of another tile begin at addresses that are steps apart, and
        those a whole way apart share a set.
        """
        taken = np.zeros(len(tiles.sizes))
        for operand, touched in zip(self.operands, tiles.touched, strict=True):
            sets = np.full(len(tiles.sizes), float(cache.sets))
            if not operand.copied:
                sets = np.minimum(sets, self._sets_reached(operand, tiles.sizes, cache))
            taken += np.ceil(touched / cache.line_bytes / sets)
        return taken <= cache.ways

    def _sets_reached(self, operand: TiledArray, sizes: Sizes, cache: Cache) -> Sizes:
        """How many sets a tile of an operand that is not copied can lie in."""
        way, reached = cache.sets * cache.line_bytes, np.ones(len(sizes))
        for dim, step in operand.steps.items():
            size = sizes[:, self.dims.index(dim)]
            if step < cache.line_bytes:
                reached = reached * ((size - 1.0) * step / cache.line_bytes + 1.0)
            else:
                reached = reached * np.minimum(size, way / np.gcd(step, way))
        return reached

    def moved(self, tiles: Tiles, bands: Sequence[Band]) -> list[Sizes]:
        """Bytes of every operand that move into a cache that holds these tiles.

        bands: around them, innermost first.  Table 1 of the paper follows: a loop that runs once is none, and
        what no loop around a tile moves is read once.
        """
        moved, inside = [*tiles.touched], tiles.sizes
        here: list[npt.NDArray[np.bool_] | None] = [np.ones(1, dtype=bool)] * len(moved)
        for band in bands:
            ranges = np.ceil(band.outer / inside)
            for kind in band.order:
                along = ranges[:, [self.dims.index(dim) for dim in kind]].prod(axis=1)
                for number, operand in enumerate(self.operands):
                    still = here[number]
                    if not operand.moves_along(kind[0]):
                        moved[number] = moved[number] * (
                            along if still is None else np.where(still, 1.0, along)
                        )
                        continue
                    moved[number] = moved[number] * along
                    if still is not None and operand.is_window:
                        shared = self._shared(operand, inside, band, kind[-1])
                        moved[number] = moved[number] * np.where(still, shared, 1.0)
                    still = None if still is None else still & (along == 1.0)
                    here[number] = still if still is not None and still.any() else None
            inside = band.outer
        return moved

    def _shared(self, operand: TiledArray, inside: Sizes, band: Band, dim: str) -> Sizes:
        """What of the windows along a dimension is no part of the one before, as a share."""
        column = self.dims.index(dim)
        along = np.repeat(inside, max(1, len(band.outer) // len(inside)), axis=0)
        along[:, column] = np.maximum(band.outer[:, column], along[:, column])
        apart = self.bytes_of(operand, inside) * np.ceil(along[:, column] / inside[:, column])
        return np.asarray(np.minimum(1.0, self.bytes_of(operand, along) / apart))

    def waited_for(self, moved: Sequence[Sizes]) -> Sizes:
        """Bytes in a row that take as long as the core waits for lines that nothing announces."""
        each = zip(moved, self.operands, strict=True)
        return np.asarray(sum(volume * (operand.slowdown - 1.0) for volume, operand in each))

    def bytes_into(self, moved: Sequence[Sizes]) -> Sizes:
        """Bytes that move between a cache with these tiles and what is behind it: a result both ways.

        moved: by operand, as `moved` has it.
        """
        each = zip(moved, self.operands, strict=True)
        return np.asarray(sum(volume * (1 + operand.group.writes) for volume, operand in each))
