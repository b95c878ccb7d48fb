"""Groups of dimensions of a contraction as segments: an inner dimension, and offsets of the further ones."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Protocol

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CExpr,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    Ternary,
)
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.loops.work import times_extents
from polymat.codegen.memory.pads import Limits, longest
from polymat.codegen.products.blockshape import Shape
from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.lang.affine import Affine
from polymat.product.contraction import Contraction


class Owner(Protocol):
    """The nest of a contraction, as far as its segments have to know it."""

    title: str
    writer: StageWriter
    found: Contraction
    shape: Shape

    def loop(self, dim: str, body: tuple[Stmt, ...]) -> For:
        """The loop over a dimension."""

    def range(self, dim: str) -> tuple[CExpr, CExpr]:
        """First and last + 1 of the indices of a dimension."""

    def length(self, dim: str) -> CExpr:
        """How many indices of a dimension the nest covers."""

    def step(self, factor: Factor, dim: str) -> CExpr:
        """Elements between neighbours along a dimension."""

    def size(self, form: Affine) -> CExpr:
        """A form over the sizes."""


@dataclass(frozen=True, eq=False)
class Segments:
    """One group of dimensions: the inner one, and the table of the further ones.

    The table has for each point of the further dimensions the offsets in some arrays.  A dimension whose
    points continue the inner one in all of these arrays, with the same stride, becomes a part of it: known
    only when the code runs, since it depends on the sizes and on the part of them that the nest covers.

    joins: whether that may be; who reads parts of the result counts the segments as they are.
    """

    owner: Owner
    name: str
    inner: str
    dims: tuple[str, ...]
    factors: tuple[Factor, ...]
    joins: bool = True

    @property
    def pad(self) -> str:
        """C name of the table."""
        return f"_pm_{self.name}_of_{self.owner.title}"

    @property
    def _count(self) -> str:
        return f"_pm_{self.name}"

    @property
    def _length(self) -> str:
        return f"_pm_{self.name}_each"

    def length(self) -> CExpr:
        """How many indices a segment has."""
        own = self.owner.length(self.inner)
        return Id(self._length) if self.dims and self.joins else own

    def arguments(self) -> tuple[CExpr, CExpr]:
        """How many segments there are, and their table; without dimensions one at offset 0."""
        if not self.dims:
            return Literal("1"), Id(f"_pm_origin_{self.owner.shape.suffix}")
        return Id(self._count), Id(self.pad)

    def bytes(self) -> CExpr:
        """Room for all offsets."""
        extents = [self.owner.found.extent(dim) for dim in self.dims]
        return times_extents(8 * len(self.factors), extents, self.owner.size)

    def most(self, limits: Limits) -> float:
        """How many offsets there are at most where the sizes lie between limits."""
        extents = (self.owner.found.extent(dim) for dim in self.dims)
        return len(self.factors) * prod(longest(extent, limits) for extent in extents)

    def statements(self) -> tuple[Stmt, ...]:
        """The joined length of a segment, and loops that fill the table and count the segments."""
        if not self.dims:
            return ()
        count, width = Id(self._count), Literal(str(len(self.factors)))
        body: tuple[Stmt, ...] = ()
        for position, factor in enumerate(self.factors):
            index = CBinary("+", CBinary("*", count, width), Literal(str(position)))
            body = (*body, Assign(Subscript(Id(self.pad), index), "=", self._offset(factor)))
        body = (*body, Assign(count, "+=", Literal("1")))
        for dim in reversed(self.dims):
            loop = self.owner.loop(dim, body)
            if self.joins:
                first = CBinary("+", loop.start, Literal("1"))
                end = Ternary(Id(self._joined(dim)), first, self.owner.range(dim)[1])
                loop = replace(loop, condition=CBinary("<", Id(loop.variable), end))
            body = (loop,)
        return (*self._join(), Declare("ptrdiff_t", self._count, Literal("0")), *body)

    def _joined(self, dim: str) -> str:
        return f"_pm_{self.owner.writer.bodies.index_name(dim)}_in_{self.name}"

    def _join(self) -> tuple[Stmt, ...]:
        """Which dimensions continue the inner one, from the innermost outwards."""
        if not self.joins:
            return ()
        length = Id(self._length)
        statements: list[Stmt] = [Declare("ptrdiff_t", self._length, self.owner.length(self.inner))]
        for dim in reversed(self.dims):
            steps = dict.fromkeys(
                (self.owner.step(factor, dim), self.owner.step(factor, self.inner)) for factor in self.factors
            )
            together = all_of(CBinary("==", outer, CBinary("*", length, inner)) for outer, inner in steps)
            extent = self.owner.length(dim)
            joined = CBinary("||", CBinary("==", extent, Literal("1")), together)
            statements.append(Declare("const int", self._joined(dim), joined))
            longer = Ternary(Id(self._joined(dim)), extent, Literal("1"))
            statements.append(Assign(length, "*=", longer))
        return tuple(statements)

    def _offset(self, factor: Factor) -> CExpr:
        """How far the elements at the loop indices lie from those at the first ones."""
        total: CExpr = Literal("0")
        for dim in self.dims:
            step = self.owner.step(factor, dim)
            if step == Literal("0"):
                continue
            begin = self.owner.range(dim)[0]
            index: CExpr = Id(self.owner.writer.bodies.index_name(dim))
            index = index if begin == Literal("0") else CBinary("-", index, begin)
            product = CBinary("*", index, step)
            total = product if total == Literal("0") else CBinary("+", total, product)
        return total
