"""Where the loops of a scheme stand: the points that are left of every dimension, and copies of operands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import reduce

from polymat.codegen.c.ctree import CBinary, CExpr, Id, Literal, Subscript, plus
from polymat.codegen.c.shorthand import all_of
from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor

ZERO, ONE = Literal("0"), Literal("1")


@dataclass(frozen=True, slots=True)
class Span:
    """The points of a dimension that loops have left: begin <= index < end.

    length: how many, where that is a number that is known.  most: how many at most.
    """

    begin: CExpr
    end: CExpr
    length: int | None
    most: CExpr

    @staticmethod
    def of(begin: CExpr, points: int) -> Span:
        """So many points from one on."""
        return Span(begin, plus(begin, points), points, Literal(str(points)))

    @property
    def count(self) -> CExpr:
        """How many there are."""
        if self.length is not None:
            return Literal(str(self.length))
        return self.end if self.begin == ZERO else CBinary("-", self.end, self.begin)


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy: its array, and for each dimension its first index and the distance of neighbours.

    strip: the dimension whose points lie together as blocks take them, if any: those of a block are
    neighbours, and `steps` has the distance of neighbours in different blocks, by one point.
    """

    array: str
    begins: Mapping[str, CExpr]
    steps: Mapping[str, CExpr]
    strip: str | None = None

    def at(self, point: Mapping[str, CExpr], blocks: Mapping[str, CExpr]) -> CExpr:
        """The element of a point in the block that begins at these indices."""
        terms = []
        for dim, step in self.steps.items():
            value = point[dim]
            if dim == self.strip:
                within = distance(value, blocks.get(dim, value))
                terms += [] if within == ZERO else [within]
                value = blocks.get(dim, value)
            further = distance(value, self.begins[dim])
            if further != ZERO:
                terms.append(times(further, step))
        index = reduce(lambda one, other: CBinary("+", one, other), terms) if terms else ZERO
        return Subscript(Id(self.array), index)

    def step(self, dim: str) -> CExpr:
        """How far neighbours in a block are apart."""
        return ONE if dim == self.strip else self.steps.get(dim, ZERO)


def distance(value: CExpr, begin: CExpr) -> CExpr:
    """How far a value is from the one that it may have been made of."""
    if value == begin:
        return ZERO
    if isinstance(value, CBinary) and value.op == "+" and value.left == begin:
        return value.right
    return value if begin == ZERO else CBinary("-", value, begin)


@dataclass(frozen=True, slots=True)
class LoopPlace:
    """The points left of every dimension, which operands are read from copies, and where the block begins."""

    spans: Mapping[str, Span]
    copies: Mapping[Factor, Copied] = field(default_factory=dict)
    blocks: Mapping[str, CExpr] = field(default_factory=dict)

    def along(self, dim: str, span: Span) -> LoopPlace:
        """The place with another part of a dimension left."""
        return replace(self, spans={**self.spans, dim: span})

    def with_copy(self, factor: Factor, copied: Copied) -> LoopPlace:
        """The place with an operand in a copy."""
        return replace(self, copies={**self.copies, factor: copied})

    def in_block(self, dims: Iterable[str]) -> LoopPlace:
        """The place at the beginning of a block along some dimensions."""
        return replace(self, blocks={**self.blocks, **{dim: self.spans[dim].begin for dim in dims}})

    def point(self, offsets: Mapping[str, int]) -> dict[str, CExpr]:
        """The first point that is left, moved by so many indices."""
        return moved({dim: span.begin for dim, span in self.spans.items()}, offsets)


def times(one: CExpr, other: CExpr) -> CExpr:
    """A product; of numbers their own, which C would multiply as ints."""
    if isinstance(one, Literal) and isinstance(other, Literal):
        return Literal(str(int(one.text) * int(other.text)))
    return other if one == ONE else one if other == ONE else CBinary("*", one, other)


def folded(value: CExpr) -> CExpr:
    """A number for products and sums of numbers, which C would compute as ints."""
    if not isinstance(value, CBinary) or value.op not in ("*", "+"):
        return value
    one, other = folded(value.left), folded(value.right)
    if value.op == "*":
        return times(one, other)
    if isinstance(one, Literal) and isinstance(other, Literal):
        return Literal(str(int(one.text) + int(other.text)))
    return CBinary("+", one, other)


def moved(point: Mapping[str, CExpr], offsets: Mapping[str, int]) -> dict[str, CExpr]:
    """A point moved by so many indices."""
    return {dim: plus(value, offsets.get(dim, 0)) for dim, value in point.items()}


def is_whole(place: LoopPlace, sizes: Mapping[str, int]) -> CExpr | None:
    """Whether so many points are left of each dimension, in C; None where that is known."""
    spans = place.spans
    asked = [dim for dim, size in sizes.items() if size > 1 and spans[dim].length != size]
    fits = [CBinary("<=", plus(spans[dim].begin, sizes[dim]), spans[dim].end) for dim in asked]
    return all_of(fits) if fits else None
