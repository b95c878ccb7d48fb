"""Accesses: which elements are touched, by which points."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import Condition, Int, Parameter, Variable
from polymat.lang.affine import Affine
from polymat.lang.indices import as_affine
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from tests.poly.nests import points

N = Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")


def form(value: Any) -> Affine:
    return as_affine(value, None)


SQUARE = Domain.box(("N",), ("i", "j"), [(form(0), form(N - 1))] * 2)
LINE = Domain.box(("N",), ("d0",), [(form(0), form(N - 1))])


def access(*indices: Any) -> Access:
    return Access.of(SQUARE, [form(index) for index in indices])


def test_image() -> None:
    image = Domain(("N",), ("e",), access(2 * i + 1).image())
    assert points(image, N=3) == [(1,), (3,), (5,)]
    nothing = Domain(("N",), (), access().image())
    assert points(nothing, N=3) == [()]


@pytest.mark.parametrize(
    ("index", "outside"),
    [
        (i, []),
        (i - 1, [(0, 0), (0, 1), (0, 2)]),
        (i + j, [(1, 2), (2, 1), (2, 2)]),
        (N - 1 - i, []),
        (N - i, [(0, 0), (0, 1), (0, 2)]),
        ((i + j) // 2, []),
        (i % 2 + j, [(1, 2)]),
        (0 * i, []),
    ],
)
def test_points_outside_a_target(index: Any, outside: list[tuple[int, int]]) -> None:
    found = access(index).outside(LINE)
    assert found.dims == ("i", "j")
    assert points(found, N=3) == outside


@pytest.mark.parametrize(
    ("indices", "injective"),
    [((i, j), True), ((j, i), True), ((i,), False), ((i + j, i - j), True), ((i + j, 2 * i), True),
     ((i // 2, j), False), ((i, j, i + j), True)],
)  # fmt: skip
def test_injective(indices: tuple[Any, ...], injective: bool) -> None:
    assert access(*indices).is_injective() is injective


def test_subset_and_common_elements() -> None:
    lower = Access.of(SQUARE.where(Condition(j, "<", i)), [form(i)])
    assert lower.is_subset(access(i))
    assert not access(i).is_subset(lower)
    assert not lower.is_subset(access(j))
    pairs = access(i).same_element_pairs(access(j))
    transposed = access(j).same_element_pairs(access(i))
    assert pairs.reverse().is_equal(transposed)
    assert access(i + N).same_element_pairs(access(j)).is_empty()
