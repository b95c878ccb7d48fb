"""Programs are timed by turns, and what is clearly slower is dropped early; the clock is a planted one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest

from polymat.search.clock import LEAST_ROUNDS, ROUNDS, Compared, calls_of, compared


class Planted:
    """A clock that says what it is told to."""

    def __init__(self, **seconds: list[float]) -> None:
        self.seconds = {name: cycle(each) for name, each in seconds.items()}
        self.turns: list[str] = []

    def now(self) -> float:
        return 0.0

    def turn(self, run: Callable[[], object], calls: int) -> float:
        name = str(run())
        self.turns.append(name)
        return next(self.seconds[name])


def default() -> str:
    return "default"


def other() -> str:
    return "other"


def test_medians_of_turns_tell_which_is_quicker() -> None:
    clock = Planted(default=[3.0, 1.0, 3.0], other=[2.0, 2.0, 2.0])
    found = compared(clock, default, other, 1, rounds=3)
    assert found == Compared(2.0, 3.0, 2 / 3, 3, 2 / 3)
    assert clock.turns == ["default", "other", "other", "default", "default", "other"]


def test_something_is_done_before_each_turn() -> None:
    clock = Planted(default=[1.0], other=[1.0], emptied=[0.0])
    compared(clock, default, other, 1, rounds=2, before=lambda: clock.turn(lambda: "emptied", 1))
    assert clock.turns == ["emptied", "default", "emptied", "other", "emptied", "other", "emptied", "default"]


def test_what_is_clearly_slower_is_dropped() -> None:
    found = compared(Planted(default=[1.0], other=[1.5]), default, other, 1, best=1.0)
    assert (found.rounds, found.dropped) == (LEAST_ROUNDS, True)
    found = compared(Planted(default=[1.0], other=[1.05]), default, other, 1, best=1.0)
    assert LEAST_ROUNDS < found.rounds < ROUNDS
    assert found.dropped
    found = compared(Planted(default=[1.0], other=[0.9]), default, other, 1, best=0.89)
    assert (found.rounds, found.dropped) == (ROUNDS, False)


@pytest.mark.parametrize(
    ("once", "calls"), [(1.0, 1), (2e-2, 1), (1e-3, 2), (1e-4, 20), (1e-7, 200), (0.0, 200)]
)
def test_short_calls_are_timed_together(once: float, calls: int) -> None:
    assert calls_of(Planted(default=[once]), default) == calls
