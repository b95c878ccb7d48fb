"""The triangle of a product, as the C function that multiplies is told of it."""

from __future__ import annotations

from typing import Protocol

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Literal
from polymat.codegen.products.segments import Owner
from polymat.graph.monomials import Factor
from polymat.product.question import PLACES

_ZERO = Literal("0")


class _Owner(Owner, Protocol):
    """The nest of a contraction, as far as its triangle has to know it."""

    def first(self, factor: Factor) -> CExpr:
        """The address of the first element of a matrix."""


def half_of(owner: _Owner) -> CExpr:
    """The triangle, with the distance of its diagonal from the first element that the nest covers."""
    found, name = owner.found, f"_pm_half_of_{owner.shape.suffix}"
    triangle = found.triangle
    if triangle is None:
        return CCall(name, (_ZERO, _ZERO, _ZERO, Literal("NULL"), _ZERO, _ZERO))
    line, across = (owner.range(dim)[0] for dim in (triangle.line, triangle.across))
    shift: CExpr = Literal(str(triangle.shift))
    shift = shift if line == _ZERO else CBinary("+", shift, line)
    shift = shift if across == _ZERO else CBinary("-", shift, across)
    place = Literal(str(PLACES.index(triangle.place) + 1))
    mirror = found.mirror
    rest: tuple[CExpr, ...] = (Literal("NULL"), _ZERO, _ZERO)
    if mirror is not None:
        steps = (owner.step(mirror, dim) for dim in (triangle.line, triangle.across))
        rest = (owner.first(mirror), *steps)
    return CCall(name, (place, Literal(str(int(triangle.before))), shift, *rest))
