"""Random extremes with their first places, against the interpreter and NumPy."""

from __future__ import annotations

import pytest

import polymat as pm
from tests.differential.random_positions import differences, not_as_numpy, random_positions

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
