"""What a search came to: the compiled program, both figures, and how the best was approached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import ceil
from typing import Any

from polymat.dataclass import dataclass
from polymat.errors import ArgumentError, counted
from polymat.runtime.compiled import Compiled
from polymat.runtime.tunedstore import SearchEnd, Trial

COUNTS, CONFIDENCES = (1, 2, 5, 10, 20, 50, 100), (0.5, 0.7, 0.9)  # of trials, at which curves have points


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """A program as it was found to be the quickest.

    compiled: to be called; as the compiler chooses by itself where nothing was quicker.
    default_seconds, best_seconds: of a call, medians of calls by turns at the end.
    trials: all that were made for this program at sizes like these, in order.
    """

    compiled: Compiled[Any, Any]
    default_seconds: float
    best_seconds: float
    trials: tuple[Trial, ...]
    ending: SearchEnd

    @property
    def gain(self) -> float:
        """How many times as fast as the default it is; 1 where that was kept."""
        return self.default_seconds / self.best_seconds if self.best_seconds > 0.0 else 1.0

    def convergence(self) -> list[dict[str, float]]:
        """After each trial: its number, the seconds spent so far, and the least ratio to the default."""
        found, spent, best = [], 0.0, 1.0
        for number, trial in enumerate(self.trials, 1):
            spent += trial.spent
            best = best if trial.fault else min(best, trial.ratio)
            found.append({"trial": number, "spent": spent, "ratio": best})
        return found

    def expect(self, trials: int, confidence: float) -> float:
        """How many times as fast as the default the best of some trials is, with a confidence."""
        return expect(self.trials, trials, confidence)

    def as_json(self) -> dict[str, Any]:
        """All of it but the program, for those who draw curves."""
        counts = [n for n in COUNTS if n <= max(1, len(self.trials))]
        timed = any(trial.rounds for trial in self.trials)
        return {
            "default_seconds": self.default_seconds,
            "best_seconds": self.best_seconds,
            "gain": self.gain,
            "best_trial": self.ending.number,
            "trials": [asdict(trial) for trial in self.trials],
            "convergence": self.convergence(),
            "expect": {
                str(level): {str(n): self.expect(n, level) for n in counts} if timed else {}
                for level in CONFIDENCES
            },
        }

    def __str__(self) -> str:
        name, count = self.compiled.signature.name, len(self.trials)
        if not count:
            return f"{name}: there is nothing to choose, {self.default_seconds * 1e3:.4g} ms"
        if self.ending.choice is None:
            return (
                f"{name}: {counted(count, 'trial')}, none clearly quicker than what the compiler chooses "
                f"by itself, {self.default_seconds * 1e3:.4g} ms"
            )
        return (
            f"{name}: {self.best_seconds * 1e3:.4g} ms, {self.gain:.2f} times as fast as the default's "
            f"{self.default_seconds * 1e3:.4g} ms, found by trial {self.ending.number} of {count}: "
            f"{self.ending.choice}"
        )

    __repr__ = __str__


def expect(known: Sequence[Trial], trials: int, confidence: float) -> float:
    """The speed, beside the default's, that the best of so many trials has at least with a confidence.

    As if trials were drawn at random from those that are known, with replacement (expect(n, tau) of
    Tollenaere's thesis, section 5.4.6): the best of n is above a speed that a part p of them reaches with
    probability 1 - (1 - p)^n.  An `ArgumentError` where none was timed, and for what is no confidence.
    """
    return expected(
        [trial.ratio for trial in known if trial.rounds and trial.ratio > 0.0], trials, confidence
    )


def expected(ratios: Sequence[float], trials: int, confidence: float) -> float:
    """The speed that the best of so many draws of ratios has at least with a confidence, as in `expect`."""
    speeds = sorted((1.0 / ratio for ratio in ratios), reverse=True)
    if not speeds or trials < 1 or not 0.0 < confidence < 1.0:
        raise ArgumentError(
            f"expect({trials}, {confidence}) of {len(speeds)} trials that were timed",
            hint="at least one trial, and a confidence between 0 and 1",
        )
    part: float = 1.0 - (1.0 - confidence) ** (1.0 / trials)
    return speeds[min(len(speeds), max(1, ceil(part * len(speeds)))) - 1]
