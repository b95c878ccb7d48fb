"""How long whole products of matrices took on a machine, and how much longer that is than was predicted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from polymat.dataclass import dataclass
from polymat.machine.grid import Grid
from polymat.machine.seams import parted

_BYTES = (4, 8)
_MOST_LEVELS, _MOST_EXTENT, _MOST_THREADS, _MOST_TABLES = 16, 1 << 20, 4096, 16
_SECONDS_BOUNDS = (1e-9, 1e4)
_MOST_REGISTERS = 64
SHARED = 1 << 22
"""Multiplications of a product from which threads share it where it is timed: waking them is little then."""
Extents = tuple[float, float, float]
Predicted = Callable[[Extents, int], float]
"""Predicted seconds of a product of so many rows, columns and so much depth, on so many threads."""


def triples(levels: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Every combination of extents m, n and k of these levels, k running fastest."""
    return ((m, n, k) for m in levels for n in levels for k in levels)


@dataclass(frozen=True, slots=True)
class ProductTimes:
    """Seconds of products of m x k by k x n elements, at every combination of some extents.

    element_bytes: of a real number.  threads: that shared each product, of SHARED multiplications at least;
    smaller ones are those of one thread.  levels: of m, n and k, rising.  seconds: those of k next to each
    other, then those of n.  block: rows and vectors of the register blocks that they ran in; None of a
    library's, and where nobody has noted it.
    """

    element_bytes: int
    threads: int
    levels: tuple[int, ...]
    seconds: tuple[float, ...]
    block: tuple[int, int] | None = None

    @property
    def extents(self) -> tuple[Extents, ...]:
        """Of every product, in order."""
        return tuple(triples(self.levels))


@dataclass(frozen=True, slots=True)
class Ratios:
    """By what whole products took longer than predicted, on some numbers of threads, rising.

    Between the extents that were measured the logarithm of a ratio is linear in those of the extents, and so
    it is between numbers of threads; beyond either, the next one that was measured holds.
    """

    grids: tuple[tuple[int, Grid], ...]

    def at(self, extents: Sequence[float], threads: int) -> float:
        """The measured time over the predicted one."""
        below = [pair for pair in self.grids if pair[0] <= threads] or [self.grids[0]]
        above = [pair for pair in self.grids if pair[0] >= threads] or [self.grids[-1]]
        (fewer, first), (more, last) = below[-1], above[0]
        one = first.at(extents)
        if fewer >= more:
            return one
        share = math.log(threads / fewer) / math.log(more / fewer)
        return one * math.pow(last.at(extents) / one, share)

    def over(self, other: Ratios, threads: int) -> Grid:
        """These over those of another way, at the extents that were measured here.

        Of one thread and of so many, in equal parts: for code that chooses alike on either, which is then as
        far from the better way on one as on the other.
        """
        levels, seam = self.grids[-1][1].levels, min(grid.seam for _, grid in other.grids)

        def ratios(calls: Ratios) -> Grid:
            def ratio(extents: Sequence[int]) -> float:
                both = (self.at(extents, team) / calls.at(extents, team) for team in (1, threads))
                return math.sqrt(math.prod(both))

            return Grid(levels, tuple(map(ratio, product(*levels))), steady=True)

        if math.isinf(seam):
            return ratios(other)
        below, above = (ratios(other.side(beyond=beyond)) for beyond in (False, True))
        return replace(below, seam=seam, beyond=above)

    def side(self, *, beyond: bool) -> Ratios:
        """Ratios at all extents by what is known of one side of seams."""
        grids = (
            (threads, grid.beyond if beyond and grid.beyond is not None else replace(grid, beyond=None))
            for threads, grid in self.grids
        )
        return Ratios(tuple(grids))

    def parted(self) -> Ratios:
        """Ratios with what is beyond a seam apart, where a library goes another way there."""
        return Ratios(tuple((threads, parted(grid)) for threads, grid in self.grids))


def ratios_of(times: Iterable[ProductTimes], element_bytes: int, predicted: Predicted) -> Ratios | None:
    """Ratios of measured times of one type to predicted ones; None where nothing was measured."""
    found = [each for each in times if each.element_bytes == element_bytes]
    grids = []
    for each in sorted(found, key=lambda each: each.threads):
        threads = each.threads
        pairs = zip(each.extents, each.seconds, strict=True)
        ratios = {
            extents: seconds / predicted(extents, threads if math.prod(extents) >= SHARED else 1)
            for extents, seconds in pairs
        }
        # What is shorter than the least counts as that.
        levels = (1, *each.levels)
        points = triples((each.levels[0], *each.levels))
        grids.append((threads, Grid((levels,) * 3, tuple(map(ratios.__getitem__, points)), steady=True)))
    return Ratios(tuple(grids)) if grids else None


Pass = tuple[tuple[ProductTimes, ...], tuple[ProductTimes, ...]]
"""Times of own products, and of a library's by turns with them; none without a library."""


def quicker(first: Pass, second: Pass) -> Pass:
    """Of two passes over the same products, at each the own time that is less, and the library's beside it.

    Where own products ran in other blocks, or at other extents, the second pass counts alone.
    """
    before = {_kind(each): (each, _beside(each, first[1])) for each in first[0]}
    own, calls = [], []
    for each in second[0]:
        earlier, beside = before.get(_kind(each), (each, None))
        other = _beside(each, second[1])
        firsts = [a < b for a, b in zip(earlier.seconds, each.seconds, strict=True)]
        own.append(replace(each, seconds=tuple(map(min, earlier.seconds, each.seconds))))
        if other is not None and beside is not None:
            turns = zip(firsts, beside.seconds, other.seconds, strict=True)
            other = replace(other, seconds=tuple(a if is_first else b for is_first, a, b in turns))
        calls += [] if other is None else [other]
    return tuple(own), tuple(calls)


def _kind(times: ProductTimes) -> tuple[object, ...]:
    return times.element_bytes, times.threads, times.levels, times.block


def _beside(own: ProductTimes, calls: Iterable[ProductTimes]) -> ProductTimes | None:
    """The table of a library's products that were timed by turns with own ones."""
    kind = _kind(replace(own, block=None))
    return next((each for each in calls if _kind(each) == kind), None)


def as_lists(times: Iterable[ProductTimes]) -> list[list[object]]:
    """For the text of a file; times have four digits."""
    return [
        [
            *(each.element_bytes, each.threads, list(each.levels), [float(f"{s:.3e}") for s in each.seconds]),
            *([] if each.block is None else [list(each.block)]),
        ]
        for each in times
    ]


def from_lists(value: Any) -> tuple[ProductTimes, ...]:
    """Times that `as_lists` wrote; a `ValueError` says what is wrong with anything else."""
    if not isinstance(value, list) or len(value) > _MOST_TABLES:
        raise ValueError("times of products are no list")
    found = tuple(map(_times, value))
    if len({(each.element_bytes, each.threads) for each in found}) < len(found):
        raise ValueError("times of products of one type on so many threads stand twice")
    return found


def _times(value: Any) -> ProductTimes:
    if not isinstance(value, list) or len(value) not in (4, 5):
        raise ValueError("times of products are not of a type, threads, extents and seconds")
    element_bytes, threads, levels, seconds, *block = value
    if (
        not _is_count(element_bytes, 8)
        or element_bytes not in _BYTES
        or not _is_count(threads, _MOST_THREADS)
    ):
        raise ValueError("times of products are of no type, or of no threads")
    if not isinstance(levels, list) or not 2 <= len(levels) <= _MOST_LEVELS:
        raise ValueError("times of products have no extents")
    if not all(_is_count(level, _MOST_EXTENT) and level > 1 for level in levels) or levels != sorted(
        {*levels}
    ):
        raise ValueError("extents of products do not rise from 2 on")
    if not isinstance(seconds, list) or len(seconds) != len(levels) ** 3 or not all(map(_is_time, seconds)):
        raise ValueError("times of products are none")
    return ProductTimes(element_bytes, threads, tuple(levels), tuple(seconds), _block(*block))


def _block(found: Any = None) -> tuple[int, int] | None:
    if found is None:
        return None
    is_pair = isinstance(found, list) and len(found) == 2
    if not is_pair or not all(_is_count(each, _MOST_REGISTERS) for each in found):
        raise ValueError("products ran in no register blocks")
    return found[0], found[1]


def _is_count(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_time(value: Any) -> bool:
    return isinstance(value, float) and _SECONDS_BOUNDS[0] <= value <= _SECONDS_BOUNDS[1]


def speed_lines(times: Iterable[ProductTimes]) -> tuple[str, ...]:
    """The speed of the largest product for people, a line for each type."""
    found: dict[str, list[str]] = {}
    for each in sorted(times, key=lambda each: (each.element_bytes, each.threads)):
        rate = 2.0 * each.levels[-1] ** 3 / each.seconds[-1] / 1e9
        team = f" on {each.threads} threads" if each.threads > 1 else ""
        head = f"float{8 * each.element_bytes} products of {each.levels[-1]} cubed"
        found.setdefault(head, []).append(f"{rate:.1f}{team}")
    return tuple(f"{head} {', '.join(rates)} GFLOP/s" for head, rates in found.items())
