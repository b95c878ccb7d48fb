"""Recurrences slice by slice compute what the interpreter does, whatever is predicted of them."""

from __future__ import annotations

import pytest

from polymat.rewrite import sliced
from tests.differential.random_slices import differences, draw

PROGRAMS = 8


@pytest.mark.drawn(4)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_results_are_those_of_the_interpreter(
    number: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sliced, "CLEARLY", 1e9)
    assert differences(draw(1000 * seed + number)) == []
