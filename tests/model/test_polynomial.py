"""Polynomials in tile sizes: their arithmetic is that of the numbers they stand for."""

from __future__ import annotations

import random

import pytest

from polymat.model.polynomial import Polynomial, signed_sum

t, u = Polynomial.name("t"), Polynomial.name("u")


def grown(rng: random.Random, depth: int) -> tuple[Polynomial, str]:
    """A polynomial, and the same as a formula in Python."""
    if not depth:
        number = rng.randint(-3, 3)
        return rng.choice([(t, "t"), (u, "u"), (Polynomial.constant(number), f"({number})")])
    (a, left), (b, right) = grown(rng, depth - 1), grown(rng, depth - 1)
    op, value = rng.choice([("+", a + b), ("-", a - b), ("*", a * b)])
    return value, f"({left}{op}{right})"


@pytest.mark.parametrize("case", range(20))
def test_values_are_those_of_the_formula(seed: int, case: int) -> None:
    rng = random.Random(seed + case)
    polynomial, formula = grown(rng, 4)
    for at in ({"t": 2, "u": -3}, {"t": 5, "u": 1}):
        assert polynomial.evaluate(at) == eval(formula, dict(at))
    put = polynomial.substitute({"t": u + 1, "u": 2})  # both at once
    assert put.evaluate({"u": 4}) == polynomial.evaluate({"t": 5, "u": 2})


def test_equal_whatever_the_order_they_were_made_in() -> None:
    assert t * u + 3 == 3 + u * t
    assert hash(t + u) == hash(u + t)
    assert t - t == 0
    assert (t * 0).terms == ()


def test_coefficients_and_text() -> None:
    half = t * t * 0.5 + t * 256 - 4096
    assert half.coefficients("t") == (0.5, 256, -4096)
    assert (str(half), str(-1 * t * u * u), signed_sum([])) == ("0.5t² + 256t - 4096", "-t·u²", "0")
    assert ((t * 3) / 2).evaluate({"t": 2}) == 3
    with pytest.raises(ValueError, match="has other variables than t"):
        (t * u).coefficients("t")
