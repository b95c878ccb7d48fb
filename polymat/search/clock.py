"""Two programs timed by turns, and the clock that does it."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, inf
from statistics import median
from typing import Protocol

from polymat.dataclass import dataclass

TURN = 2e-3  # seconds of a turn, or one call
LONG = 2e-2  # seconds of a call from which on it begins with cold caches in any case
MOST_CALLS = 200  # of a turn
LEAST_ROUNDS, ROUNDS, LAST_ROUNDS = 3, 11, 21  # of a trial, before it may be dropped; at the end
SLACK = 0.3  # over the rounds: how much slower than the best may still be noise
Run = Callable[[], object]


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> float:
        """Seconds since some moment."""

    def turn(self, run: Run, calls: int) -> float:
        """Call something so often, and tell the mean seconds of a call."""


class TrueClock:
    """The clock on the wall; alone: one thread computes, and turns are told by the time of the processor.

    That leaves out what other programs take meanwhile.
    """

    def __init__(self, *, alone: bool) -> None:
        self.turns = time.process_time if alone else time.perf_counter

    def now(self) -> float:
        """Seconds since some moment."""
        return time.perf_counter()

    def turn(self, run: Run, calls: int) -> float:
        """Call it so often; where that is short once before, for what others drove out of the caches."""
        if calls > 1:
            run()
        begin = self.turns()
        for _ in range(calls):
            run()
        return (self.turns() - begin) / calls


@dataclass(frozen=True, slots=True)
class Compared:
    """Medians over rounds: seconds of a program, of the default, and of their ratios.

    wins: the part of the rounds in which it was the quicker one.
    dropped: it was clearly slower than the best.
    """

    seconds: float
    default: float
    ratio: float
    rounds: int
    wins: float
    dropped: bool = False


def calls_of(clock: Clock, run: Run) -> int:
    """How many calls a turn has."""
    run()
    once = clock.turn(run, 1)
    if once >= LONG:
        return 1
    return max(2, min(MOST_CALLS, ceil(TURN / once))) if once > 0.0 else MOST_CALLS


def compared(
    clock: Clock,
    default: Run,
    other: Run,
    calls: int,
    *,
    best: float = inf,
    rounds: int = ROUNDS,
    before: Run | None = None,
) -> Compared:
    """Time both by turns, each the first one every other time.

    best: the ratio of the best so far; what is clearly above it is dropped before all rounds are done.
    before: is run before each turn.
    """

    def turn(run: Run) -> float:
        if before is not None:
            before()
        return clock.turn(run, calls)

    pairs: list[tuple[float, float]] = []
    while len(pairs) < rounds:
        if len(pairs) % 2:
            second, first = turn(other), turn(default)
        else:
            first, second = turn(default), turn(other)
        pairs.append((first, second))
        done = len(pairs)
        if LEAST_ROUNDS <= done < rounds and _ratio(pairs) > best * (1.0 + SLACK / done):
            break
    wins = sum(second < first for first, second in pairs) / len(pairs)
    return Compared(
        median(second for _, second in pairs),
        median(first for first, _ in pairs),
        _ratio(pairs),
        len(pairs),
        wins,
        len(pairs) < rounds,
    )


def _ratio(pairs: list[tuple[float, float]]) -> float:
    return median(second / first if first > 0.0 else inf for first, second in pairs)
