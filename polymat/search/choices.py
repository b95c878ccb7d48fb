"""What a search needs to know of the space that it searches, and choices that it draws at random."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from random import Random
from typing import Protocol

from polymat.graph.selection import Selection
from polymat.request import Request
from polymat.steps import Job, Level

AFRESH = 0.2  # of the choices begin with the default, not with the best so far
FURTHER = 0.4  # of the steps have another one behind them
MOST_DRAWS = 20  # times that choices are drawn in vain


class Draws(Protocol):
    """Where candidates come from."""

    @property
    def default(self) -> Selection:
        """The choice of the compiler itself."""

    def draw(self, number: int, best: Selection, known: Collection[Selection]) -> Selection | None:
        """The choice of a trial; None where there is nothing new."""

    def price(self, choice: Selection) -> float:
        """Predicted seconds."""


class ChoiceSpace(Draws, Protocol):
    """Candidates with their programs; a space has them for one request."""

    @property
    def request(self) -> Request:
        """The request whose programs are compared."""

    def job(self, choice: Selection) -> Job:
        """The compilation of a choice."""

    def lowered(self, choice: Selection) -> Iterator[Level]:
        """Compile a choice up to the text of its program, level by level."""


def drawn_choice(
    default: Selection, best: Selection, rng: Random, step: Callable[[Selection, Random], Selection]
) -> Selection:
    """A choice some steps away from the best so far, or now and then from the default."""
    choice = default if rng.random() < AFRESH else best
    while True:
        choice = step(choice, rng)
        if rng.random() >= FURTHER:
            return choice
