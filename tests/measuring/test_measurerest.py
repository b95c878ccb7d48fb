"""What is measured beside a first pass: once more in the time that is left, the rest on another day."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace

import pytest

from polymat.machine.calibrate import Calibration, Difference, VectorSeconds
from polymat.machine.twice import better_of
from polymat.measuring import firstcompile
from polymat.measuring.effort import Effort
from polymat.runtime.calibration import calibration_path, stored_calibration
from tests.measuring.test_firstcompile import (
    Measuring,
    another_process,
    doubled,
    likely,
    measuring,
    works,
)

__all__ = ["measuring"]  # a fixture


def test_what_found_no_time_is_measured_on_another_day(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert works(doubled())
    another_process(monkeypatch)
    assert works(doubled())
    assert len(measuring.efforts) == len(measuring.products) == 1
    yesterday = time.time() - 90_000
    os.utime(calibration_path(), (yesterday, yesterday))
    loops = (VectorSeconds(8, 1e-8, 1e-9, 1e-9, 1e-9),)
    measuring.result = likely(vectors=loops, row_seconds=1e-9, hertz=2.5e9)
    monkeypatch.setattr(firstcompile, "with_products", lambda measured, *_: measured)
    another_process(monkeypatch)
    with caplog.at_level(logging.INFO, "polymat.calibrate"):
        assert works(doubled())
    said = [record.getMessage() for record in caplog.records if record.name == "polymat.calibrate"]
    assert said[0].startswith("measuring loops and products, for which there was no time before")
    assert said[1:] == ["found no time for products: `python -m polymat calibrate` measures all"]
    assert len(measuring.efforts) == 2
    found = stored_calibration()
    assert found == better_of(likely(), measuring.result)
    assert (found.vectors, found.row_seconds, found.passes) == (loops, 1e-9, 2)
    another_process(monkeypatch)
    assert works(doubled())
    assert len(measuring.efforts) == 2


def test_a_busy_moment_is_seen_by_a_second_pass(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Behind products, in what is left of the time."""
    efforts, quiet = list[Effort](), likely()
    measuring.result = likely(region_seconds=50.0 * quiet.region_seconds)

    def again(_machine: object, threads: int, *, effort: Effort) -> Calibration:
        assert len(measuring.products) == 1
        efforts.append(effort)
        return replace(quiet, threads=threads)

    monkeypatch.setattr(firstcompile, "measure_again", again)
    assert works(doubled())
    found = stored_calibration()
    assert found == replace(quiet, passes=2, differing=(Difference("region", 50.0),))
    assert 0.0 < efforts[0].seconds < efforts[0].most_seconds < firstcompile._SECONDS
