"""Groups of the dimensions of a product."""

from __future__ import annotations

import itertools

import pytest

from polymat.product.contraction import sides
from polymat.rewrite.contractiontime import bits

DIMS = "bmnkx"
SUBSETS = [frozenset(some) for count in range(6) for some in itertools.combinations(DIMS, count)]


def test_sides() -> None:
    """`b` is a loop around the product, and `x` is summed in one operand by itself."""
    left, right, result = (frozenset(each) for each in ("bmkx", "bkn", "bmn"))
    assert sides(left, right, result) == (frozenset("m"), frozenset("n"), frozenset("k"))


@pytest.mark.parametrize("result", SUBSETS[::5], ids=lambda dims: "".join(sorted(dims)))
def test_sides_of_bits_are_those_of_names(result: frozenset[str]) -> None:
    for left, right in itertools.product(SUBSETS[::3], SUBSETS[::2]):
        numbers = sides(*(bits(each, DIMS) for each in (left, right, result)))
        assert numbers == tuple(bits(side, DIMS) for side in sides(left, right, result))
        assert sides(right, left, result)[:2] == sides(left, right, result)[1::-1]
