"""Random schemes beside a policy's choice, and logs of variants: schemes are valid, and runs go on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks import policy, variantlog
from benchmarks.policy import Judged, different_schemes, random_scheme
from benchmarks.variantlog import Logged, Program, read_log, timed
from polymat.machine.known import GENERIC
from polymat.product.scheme import Pack
from polymat.product.schemefit import fitted
from polymat.product.schemetext import read_scheme
from tests.product.test_modelscheme import modelled


@pytest.mark.parametrize("name", ["ab-ac-cb", "abcd-aebf-dfce", "abcd-ea-ebcd"])
def test_random_schemes_are_schemes_of_their_contraction(name: str) -> None:
    of = modelled(name, dict(zip("abcdef", (48, 30, 64, 40, 24, 35), strict=True)))
    found = [random_scheme(Random(seed), of) for seed in range(60)]
    assert len({*map(str, found)}) > 50
    assert len({sum(isinstance(atom, Pack) for atom in each.atoms) for each in found}) == 3
    for each in found:
        assert read_scheme(str(each)) == each
        assert isinstance(fitted(each, of.found, of.lanes), tuple), str(each)


def test_draws_end_where_there_are_no_more_schemes() -> None:
    of = modelled("ab-ac-cb", {"a": 1, "b": 1, "c": 1})
    chosen = random_scheme(Random(1), of)
    found = different_schemes("small", of, 200, chosen)
    assert 0 < len(found) < 200
    assert len({chosen, *found}) == len(found) + 1
    of = modelled("ab-ac-cb", {"a": 48, "b": 30, "c": 64})
    assert len(different_schemes("large", of, 30, chosen)) == 30


def test_a_choice_that_computes_something_else_ends_the_run() -> None:
    name, make = next(policy.every_case(1e4))
    case = make()
    (right,), bounds = case.expected()
    wrong = replace(case, expected=lambda: ((2 * right,), bounds))
    with pytest.raises(SystemExit, match="computes something else than the case"):
        policy.judged(name, wrong, 0, "model", GENERIC)


def test_a_choice_is_compared_with_the_best_random_scheme() -> None:
    found = Judged("x", "contraction", 2e9, 2, 0.5, ["[chosen]", "[one]", "[other]"], [3.0, 4.0, 2.0], {})
    assert found.ratio == 1.5
    assert found.row() == "| x | 0.7 | 1.0 | 1.50 | 0.50 s | [other] |"
    quickest = Judged("x", "contraction", 2e9, 1, 0.5, ["[chosen]", "[one]"], [1.0, 4.0], {})
    assert quickest.ratio == 1.0
    assert quickest.row().endswith("| 2.0 | 2.0 | 1.00 | 0.50 s |  |")


def test_a_comparison_goes_on_behind_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def judged(name: str, case: Any, count: int, chosen: str, machine: Any) -> Judged:
        asked.append(name)
        return Judged(name, "contraction", 1e9, count, 0.1, [chosen, "[r]"], [1.0, 2.0], {})

    monkeypatch.setattr(policy, "judged", judged)
    monkeypatch.setattr(policy, "calibrated_machine", lambda: GENERIC)
    path = tmp_path / "policy.json"
    arguments = ["--output", str(path), "--random", "1", "--flops", "1e4"]
    assert policy.main([*arguments, "--only", "abc-acd-db"]) == 0
    assert policy.main([*arguments, "--only", "abc-a"]) == 0
    assert asked == ["abc-acd-db", "abc-ad-bdc", "abc-adc-bd", "abc-adc-db"]
    assert [*json.loads(path.read_text())["cases"]] == asked
    assert policy.main([*arguments, "--only", "abc-acd-db", "--random", "2"]) == 0
    assert asked[-1] == "abc-acd-db"
    with pytest.raises(SystemExit, match=r"policy\.json is of .*'model'.*, not of .*'learned'.*another file"):
        policy.main([*arguments, "--policy", "learned"])
    assert "contractions within 10% of the best of 1 random schemes: 4 of 4" in capsys.readouterr().out


def test_a_log_goes_on_behind_its_last_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def logged(program: Program, count: int) -> Logged:
        where = program.kind, program.family, program.name
        return Logged(*where, GENERIC.name, "2026-01-02", 1e9, ["[a]"] * count, [{}] * count, [1.0] * count)

    monkeypatch.setattr(variantlog, "logged", logged)
    monkeypatch.setattr(variantlog, "calibrated_machine", lambda: GENERIC)
    path = tmp_path / "log.jsonl"
    assert variantlog.main([str(path), "--programs", "2", "--variants", "2"]) == 0
    before = path.read_text()
    assert variantlog.main([str(path), "--programs", "3", "--variants", "2"]) == 0
    assert path.read_text().startswith(before)
    assert [each.kind for each in read_log(path)] == ["contraction", "convolution", "filters"]
    monkeypatch.setattr(variantlog, "calibrated_machine", lambda: replace(GENERIC, name="another"))
    with pytest.raises(SystemExit, match=r"log\.jsonl is of .*name another file"):
        variantlog.main([str(path)])


def test_times_are_ratios_to_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("benchmarks.variantlog.time.thread_time", lambda: clock[0])

    def call(seconds: float) -> Any:
        def run() -> None:
            clock[0] += seconds

        return run

    assert timed([call(0.5), call(1.0), call(0.125)]) == pytest.approx([0.5, 1.0, 0.125])
