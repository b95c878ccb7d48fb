"""Random extremes with their first places, against the interpreter and NumPy."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import polymat as pm
from tests.differential.random_positions import SHAPES, differences, not_as_numpy, random_positions

FLAGS = ("-O1",)
OPTIONS = (
    pm.Options(cflags=FLAGS),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=2),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=7, inline=False),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=3, skip=("positions",)),
)
PROGRAMS = 3


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    positions = random_positions(1000 * seed + number, PROGRAMS)
    assert not_as_numpy(positions, seed) == []
    assert differences(positions, OPTIONS[number], seed) == []


@pytest.mark.drawn(10)
@pytest.mark.parametrize("number", range(20))
def test_many_are_those_of_the_interpreter_and_of_numpy(number: int, seed: int) -> None:
    """Ten programs in one compilation, as gcc makes it without optimising, at half of the sizes."""
    own = 1000 * seed + 500 + number
    positions, shapes = random_positions(own, 10), random.Random(own).sample(SHAPES, 4)
    options = replace(OPTIONS[number % len(OPTIONS)], cflags=("-O0",))
    assert not_as_numpy(positions, own, shapes[:2]) == []
    assert differences(positions, options, own, shapes) == []
