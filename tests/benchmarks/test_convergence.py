"""How many trials searches need: both searches are made, and runs go on behind what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import convergence, policy
from benchmarks.cases import Case
from benchmarks.convergence import Curve, curve, near_at, summary
from polymat.machine.known import GENERIC
from polymat.runtime.tunedstore import tuned_files


def test_a_search_is_near_its_best_from_a_trial_on() -> None:
    assert near_at([1.2, 0.9, 0.82, 0.82, 0.8]) == 3
    assert near_at([1.2, 0.98, 1.3]) == 0  # the default is as near
    assert near_at([]) == 0
    found = [Curve("x", [1.2, 0.82, 0.8], [0.99, 0.95, 0.7], {}), Curve("y", [1.1], [0.5], {})]
    assert found[0].row(2) == "| x | 2 of 3 | 0.820 | 3 of 3 | 0.950 | 0.700 |"
    assert [*summary(found, 2)] == [
        "with the model 2 of 2 within 3% of their last best after 2 trials",
        "without the model 1 of 2 within 3% of their last best after 2 trials",
    ]


def test_both_searches_begin_with_nothing_and_keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convergence, "calibrated_machine", lambda: GENERIC)
    name, make = next(policy.every_case(1e4))
    before = tuned_files()
    found = curve(name, make(), 2, 1)
    assert (len(found.guided), len(found.free)) == (2, 2)
    assert tuned_files() == before


def test_a_run_goes_on_behind_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def searched(name: str, case: Case, trials: int, threads: int) -> Curve:
        asked.append(name)
        return Curve(name, [0.9] * trials, [1.1] * trials, {})

    monkeypatch.setattr(convergence, "curve", searched)
    monkeypatch.setattr(convergence, "calibrated_machine", lambda: GENERIC)
    path = tmp_path / "curves.json"
    arguments = ["--output", str(path), "--flops", "1e4", "--only", "abc-a", "--trials", "3"]
    assert convergence.main([*arguments, "--every", "2"]) == 0
    assert convergence.main(arguments) == 0
    assert sorted(json.loads(path.read_text())["cases"]) == sorted(asked)
    assert len({*asked}) == len(asked) == 4
    assert "with the model 4 of 4 within 3%" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"curves\.json is of .*another file"):
        convergence.main([*arguments, "--threads", "2"])
