"""Accesses at places that are known at the call alone."""

from __future__ import annotations

import polymat as pm
from polymat import Cast, Clamp, Int
from polymat.lang.affine import Affine
from polymat.lang.computed import index_form
from polymat.poly.access import Access
from polymat.poly.distance import value_span
from polymat.poly.domain import Domain

N = pm.Parameter(Int, "N")
i = pm.Variable(Int, "i")
level, number = pm.Vector(pm.UChar, "level", [N]), pm.Vector(pm.Long, "number", [N])
POINTS = Domain.box(["N"], ["i"], [(Affine(), Affine.name("N") - 1)])


def domain(low: Affine, high: Affine) -> Domain:
    return Domain.box(["N"], ["d"], [(low, high)])


def test_an_access_has_all_elements_that_may_be_read() -> None:
    access = Access.of(POINTS, [index_form(Cast(Int, level(i)) // 16, 0, None)])
    everything = domain(Affine(), Affine((), 15)).assume(
        Domain.box(["N"], [], []).at_least_zero([Affine.name("N") - 1])
    )
    assert access.elements(["d"]).equals(everything)
    assert not access.is_injective()
    assert not access.outside(domain(Affine(), Affine((), 14))).is_empty()


def test_a_clamp_to_sizes_is_inside_where_there_is_anything() -> None:
    access = Access.of(POINTS, [index_form(Clamp(number(i), 0, N - 1), 0, None)])
    assert access.outside(domain(Affine(), Affine.name("N") - 1)).is_empty()
    assert not access.outside(domain(Affine(), Affine.name("N") - 2)).is_empty()


def test_affine_parts_are_exact() -> None:
    near = index_form(Clamp(number(i), -1, 2) + i, 0, None)
    assert value_span(POINTS, near - Affine.name("i")) == (-1, 2)
    assert value_span(POINTS, index_form(Clamp(number(i), 0, N - 1), 0, None) - Affine.name("i")) is None
