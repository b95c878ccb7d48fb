"""Triangular domains: on which side of a diagonal, with it or without."""

from __future__ import annotations

from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.term import Term, is_box
from polymat.idiom.call import Operand, Triangle
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True)
class Half:
    """The points of a square with column <= row ("lower") or column >= row; strict: without the diagonal.

    low, high: the indices that both go over.
    """

    triangle: Triangle
    strict: bool
    low: Affine
    high: Affine


def half_of(term: Term, row: str, column: str, context: Domain) -> Half | None:
    """The half of a square that a term's domain is in two of its indices, a rectangle in the others."""
    ranges = (term.range_of(row), term.range_of(column))
    difference = Affine.name(row) - Affine.name(column)
    if is_box(term, context):
        return None
    here = term.domain.assume(context)
    for low, high in dict.fromkeys(ranges):
        square = {row: (low, high), column: (low, high)}
        box = [square.get(dim, term.range_of(dim)) for dim in term.dims]
        whole = Domain.box(term.domain.params, term.dims, box).assume(context)
        for triangle, form in (("lower", difference), ("upper", -difference)):
            for strict in (False, True):
                if here.equals(whole.at_least_zero([form - 1 if strict else form])):
                    return Half("lower" if triangle == "lower" else "upper", strict, low, high)
    return None


def whole_half(term: Term, row: str, column: str, half: Half) -> Term:
    """A term over exactly the points of a half, with the box of its square."""
    square = {row: (half.low, half.high), column: (half.low, half.high)}
    box = tuple(square.get(dim, term.range_of(dim)) for dim in term.dims)
    difference = Affine.name(row) - Affine.name(column)
    form = (difference if half.triangle == "lower" else -difference) - (1 if half.strict else 0)
    domain = Domain.box(term.domain.params, term.dims, box).at_least_zero([form])
    return replace(term, domain=domain, box=box)


def flipped(triangle: Triangle) -> Triangle:
    """The other triangle: that of the transpose."""
    return "upper" if triangle == "lower" else "lower"


def stored(triangle: Triangle, operand: Operand) -> Triangle:
    """The triangle of the array behind an operand of which the formula takes this one."""
    return flipped(triangle) if operand.transposed else triangle
