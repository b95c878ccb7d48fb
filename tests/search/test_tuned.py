"""Curves of a search, as data."""

from __future__ import annotations

import pytest

from polymat.errors import ArgumentError
from polymat.graph.selection import Selection
from polymat.runtime.tunedstore import Trial
from polymat.search.progress import progress_text
from polymat.search.tuned import expect


def trial(ratio: float, fault: str = "") -> Trial:
    return Trial(Selection(()), {}, 1.0, ratio, 1.0, ratio, 0 if fault else 3, 2.0, fault)


TRIALS = [trial(1.0), trial(2.0), trial(0.5), trial(0.0, "wrong"), trial(0.8)]


def test_the_best_of_more_trials_is_expected_to_be_better() -> None:
    """Of four speeds 2, 1.25, 1 and 0.5: one draw is at least 1 in three cases of four."""
    assert expect(TRIALS, 1, 0.74) == 1.0
    assert expect(TRIALS, 1, 0.76) == 0.5
    assert expect(TRIALS, 2, 0.74) == 1.25  # 1 - (1 - 1/2)^2 = 0.75
    assert expect(TRIALS, 2, 0.76) == 1.0
    assert expect(TRIALS, 100, 0.9) == 2.0
    values = [expect(TRIALS, count, 0.7) for count in range(1, 20)]
    assert values == sorted(values)


@pytest.mark.parametrize(("count", "confidence"), [(0, 0.5), (1, 0.0), (1, 1.0)])
def test_what_nothing_can_be_expected_of_is_refused(count: int, confidence: float) -> None:
    with pytest.raises(ArgumentError) as error:
        expect(TRIALS, count, confidence)
    assert error.value.message == f"expect({count}, {confidence}) of 4 trials that were timed"
    with pytest.raises(ArgumentError, match="of 0 trials that were timed"):
        expect([], 1, 0.5)


def test_the_progress_has_the_best_so_far() -> None:
    assert progress_text("D", TRIALS[:2], 4.2, 60.0) == (
        "tuning D: 2 trials, 4 s of 60 s, best 1.000 of the default's 1000 ms"
    )
    assert progress_text("D", TRIALS, 10.0, 60.0).endswith("best 0.500 of the default's 1000 ms")
    assert progress_text("D", TRIALS[3:4], 2.0, 60.0) == "tuning D: 1 trial, 2 s of 60 s"
