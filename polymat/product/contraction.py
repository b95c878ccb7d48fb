"""Contractions: stages that are sums of products of two arrays, and how their dimensions divide into groups.

A dimension of the result that only one operand has is a row (m) or a column (n) of a matrix product; what is
summed over is its depth (k); all other dimensions are loops around products.  Because indices are affine, the
position of an element is a sum of terms, one for each dimension, so that transposed, strided and shifted
accesses, and those of a convolution, are products of matrices with other strides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.model.extents import extent
from polymat.product.triangle import Triangle

Dims = TypeVar("Dims", int, frozenset[str])
"""A set of dimensions: by their names, or as the bits of a number."""


def sides(left: Dims, right: Dims, result: Dims) -> tuple[Dims, Dims, Dims]:
    """The rows, columns and depth of a product, of the dimensions of its operands and of its result."""
    both = left & right
    return (left ^ both) & result, (right ^ both) & result, both ^ (both & result)


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """beta * array, read row by row like the result: what the sums are added to."""

    beta: Expr | None
    factor: Factor


@dataclass(frozen=True, eq=False)
class Contraction:
    """C(.., m, .., n) = scale * sum over k and `sums` of left(m, k, ..) * right(k, n, ..) + start.

    rows, columns, depth: the dimensions m, n and k; n is the last of the result.
    more_rows, more_columns: further dimensions of the result that only one operand has.
    outer: those that both operands have, or none.  sums: the other ones that are summed over.
    bounds: smallest and largest index of every dimension, as forms over the sizes.
    start: an array to add to; None where it is zero, or where `starts` says that it is something else: the
    stage's start values are then computed first.
    triangle: the part of one of the matrices that is summed or computed; None is all.
    mirror: what stands for the operand of the triangle in its other part, as in a symmetric matrix of which
    one triangle is stored; None is nothing.
    others: whether the stage has parts elsewhere, which loops compute.
    more: further sums of products, added to the result one after the other, as syr2k has one.
    result: the dimensions of the result in its order.
    """

    rows: str
    columns: str
    depth: str
    more_rows: tuple[str, ...]
    more_columns: tuple[str, ...]
    outer: tuple[str, ...]
    sums: tuple[str, ...]
    left: Factor
    right: Factor
    bounds: Mapping[str, tuple[Affine, Affine]]
    scale: Expr | None
    start: Start | None
    starts: bool
    triangle: Triangle | None = None
    mirror: Factor | None = None
    others: bool = False
    more: tuple[Contraction, ...] = ()
    result: tuple[str, ...] = ()

    @property
    def half(self) -> Triangle | None:
        """The triangle, where it saves half of the operations."""
        return self.triangle if self.mirror is None else None

    @property
    def windows(self) -> bool:
        """Whether neighbouring rows share elements, as the windows of a convolution do."""
        rows, summed = {*self.all_rows}, {*self.summed}
        forms = [set(form.names()) for form in self.left.indices]
        return bool(self.sums) and any(names & rows and names & summed for names in forms)

    @property
    def all_rows(self) -> tuple[str, ...]:
        """The dimensions of the rows, the innermost last."""
        return (*self.more_rows, self.rows)

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The dimensions of the columns, the innermost last."""
        return (*self.more_columns, self.columns)

    @property
    def summed(self) -> tuple[str, ...]:
        """The dimensions that are summed over, the innermost last."""
        return (*self.sums, self.depth)

    @property
    def right_dims(self) -> tuple[str, ...]:
        """The dimensions of all products of the right operand, outermost first."""
        return (*self.outer, *self.all_columns, *self.summed)

    @property
    def products(self) -> tuple[Contraction, ...]:
        """All sums of products, in the order in which they are added."""
        return (self, *self.more)

    @cached_property
    def apart(self) -> tuple[Contraction, ...]:
        """The contractions of a sum, each as if it were alone: starting from the one before is no work."""
        if not self.more:
            return (self,)
        return (replace(self, more=()), *(replace(each, starts=False) for each in self.more))

    @cached_property
    def extents(self) -> Mapping[str, Affine]:
        """How many indices each dimension has."""
        return {dim: high - low + 1 for dim, (low, high) in self.bounds.items()}

    def extent(self, dim: str) -> Affine:
        """How many indices a dimension has."""
        return self.extents[dim]

    def length(self, dim: str, estimates: Mapping[str, int]) -> float:
        """The extent of a dimension at the estimates."""
        return extent(self.extent(dim), estimates)
