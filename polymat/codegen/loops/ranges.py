"""Parts of dimensions that are given at run time, and statements restricted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.loops.nestloops import JAM, NestStatement
from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True)
class Range:
    """A part of a dimension given at run time, begin <= index < end; low and high: what it may at most be.

    piece: behind the names of a range that was narrowed to a piece of what the nest computes.
    """

    number: int
    low: Affine
    high: Affine
    piece: str = ""

    @property
    def begin(self) -> str:
        """Name of the first index."""
        return f"_pm_begin{self.number}{self.piece}"

    @property
    def start(self) -> str:
        """Name of the first index where blocks come before the rest, which begins at `begin`."""
        return f"_pm_start{self.number}{self.piece}"

    @property
    def end(self) -> str:
        """Name of the index after the last."""
        return f"_pm_end{self.number}{self.piece}"


def range_context(context: Domain, ranges: Sequence[Range]) -> Domain:
    """A context with all that is known of ranges given at run time: low <= begin, end <= high + 1."""
    names = [name for part in ranges for name in (part.begin, part.end)]
    forms = []
    for part in ranges:
        forms += [Affine.name(part.begin) - part.low, part.high + 1 - Affine.name(part.end)]
    return context.with_params(names).at_least_zero(forms)


def block_context(context: Domain, first: Range, copies: int) -> Domain:
    """A block lies in its range: low <= jam, jam + copies - 1 <= high."""
    jam = Affine.name(JAM)
    return context.with_params([JAM]).at_least_zero([jam - first.low, first.high - (copies - 1) - jam])


def restricted(
    item: NestStatement, ranges: Sequence[Range], context: Domain, skip: Range | None = None
) -> NestStatement:
    """The statement on its part of the run-time ranges."""
    domain = item.domain
    for part in ranges:
        dim = item.ranged[part.number]
        if part is not skip and dim is not None:
            domain = domain.between(dim, Affine.name(part.begin), Affine.name(part.end))
    return replace(item, domain=domain.assume(context))


def at_copy(item: NestStatement, first: Range, context: Domain, copy: int) -> NestStatement:
    """The statement at one point of a block of the first range, as if that were the first of the block."""
    dim = item.ranged[first.number]
    if dim is None:
        return item
    jam = Affine.name(JAM) + copy
    point = item.domain.between(dim, jam, jam + 1)
    return replace(item, domain=(point.moved(dim, -copy) if copy else point).assume(context))


def in_block(item: NestStatement, first: Range, context: Domain, copies: int) -> NestStatement:
    """The statement at all points of a block of the first range."""
    dim = item.ranged[first.number]
    if dim is None:
        return item
    jam = Affine.name(JAM)
    return replace(item, domain=item.domain.between(dim, jam, jam + copies).assume(context))
