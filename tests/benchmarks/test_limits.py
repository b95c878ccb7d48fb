"""The limits that other figures are read against."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import limits, run
from polymat.machine.probe import probe
from polymat.measuring.effort import Effort
from polymat.measuring.measuremachine import measure
from polymat.runtime.calibration import calibration_lines, store_calibration


def test_stored_limits_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path))
    stored = replace(measure(probe(), 1, effort=Effort(0.0, 0.0)), threads=4096)
    store_calibration(stored)
    assert limits.main(["--stored"]) == 0
    assert capsys.readouterr().out.splitlines() == list(calibration_lines(stored))


def test_limits_are_a_part_of_the_table() -> None:
    assert run.PROGRAMS["limits"] == ("benchmarks.limits",)
