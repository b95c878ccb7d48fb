"""Random iterations of several states, against the interpreter."""

from __future__ import annotations

import pytest

import polymat as pm
from tests.differential.random_states import differences, random_states

FLAGS = ("-O1",)
OPTIONS = (
    pm.Options(cflags=FLAGS),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=2),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=7),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=3, skip=("skews",)),
)
PROGRAMS = 2


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    for program in range(PROGRAMS):
        states = random_states(1000 * seed + 100 * number + program)
        assert differences(states, OPTIONS[number], seed) == []
