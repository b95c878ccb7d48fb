"""Random planes, turns and borders that are read once, against the interpreter."""

from __future__ import annotations

import pytest

import polymat as pm
from tests.differential.random_planes import differences, random_planes

FLAGS = ("-O1",)
OPTIONS = (
    pm.Options(cflags=FLAGS),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=3),
    pm.Options(cflags=FLAGS, parallel_threshold=0, threads=2, fuse=False),
    pm.Options(cflags=FLAGS, tile_sizes=(3, 8), parallel_threshold=0, threads=7),
)
PROGRAMS = 5


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    planes = random_planes(1000 * seed + number, PROGRAMS)
    assert differences(planes, OPTIONS[number], seed) == []
