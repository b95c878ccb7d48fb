"""Choices that a search draws at random."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from polymat.graph.selection import Selection

AFRESH = 0.2  # of the choices begin with the default, not with the best so far
FURTHER = 0.4  # of the steps have another one behind them
MOST_DRAWS = 20  # times that choices are drawn in vain


def drawn_choice(
    default: Selection, best: Selection, rng: Random, step: Callable[[Selection, Random], Selection]
) -> Selection:
    """A choice some steps away from the best so far, or now and then from the default."""
    choice = default if rng.random() < AFRESH else best
    while True:
        choice = step(choice, rng)
        if rng.random() >= FURTHER:
            return choice
