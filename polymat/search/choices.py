"""What a search needs to know of the space that it searches."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

from polymat.graph.selection import Selection
from polymat.request import Request
from polymat.steps import Job, Level


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
