"""Where the elements of an operand lie: strides of axes, and which index names count as one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.term import Term
from polymat.idiom.call import Axis, Operand, Role, Stride
from polymat.lang.affine import Affine

Extents: TypeAlias = Mapping[str, tuple[Affine, ...]]  # of every array, by name


@dataclass(frozen=True, slots=True)
class View:
    """A factor of a term with the extents of its array."""

    factor: Factor
    extents: tuple[Affine, ...]

    def axis_of(self, dim: str) -> int | None:
        """The one array dimension that an index name moves along, forwards; None when there is no such."""
        found = [n for n, form in enumerate(self.factor.indices) if dim in form.names()]
        if len(found) != 1:
            return None
        form = self.factor.indices[found[0]]
        plain = list(form.names()).count(dim) == 1 and form.coefficient(dim) > 0
        return found[0] if plain else None

    def stride(self, dim: str) -> Stride | None:
        """Elements between neighbours along an index name."""
        axis = self.axis_of(dim)
        if axis is None:
            return None
        factor, extents = self.factor.indices[axis].coefficient(dim), []
        for extent in self.extents[axis + 1 :]:
            if extent.is_constant:
                factor *= extent.const
            else:
                extents.append(extent)
        return Stride(factor, tuple(extents))

    def merges(self, outer: str, inner: str, term: Term) -> bool:
        """Whether two index names run over neighbouring elements as one would: the inner over whole rows."""
        axis, below = self.axis_of(outer), self.axis_of(inner)
        if axis is None or below != axis + 1:
            return False
        low, high = term.range_of(inner)
        whole = low == Affine() and high + 1 == self.extents[below]
        steps = self.factor.indices[axis].coefficient(outer), self.factor.indices[below]
        return whole and steps == (1, Affine.name(inner))


def view(factor: Factor, extents: Extents) -> View:
    """A factor with its array's extents."""
    return View(factor, extents[factor.source])


def merged(dims: Sequence[str], views: Sequence[View], term: Term) -> tuple[str, ...] | None:
    """The index names in an order in which each view runs over them as over one; None when there is none.

    before:  A(r, q, s) C(s, p) with r, q over whole rows of A and of the result
    after:   rows r*q
    """
    first = views[0]
    positions = {dim: first.axis_of(dim) for dim in dims}
    if any(position is None for position in positions.values()):
        return None
    order = sorted(dims, key=lambda dim: positions[dim] or 0)
    pairs = list(pairwise(order))
    fits = all(each.merges(outer, inner, term) for each in views for outer, inner in pairs)
    return tuple(order) if fits else None


def axis(dims: Sequence[str], term: Term) -> Axis:
    """The axis of some index names of a term."""
    ranges = [term.range_of(dim) for dim in dims]
    return Axis(tuple(dims), tuple(low for low, _ in ranges), tuple(high - low + 1 for low, high in ranges))


def matrix(
    each: View, rows: tuple[Role, Sequence[str]], columns: tuple[Role, Sequence[str]], *, copied: bool = False
) -> Operand | None:
    """A matrix operand with its rows and columns along two axes; None when neither has unit stride.

    copied: it is only read to be copied, so that any strides do.
    """
    strides = [each.stride(dims[-1]) for _, dims in (rows, columns)]
    across, along = strides
    if across is None or along is None:
        return None
    used = [each.axis_of(dim) for _, dims in (rows, columns) for dim in dims]
    if len(set(used)) != len(used):
        return None
    if not (copied or along.is_unit or across.is_unit):
        return None
    last = each.axis_of(columns[1][-1]) == len(each.extents) - 1
    transposed = not along.is_unit or (across.is_unit and not last)
    factor = each.factor
    return Operand(
        factor.source,
        factor.indices,
        (rows[0], columns[0]),
        (across, along),
        transposed=transposed,
        conjugated=factor.conjugated,
    )


def vector(each: View, role: Role, dims: Sequence[str]) -> Operand | None:
    """A vector operand along one axis, with any positive increment."""
    stride = each.stride(dims[-1])
    if stride is None:
        return None
    factor = each.factor
    return Operand(factor.source, factor.indices, (role,), (stride,), conjugated=factor.conjugated)
