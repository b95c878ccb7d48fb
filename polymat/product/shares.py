"""What of a product each thread computes: it decides for its share how, and what it copies.

Generated code cuts the ranges that threads share in the same places (`polymat.codegen.cutranges`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Literal

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.product.contraction import Contraction
from polymat.product.gridcuts import area, even
from polymat.product.gridcuts import cut as cut_within

LEAST_GRID = 4  # threads from which on a share may be a part of both rows and columns
COPIED = 24.0  # points in the time of copying a row or a column of one beside them, for each step of depth
GAIN = 0.97  # of what the largest part of one dimension takes: that of a grid has to take less

Work = Literal["even", "rising", "falling"]
Across = Literal["even", "rising", "falling", "before", "after"]
Part = tuple[int, int]  # where a part of a dimension begins and ends
Share = Mapping[str, float]  # lengths of dimensions of which a thread has a part
WHOLE: Share = {}


@dataclass(frozen=True, slots=True)
class SharedSide:
    """A dimension that threads share.

    length: of it.  unit: of how many points there are whole ones in a share.  each: rows or columns that a
    point of it stands for: of images rows of pixels do for several.
    """

    length: int
    unit: int
    each: float = 1.0

    def longest(self, count: int) -> float:
        """Rows or columns of the longest of so many even parts."""
        units = -(-self.length // self.unit)
        return float(-(-units // count) * self.unit) * self.each


def work_along(found: Contraction, dim: str | None) -> Work:
    """Which parts of a dimension that threads share have more to do: those of a triangle."""
    half = found.half
    if half is None or dim not in (half.line, half.across) or (half.place != "result" and dim != half.line):
        return "even"
    return "rising" if half.before == (dim == half.line) else "falling"


def work_across(found: Contraction, beside: str) -> Across:
    """Which parts of the dimension beside a shared one have more to do, within rows of a triangle."""
    half = found.half
    if half is not None and half.place == "result":
        return "before" if half.before else "after"
    return work_along(found, beside)


def beside_of(found: Contraction, dim: str | None, threads: int) -> str | None:
    """The dimension of which threads have parts beside those of another one; None where there is none.

    Rows beside columns, where threads share no loops around products.
    """
    half = found.half
    sides = dict.fromkeys(found.all_rows, found.columns) | {found.columns: found.rows}
    if threads < LEAST_GRID or dim not in sides or sides[dim] not in found.result:
        return None
    return None if half is not None and half.place == "result" and dim != half.line else sides[dim]


def unit_of(found: Contraction, dim: str | None, rows: int, lanes: int) -> int:
    """Of how many points of a dimension there are whole ones in a share: register blocks, or vectors."""
    return rows if dim == found.rows else lanes if dim == found.columns else 1


def beside_each(found: Contraction, dim: str | None) -> tuple[str, ...]:
    """The other dimensions of the rows or of the columns that one of them is of."""
    group = found.all_columns if dim in found.all_columns else found.all_rows
    return tuple(other for other in group if other != dim)


def grid_down(pieces: int, down: SharedSide, across: SharedSide) -> int:
    """How many of some pieces lie along the first of two dimensions; the same number along the other one.

    All of them, unless the largest of a grid is done clearly sooner: each piece copies its rows of one
    operand and its columns of the other one.  Generated code asks the same (`kernels/grid.h`).
    """

    def largest(count: int) -> float:
        high, wide = down.longest(count), across.longest(pieces // count)
        return high * wide + COPIED * (high + wide)

    if pieces < LEAST_GRID or min(down.length, across.length) <= 0:
        return pieces
    usual = largest(pieces)
    counts = (count for count in range(pieces, 0, -1) if pieces % count == 0)
    best = min(counts, key=largest)
    return best if largest(best) < GAIN * usual else pieces


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """How threads share a product: by one dimension of it, or by rows and columns.

    first: the dimension; None where each has all.  second: the one beside it, if any.  rows, lanes: of a
    register block and of its vectors, of which there are whole ones in a share.
    """

    found: Contraction
    first: str | None
    second: str | None
    rows: int
    lanes: int

    def laid(self, estimates: Mapping[str, int], threads: int) -> tuple[int, int]:
        """How many shares there are along either dimension."""
        if self.second is None:
            return threads, 1
        down = grid_down(threads, self._side(self.first, estimates), self._side(self.second, estimates))
        return down, threads // down

    def shares(self, estimates: Mapping[str, int], threads: int) -> tuple[Share, ...]:
        """The share of each thread that has one; all of the product where they share no dimension."""
        if self.first is None or threads == 1:
            return (WHOLE,)
        return tuple(self._shares(self.first, estimates, threads)) or (WHOLE,)

    def priced(self, estimates: Mapping[str, int], threads: int) -> tuple[Share, ...]:
        """The shares that are priced: of a triangle, whose parts have the same area, one of mean lengths."""
        dims = [dim for dim in (self.first, self.second) if dim is not None]
        if threads == 1 or all(work_along(self.found, dim) == "even" for dim in dims):
            return self.shares(estimates, threads)
        lengths = [self.found.length(dim, estimates) for dim in dims]
        counts = self.laid(estimates, threads)
        return ({dim: length / count for dim, length, count in zip(dims, lengths, counts, strict=False)},)

    def _side(self, dim: str | None, estimates: Mapping[str, int]) -> SharedSide:
        """A dimension that is shared, as code cuts it: alone, columns are cut anywhere."""
        found = self.found
        length = 0 if dim is None else int(found.length(dim, estimates))
        each = prod(max(0.0, found.length(other, estimates)) for other in beside_each(found, dim))
        return SharedSide(
            length, unit_of(found, dim, self.rows, 1 if self.second is None else self.lanes), each
        )

    def cells(self, estimates: Mapping[str, int], threads: int) -> Iterator[tuple[Part, Part]]:
        """The parts of both dimensions that each thread has; all of the second where threads share one."""
        down, across = self.laid(estimates, threads)
        high, wide = (self._side(dim, estimates) for dim in (self.first, self.second))
        for rows in ranges(work_along(self.found, self.first), high.length, high.unit, down):
            if self.second is None:
                yield rows, (0, 1)
                continue
            work = work_across(self.found, self.second)
            for columns in columns_of(work, rows, wide, across):
                yield reached(work, rows, columns)

    def _shares(self, first: str, estimates: Mapping[str, int], threads: int) -> Iterator[Share]:
        """The lengths of what each thread has."""
        is_grid = self.second is not None and self.laid(estimates, threads)[1] > 1
        for (begin, end), (left, right) in self.cells(estimates, threads):
            if end > begin and right > left:
                other = {self.second: float(right - left)} if is_grid and self.second is not None else {}
                yield {first: float(end - begin), **other}


def parts(work: Work, length: int, unit: int, threads: int) -> list[int]:
    """The lengths of the shares of threads that have one; unit: of which there are whole ones in each."""
    return [end - begin for begin, end in ranges(work, length, unit, threads) if end > begin]


def ranges(work: Work, length: int, unit: int, count: int) -> Iterator[Part]:
    """Where parts of a dimension begin and end, those without a point, too."""
    return pairwise([_begin(work, length, unit, count, number) for number in range(count + 1)])


def columns_of(work: Across, rows: Part, side: SharedSide, count: int) -> Iterator[Part]:
    """Where parts of the second dimension begin and end, beside those rows of a triangle."""
    if work == "before" or work == "after":
        return pairwise([_within(work, rows, side, count, number) for number in range(count + 1)])
    return ranges(work, side.length, side.unit, count)


def reached(work: Across, rows: Part, columns: Part) -> tuple[Part, Part]:
    """The rows and columns of a part of a triangle of the result in which it has something."""
    (begin, end), (left, right) = rows, columns
    if work == "before":
        return (max(begin, left), end), (left, min(right, end))
    return ((begin, min(end, right)), (max(left, begin), right)) if work == "after" else (rows, columns)


def cut(found: Contraction, share: Share) -> Contraction:
    """A contraction with no more of its dimensions than a share has."""
    if not share:
        return found
    short = {dim: (Affine(), Affine(const=int(length) - 1)) for dim, length in share.items()}
    return replace(found, bounds={**found.bounds, **short})


def _begin(work: Work, length: int, unit: int, threads: int, number: int) -> int:
    """Where the share of that number begins; those of a triangle's rows have the same area."""
    asked = {"length": float(length), "unit": float(unit), "parts": float(threads)}
    if work == "falling":
        return length - int(area.at({**asked, "part": float(threads - number)}))
    asked["part"] = float(number)
    return int(area.at(asked)) if work == "rising" else min(int(even.at(asked)), length)


def _within(work: Across, rows: Part, side: SharedSide, count: int, number: int) -> int:
    """Where the part of that number begins of what a triangle of the result has in some of its lines."""
    places = (*rows, side.length, side.unit, number, count)
    named = zip(("first", "last", "length", "unit", "part", "parts"), map(float, places), strict=True)
    return int(cut_within.at({"before": float(work == "before"), **dict(named)}))
