"""Weights read as waves: phases as polynomials, what cancels, and what is no wave."""

from __future__ import annotations

import cmath
import math
from typing import Any

import pytest

from polymat import Cast, Cos, Double, Exp, Int, Long, Parameter, Sin, Variable
from polymat.idiom.phase import PhasePolynomial, Waves, number_of, scaled, sum_of_waves, waves_of
from polymat.lang.expr import Const

N = Parameter(Int, "N")
n, k = Variable(Int, "n"), Variable(Int, "k")
TURN = 2 * math.pi
name, number = PhasePolynomial.name, PhasePolynomial.constant


def waves(*weights: Any) -> list[tuple[dict[str, complex], complex]]:
    """Phases as coefficients by the powers of their names, and amplitudes."""
    found = waves_of(weights)
    assert found is not None
    return [
        ({" ".join(f"{a}^{p}" for a, p in powers): c for powers, c in phase.terms}, amplitude)
        for phase, amplitude in found.waves
    ]


def test_an_exponential_is_one_wave() -> None:
    ((phase, amplitude),) = waves(Exp(-1j * (TURN * n * k) / N))
    assert amplitude == 1
    assert phase == {"N^-1 k^1 n^1": pytest.approx(-TURN)}


def test_a_cosine_is_two_waves_and_a_sine_has_them_with_other_signs() -> None:
    assert waves(Cos(1.0 * n)) == [({"n^1": 1}, 0.5), ({"n^1": -1}, 0.5)]
    assert waves(Sin(1.0 * n)) == [({"n^1": 1}, -0.5j), ({"n^1": -1}, 0.5j)]


def test_waves_of_equal_phase_are_added_and_those_that_cancel_are_gone() -> None:
    both = Cos(1.0 * n) + 1j * Sin(1.0 * n)
    assert waves(both) == [({"n^1": 1}, 1)]
    squares = Cos(1.0 * n) * Cos(1.0 * n) + Sin(1.0 * n) * Sin(1.0 * n)
    ((phase, amplitude),) = waves(squares)
    assert phase == {}
    assert amplitude == pytest.approx(1)


def test_several_weights_are_multiplied() -> None:
    ((phase, amplitude),) = waves(Exp(1j * (1.0 * n)), Exp(1j * (2.0 * k)), Const(3.0, Double))
    assert (phase, amplitude) == ({"n^1": 1, "k^1": 2}, 3)


def test_growth_and_other_functions_are_no_waves() -> None:
    assert waves_of([Exp(1.0 * n)]) is None
    assert waves_of([1.0 * n]) is None
    assert waves_of([]) is None
    assert waves_of([Exp(1j * (1.0 * n)) / Cos(1.0 * k)]) is None


def test_a_remainder_is_its_value_less_whole_turns() -> None:
    reduced = Exp(-1j * (TURN * ((n * k) % N)) / N)
    assert waves(reduced) == waves(Exp(-1j * (TURN * (n * k)) / N))
    half = Exp(-1j * (0.5 * TURN * ((n * k) % N)) / N)  # half a turn each time that N is taken off
    assert waves(half) != waves(Exp(-1j * (0.5 * TURN * (n * k)) / N))


def test_numbers_are_known_where_nothing_moves() -> None:
    assert number_of(Const(6.0, Double) / Const(4.0, Double) - Const(0.5, Double)) == 1
    assert number_of(1.0 * n) is None
    assert number_of(Const(1.0, Double) / (1.0 * n - 1.0 * n)) is None  # by nothing


def test_sums_and_inverses_of_polynomials() -> None:
    a, b = name("a"), name("b")
    assert (a + b) * (a + -b) == a * a + -(b * b)
    assert (a + -a).number == 0
    assert (a * b).inverse() == name("a", -1) * name("b", -1)
    total = (a + b).inverse()
    assert total is not None
    assert total * (a + b).as_name() == number(1)
    assert PhasePolynomial().inverse() is None


def test_whole_turns_of_integers_are_left_out() -> None:
    phase = name("n") * number(3 * TURN) + name("n") * name("t") * number(TURN) + name("k") * number(1.0)
    assert phase.without_turns({"n"}) == name("n") * name("t") * number(TURN) + name("k")
    assert phase.without_turns({"n", "t", "k"}) == name("k")
    backwards = name("n", -1) * number(TURN)
    assert backwards.without_turns({"n"}) == backwards


def test_phases_agree_but_for_rounding() -> None:
    exact = name("n") * number(TURN / 3)
    assert exact.is_near(name("n") * number(TURN / 3 * (1 + 1e-15)))
    assert not exact.is_near(name("n") * number(TURN / 3 * (1 + 1e-9)))
    assert not exact.is_near(name("k") * number(TURN / 3))


def test_an_index_keeps_its_value_as_a_longer_integer_alone() -> None:
    assert waves(Exp(1j * (1.0 * Cast(Long, n)))) == [({"n^1": 1}, 1)]
    short = Cast(Int, 2.5 * n)  # cut to a whole number
    assert waves_of([Exp(1j * (1.0 * short))]) is None


def test_sums_and_multiples_of_waves() -> None:
    one = Waves(None, ((name("n"), 1 + 0j), (name("k"), 2 + 0j)))
    other = Waves(None, ((name("n"), -1 + 0j),))
    assert sum_of_waves([one, other]).waves == ((name("k"), 2),)
    (first, second) = scaled(one, cmath.exp(0.5j)).waves
    assert first[1] == pytest.approx(cmath.exp(0.5j))
    assert second[1] == pytest.approx(2 * cmath.exp(0.5j))
