"""Random pipelines with computed places, against the interpreter."""

from __future__ import annotations

import pytest

import polymat as pm
from tests.differential.random_gathers import differences, random_gathers

PARALLEL = {"cflags": ("-O1",), "parallel_threshold": 0, "threads": 2}
OPTIONS = (
    pm.Options(cflags=("-O1",)),
    pm.Options(**PARALLEL),  # type: ignore[arg-type]
    pm.Options.naive(**PARALLEL),
    pm.Options(tile_sizes=(3,), inline=False, **PARALLEL),  # type: ignore[arg-type]
)


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    gathers = random_gathers(1000 * seed + number)
    assert differences(gathers, OPTIONS[number], seed) == []
