"""Audits say when the machine was calibrated, and what is faster or slower since."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.audit import drift
from polymat.audit.drift import CHANGED, changed, since_calibration
from polymat.errors import ToolchainError
from polymat.machine.calibrate import Calibration, Rate
from tests.machine.test_model import MEASURED

THEN = replace(MEASURED, threads=2)


def with_third_level(one: float, together: float) -> Calibration:
    """The calibration with other rates of the third level, in parts of those of then."""
    first, second, third, memory = THEN.read
    return replace(THEN, read=(first, second, Rate(one * third.one, together * third.all), memory))


def test_rates_that_are_alike_are_not_told() -> None:
    assert [*changed(THEN, THEN)] == []
    assert [*changed(THEN, with_third_level(0.99 * CHANGED, 1.01 / CHANGED))] == []


@pytest.mark.parametrize("times", [1.5, 0.5])
def test_what_is_faster_or_slower_is_told(times: float) -> None:
    ((name, found),) = changed(THEN, with_third_level(times, 1.0))
    assert name == "L3"
    assert found == pytest.approx(times)
    ((name, found),) = changed(THEN, with_third_level(1.0, times))
    assert name == "L3 on 2 threads"
    assert found == pytest.approx(times)


def test_threads_are_compared_where_there_are_as_many() -> None:
    now = replace(with_third_level(1.0, 0.5), threads=1)
    assert [*changed(THEN, now)] == []


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (THEN, "rates are those of then"),
        (with_third_level(0.5, 1.0), "times as fast now: L3 0.50; `python -m polymat calibrate --force`"),
        (None, "what has changed since is not known: times differ"),
    ],
)
def test_a_line_says_when_and_what(
    now: Calibration | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(*_: object, effort: object) -> Calibration:
        if now is None:
            raise ToolchainError("times differ")
        return now

    monkeypatch.setattr(drift, "stored_calibration", lambda: THEN)
    monkeypatch.setattr(drift, "measure", measured)
    line = since_calibration()
    assert line.startswith(f"calibrated {THEN.date}; ")
    assert told in line


def test_estimates_are_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "stored_calibration", lambda: None)
    assert "not calibrated" in since_calibration()
