"""Something that is measured again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from polymat.dataclass import dataclass


class RefusedError(Exception):
    """The system does not give the threads that were asked for."""


@dataclass(slots=True)
class Sample:
    """Something measured again and again: its best time counts, because disturbance only adds to it.

    run: does `amount` of it, in bytes, operations or times, and returns the seconds that it took.
    patience: how many times as much as of others its times may differ.
    """

    amount: float
    run: Callable[[], float]
    patience: float = 1.0
    least: list[float] = field(default_factory=list)  # the three best times, the best one first

    def measure(self) -> float:
        """Measure once more; return the best time as a share of what it was before."""
        seconds = self.run()
        if seconds < 0.0:
            raise RefusedError
        before = self.best
        # The clock of some virtual machines stands still for short whiles.
        if seconds > 0.0:
            self.least = sorted([*self.least, seconds])[:3]
        return self.best / before if self.least else 1.0

    @property
    def best(self) -> float:
        return self.least[0] if self.least else float("inf")

    def agrees(self, share: float) -> bool:
        """Whether three times were at most so many times the best one, and `patience`."""
        return len(self.least) == 3 and self.least[2] <= share * self.patience * self.least[0]

    @property
    def rate(self) -> float:
        return self.amount / self.best

    @property
    def seconds(self) -> float:
        return self.best / self.amount
