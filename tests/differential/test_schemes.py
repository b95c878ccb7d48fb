"""A sample of the forty programs in random schemes, against the interpreter: several in one library."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.randomschemes import TOGETHER, WAYS, failures, misread
from tests.differential.schemeprograms import PROGRAMS

WRONG = 24


@pytest.mark.parametrize("case", range(2))
def test_random_schemes_compute_what_the_definition_says(case: int, seed: int) -> None:
    kinds = Random(seed).sample(range(len(PROGRAMS)), 2 * TOGETHER)[case::2]
    numbers = [1000 * len(PROGRAMS) * (case + 1) + kind for kind in kinds]
    assert [*failures(seed, numbers, WAYS["plain"])] == []


def test_schemes_with_something_changed_are_schemes_or_say_what_is_wrong(seed: int) -> None:
    assert [*misread(seed, range(WRONG))] == []
