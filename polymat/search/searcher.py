"""The search: one trial after the other until the time is over, and then the best ones again."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from polymat.dataclass import dataclass
from polymat.graph.selection import Selection
from polymat.runtime.tunedkey import size_class
from polymat.runtime.tunedstore import SearchEnd, Trial, TunedFile
from polymat.search.bench import Tried
from polymat.search.choices import Draws
from polymat.search.clock import Clock, Compared

RESERVED = 0.15  # of the time, for the best ones at the end
FINALISTS = 3
ENDED = 2  # times that the process ended while something was tried: it is not tried again
BETTER = 0.98  # of the default's time: what takes more is not worth another program
WON = 0.7  # of the rounds at the end in which it has to be the quicker one


class Tries(Protocol):
    """Where candidates are compiled, checked and timed."""

    @property
    def compiles_beside(self) -> bool:
        """Whether the next candidate is compiled while one is timed."""

    def prepare(self, choice: Selection) -> None:
        """Begin to compile a candidate, if that disturbs nobody."""

    def trial(self, choice: Selection, best: float) -> Tried:
        """Compile, check and time one; best: the least ratio so far."""

    def default_seconds(self) -> float:
        """Seconds of a call of the default."""

    def last(self, choices: Sequence[Selection]) -> list[Compared]:
        """Time some again, for longer."""

    def elsewhere(self, choice: Selection) -> Compared:
        """Time one once more for as long, with results at other places in memory."""

    def cold(self, choice: Selection) -> Compared | None:
        """Time one with empty caches; None where calls are so long that this is no question."""


@dataclass(slots=True)
class Search:
    """A search with what it knows; sizes: at which calls are timed.

    budget: seconds, of which those count that trials have taken since the last ending.  most: trials in all.
    told: is told after each trial the trials so far and the seconds that were spent.
    """

    draws: Draws
    tries: Tries
    file: TunedFile
    clock: Clock
    sizes: Mapping[str, int]
    budget: float
    told: Callable[[Sequence[Trial], float], None] = lambda trials, spent: None
    most: int = sys.maxsize
    trials: list[Trial] = field(default_factory=list)
    spent: float = 0.0

    def run(self) -> SearchEnd:
        """Try choices until the time is over, measure the best ones again, and keep what that came to."""
        self._remember()
        following: Selection | None = None
        while self.spent < (1.0 - RESERVED) * self.budget and len(self.trials) < self.most:
            begin = self.clock.now()
            choice = following or self._draw()
            if choice is None:
                break
            following = self._next(choice)
            self._try(choice, begin)
        ending = self._ending()
        self.file.add(ending)
        return ending

    def _remember(self) -> None:
        """Take over what earlier searches at sizes like these have tried, and what the last one has spent."""
        wanted = size_class(self.sizes)
        for record in self.file.records:
            if size_class(record.sizes) != wanted:
                continue
            if isinstance(record, SearchEnd):
                self.spent = 0.0
            else:
                self.trials.append(record)
                self.spent += record.spent

    def _draw(self, *more: Selection) -> Selection | None:
        known = [*(trial.choice for trial in self.trials), *more]
        best = self.best
        return self.draws.draw(len(known), self.draws.default if best is None else best.choice, known)

    def _next(self, choice: Selection) -> Selection | None:
        """The choice after this one, if it may be compiled meanwhile."""
        if not self.tries.compiles_beside:
            return None
        following = self._draw(choice)
        if following is not None:
            self.tries.prepare(following)
        return following

    @property
    def best(self) -> Trial | None:
        """The best trial so far, if one is better than the default."""
        right = [trial for trial in self.trials if not trial.fault and trial.ratio < 1.0]
        return min(right, key=lambda trial: trial.ratio, default=None)

    def _try(self, choice: Selection, begin: float) -> None:
        best = self.best
        if self.file.begin(choice) < ENDED:
            tried = self.tries.trial(choice, 1.0 if best is None else best.ratio)
        else:
            tried = Tried(None, "the process ended whenever it was tried")
        times = tried.times or Compared(0.0, 0.0, 0.0, 0, 0.0)
        trial = Trial(
            choice=choice,
            sizes=self.sizes,
            predicted=self.draws.price(choice),
            seconds=times.seconds,
            default=times.default,
            ratio=times.ratio,
            rounds=times.rounds,
            spent=self.clock.now() - begin,
            fault=tried.fault,
            dropped=times.dropped,
            date=_date(),
        )
        self.file.add(trial)
        self.file.done()
        self.trials.append(trial)
        self.spent += trial.spent
        self.told(self.trials, self.spent)

    def _ending(self) -> SearchEnd:
        """The best of the trials that is quicker than the default twice more and no slower in cold caches."""
        right = [trial for trial in self.trials if not (trial.fault or trial.dropped)]
        promising = sorted((t for t in right if t.ratio < 1.0), key=lambda trial: trial.ratio)[:FINALISTS]
        again = self.tries.last([trial.choice for trial in promising])
        better = [pair for pair in zip(again, promising, strict=True) if _is_better(pair[0])]
        for _, trial in sorted(better, key=lambda pair: pair[0].ratio):
            # The best of several times is too short: what it is chosen by is not what it is judged by.
            found = self.tries.elsewhere(trial.choice)
            if _is_better(found) and not _is_slower(self.tries.cold(trial.choice)):
                number = self.trials.index(trial) + 1
                return self._end(trial.choice, found.seconds, found.default, number)
        default = again[0].default if again else self.tries.default_seconds()
        return self._end(None, default, default, 0)

    def _end(self, choice: Selection | None, seconds: float, default: float, number: int) -> SearchEnd:
        return SearchEnd(choice, self.sizes, seconds, default, number, len(self.trials), _date())


def _is_better(times: Compared) -> bool:
    """Whether a candidate is clearly quicker than the default, by all that tells it."""
    return times.ratio <= BETTER and times.wins >= WON and times.seconds <= times.default


def _is_slower(times: Compared | None) -> bool:
    """Whether a candidate is clearly slower than the default."""
    return times is not None and times.ratio * BETTER > 1.0


def _date() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
