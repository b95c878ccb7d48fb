"""Slices that wait for blocks of steps compute what the interpreter does, whatever is predicted of them."""

from __future__ import annotations

import pytest

from tests.differential.random_waiting import differences, draw

PROGRAMS = 8


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    assert differences(draw(1000 * seed + number), steps=(3, 4, 16)[number % 3]) == []
