"""What `tune` gains for the papers' cases: searches go on behind what is kept, and gains are timed anew."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import policy, tunegains
from benchmarks.cases import Case
from benchmarks.problems import describe
from benchmarks.tunegains import Gain, gain, summary
from polymat.machine.known import GENERIC
from polymat.runtime import tunedstore


def known(name: str, kind: str, ratio: float) -> Gain:
    return Gain(name, kind, 2e9, 5, 1, 1.3, 4.0, 4.0 * ratio, ratio, "[chosen]", {})


def test_a_gain_is_the_ratio_of_programs_timed_once_more() -> None:
    assert known("x", "contraction", 0.5).row() == "| x | 0.5 | 1.0 | 2.00 | 1.30 | 5 | [chosen] |"
    found = [known("x", "contraction", each) for each in (0.5, 1.01, 2.0)]
    found.append(known("y", "convolution", 1.0))
    assert [*summary(found)] == [
        "3 contractions: 2 not slower than the default, least 0.50, geometric mean 1.00, largest 2.00",
        "1 convolutions: 1 not slower than the default, least 1.00, geometric mean 1.00, largest 1.00",
    ]


def test_a_search_is_compared_with_the_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunedstore, "DIRECTORY", str(tmp_path / "tuned"))
    monkeypatch.setattr(tunegains, "calibrated_machine", lambda: GENERIC)
    name, make = next(policy.every_case(1e4))
    found = gain(name, make(), "2 s", 1)
    assert found.kind == "contraction"
    assert found.trials > 0
    assert found.default > 0.0
    assert (found.choice == "") == (found.ratio == 1.0 and found.default == found.tuned)


def test_pipelines_are_cases_of_programs_that_are_there() -> None:
    names = [name for name, _ in tunegains.every_program(1e4)]
    assert len({*names}) == len(names)
    assert names[-len(tunegains.PIPELINES) :] == [*tunegains.PIPELINES]
    for make in tunegains.PIPELINES.values():
        case = make()
        description, _ = describe(case.task)
        assert {each.name for each in description.inputs} == {*case.task.arrays}
        assert {each.name for each in description.sizes} <= {*case.task.values["sizes"]}


def test_a_program_that_computes_something_else_ends_the_run() -> None:
    _, make = next(policy.every_case(1e4))
    case = make()
    (right,), bounds = case.expected()
    wrong = replace(case, expected=lambda: ((2 * right,), bounds))

    def program(**_: Any) -> Any:
        return right

    with pytest.raises(SystemExit, match="x: what was found computes something else than the case"):
        tunegains._timed("x", wrong, (program, program), 1)


def test_a_run_goes_on_behind_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def gained(name: str, case: Case, budget: str, threads: int) -> Gain:
        asked.append(name)
        return known(name, "contraction", 0.8)

    monkeypatch.setattr(tunegains, "gain", gained)
    monkeypatch.setattr(tunegains, "calibrated_machine", lambda: GENERIC)
    path = tmp_path / "gains.json"
    arguments = ["--output", str(path), "--flops", "1e4", "--only", "abc-a"]
    assert tunegains.main([*arguments, "--every", "2"]) == 0
    assert asked == ["abc-acd-db", "abc-adc-bd"]
    assert tunegains.main(arguments) == 0
    assert sorted(asked) == ["abc-acd-db", "abc-ad-bdc", "abc-adc-bd", "abc-adc-db"]
    assert sorted(json.loads(path.read_text())["cases"]) == sorted(asked)
    assert "4 contractions: 4 not slower" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"gains\.json is of .*not of .*another file"):
        tunegains.main([*arguments, "--threads", "2"])
