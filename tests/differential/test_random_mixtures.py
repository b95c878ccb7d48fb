"""Random programs that mix kinds of stages which meet rarely, compiled in random ways, beside the interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest

import polymat as pm
from tests.differential.mixeddraw import Mixture
from tests.differential.random_mixtures import STEPS, arrays, differences, mixture, random_options

PROGRAMS = 24
KINDS = 200  # programs that are only drawn


@pytest.mark.drawn(12)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_random_mixtures(number: int, seed: int) -> None:
    made = mixture(1000 * seed + number)
    try:
        wrong = differences(made, 1000 * seed + number)
    except pm.BoundsError:
        pytest.skip("a part leaves its array for some sizes")
    assert not wrong, "\n".join([*wrong, str(made)])


def test_all_kinds_of_steps_are_drawn(seed: int) -> None:
    """Each in many programs, and most results are exact, so that no tolerance hides what is wrong."""
    drawn: list[Mixture] = [mixture(number) for number in range(KINDS * seed, KINDS * (seed + 1))]
    kinds = [text.split(":")[0] for made in drawn for text in made.text]
    assert min(kinds.count(name) for name, _ in STEPS) > 0.05 * KINDS
    assert np.mean([value.exact for made in drawn for value in made.outputs]) > 0.6


def test_inputs_are_integers(seed: int) -> None:
    """Of halves, which real parts would be, `Round` behind transforms may go either way."""
    for number in range(seed, seed + 10):
        found = arrays(mixture(number), {"K": 2, "M": 5, "N": 7}, number)
        for array in (each for each in found.values() if each.dtype.kind == "c"):
            assert np.array_equal(np.round(array), array)


def test_the_same_seed_draws_the_same() -> None:
    assert str(mixture(7)) == str(mixture(7))
    assert str(mixture(7)) != str(mixture(8))
    assert random_options(random.Random(3)) == random_options(random.Random(3))
