"""Random systems over time at computed places, against the interpreter."""

from __future__ import annotations

import pytest

import polymat as pm
from tests.differential.random_computed_steps import differences, random_systems

FLAGS = ("-O1",)
OPTIONS = (
    pm.Options(cflags=FLAGS),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=2),
    pm.Options.naive(cflags=FLAGS, parallel_threshold=0, threads=2),
)


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    assert differences(random_systems(1000 * seed + number, 5), OPTIONS[number], seed) == []
