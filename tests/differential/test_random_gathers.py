"""Random pipelines with computed places, against the interpreter."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import polymat as pm
from polymat import Op
from tests.differential.placesbynumpy import Scatter, not_as_numpy
from tests.differential.random_gathers import batch, differences, random_gathers

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


@pytest.mark.drawn(32)
@pytest.mark.parametrize("number", range(64))
def test_many_are_those_of_the_interpreter_and_of_numpy(number: int, seed: int) -> None:
    assert batch(number, seed) == []


def test_numpy_notices_what_a_stage_is_not() -> None:
    claims = [
        each for each in random_gathers(3, 40).claims if isinstance(each, Scatter) and each.op is Op.Sum
    ]
    wrong = [replace(each, op=Op.Max) for each in claims if not isinstance(each.value, int)]
    assert wrong
    arrays = partial(random_gathers(3).arrays, np.random.default_rng(3))
    assert not_as_numpy(claims, arrays, [(13, 17)]) == []
    assert len(not_as_numpy(wrong, arrays, [(13, 17)])) == len(wrong)
