"""Products of array elements: multiplied, negated, conjugated, and at other indices."""

from __future__ import annotations

import numpy as np
import pytest

from polymat import Complex, Double, Int
from polymat.graph.monomials import Factor, Monomial, minus_one, unless_one
from polymat.graph.stage import Ref
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Unary
from polymat.lang.types import UInt

ROW, COLUMN = Affine.name("i"), Affine.name("j")
A = Factor(Ref("A", Double, is_input=True), (ROW, COLUMN + 1))
Z = Factor(Ref("Z", Complex, is_input=True), (ROW,))
TWO, THREE = Const(2.0, Double), Const(3.0, Double)


def test_a_factor_says_what_it_is() -> None:
    assert str(A) == "A(i, j + 1)"
    assert A.names() == {"i", "j"}
    assert str(A.at({"j": ROW + ROW})) == "A(i, 2*i + 1)"


def test_products_have_all_factors_and_one_scale() -> None:
    product = Monomial(TWO, (A,)) * Monomial(None, (Z,), divisors=(A,))
    assert product.scale == TWO
    assert (product.factors, product.divisors) == ((A, Z), (A,))
    assert str((Monomial(TWO) * Monomial(THREE)).scale) == "2.0 * 3.0"


def test_minus_one_in_a_product_is_a_sign() -> None:
    assert (Monomial(minus_one(Double)) * Monomial(TWO)).scale == Const(-2.0, Double)
    assert (Monomial(TWO) * Monomial(minus_one(Double))).scale == Const(-2.0, Double)


def test_the_negative_of_the_negative_is_the_monomial() -> None:
    assert Monomial(TWO).negated(Double).negated(Double).scale == TWO
    once = Monomial(Unary("-", TWO, Double)).negated(Double)
    assert once.scale == TWO


def test_unsigned_numbers_are_negated_as_they_wrap_around() -> None:
    largest = (1 << 8 * np.dtype(UInt.dtype).itemsize) - 1
    assert minus_one(UInt).value == largest
    assert Monomial(Const(5, UInt)).negated(UInt).scale == Const(largest - 4, UInt)


def test_only_complex_factors_are_conjugated() -> None:
    conjugated = Monomial(TWO, (A, Z)).conjugate()
    assert [factor.conjugated for factor in conjugated.factors] == [False, True]
    assert conjugated.scale == TWO
    assert str(conjugated.factors[1]) == "conj(Z(i))"
    assert conjugated.conjugate().factors == (A, Z)


@pytest.mark.parametrize(
    ("scale", "kept"), [(Const(1, Int), False), (Const(1.0, Double), False), (TWO, True)]
)
def test_one_is_no_scale(scale: Const, kept: bool) -> None:
    assert (unless_one(scale) is scale) is kept


def test_forms_are_put_in_for_names_everywhere() -> None:
    found = Monomial(TWO, (A,), (Z,)).at({"i": COLUMN + 2})
    assert str(found.factors[0]) == "A(j + 2, j + 1)"
    assert str(found.divisors[0]) == "Z(j + 2)"
