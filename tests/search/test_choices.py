"""Choices that are drawn: from where they begin, and how many steps away they are."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from polymat.graph.selection import Selection
from polymat.search.choices import AFRESH, FURTHER, drawn_choice

DEFAULT, BEST = Selection(()), Selection((), changes=(("blas", "never"),))


def test_most_begin_at_the_best_and_take_one_step() -> None:
    begun: Counter[Selection] = Counter()
    taken = 0

    def step(choice: Selection, _: Random) -> Selection:
        nonlocal taken
        taken += 1
        begun[choice] += 1
        return Selection((), changes=(*choice.changes, ("kernels", False)))

    drawn = [drawn_choice(DEFAULT, BEST, Random(seed), step) for seed in range(2000)]
    assert all(choice not in (DEFAULT, BEST) for choice in drawn)
    assert begun[DEFAULT] / (begun[DEFAULT] + begun[BEST]) == pytest.approx(AFRESH, abs=0.03)
    assert taken / len(drawn) == pytest.approx(1 / (1 - FURTHER), rel=0.05)
