"""`tune` from end to end: with planted times, and candidates that are really compiled."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import ArgumentError, Int, Matrix, Options, Parameter
from polymat.cli import main
from polymat.decide.chosen import Ways
from polymat.driver import request_for
from polymat.graph.selection import GroupChoice
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from polymat.runtime import tunedstore
from polymat.runtime.tunedstore import tuned_files
from polymat.search.bench import Bench
from polymat.search.clock import ROUNDS
from polymat.search.inputs import call_arguments, random_arguments
from polymat.search.optionspace import decided
from polymat.search.space import Space
from polymat.search.tuning import seconds_of, tuned
from polymat.steps import Job, build_stages
from tests.faulty import N, stencils, without_margins
from tests.search.planted import Planted

ROOT = Path(__file__).parents[2]
OPTIONS = Options(inline=False, threads=1)


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of each test's own, beside libraries that all share."""
    monkeypatch.setattr(tunedstore, "DIRECTORY", str(tmp_path / "tuned"))
    return str(tmp_path / "tuned")


def found(budget: float = 7.0, **asked: Any) -> pm.Tuned:
    request = request_for(stencils(), name="g", options=OPTIONS)
    return tuned(request, arrays=None, sizes={"N": 5000}, budget=budget, clock=Planted(), **asked)


def test_short_calls_are_timed_with_cold_caches_too() -> None:
    request = request_for(stencils(), name="g", estimates={N: 5000}, options=OPTIONS)
    _, level = decided(Job(request))
    assert isinstance(level, Schedule)
    space = Space(request, level.grouping)
    built = build_stages(request, Job(request))
    arguments, _ = call_arguments(built, "g", random_arguments(built, {"N": 5000}), {"N": 5000})
    bench = Bench(space, built, arguments, Planted())
    cold = bench.cold(space.default)
    assert cold is not None
    assert (cold.ratio, cold.rounds) == (1.0, ROUNDS)
    bench.calls = 1
    assert bench.cold(space.default) is None


def test_the_quickest_is_found_kept_and_taken_by_another_process(own_store: str) -> None:
    first = found()
    timed = [trial for trial in first.trials if not trial.fault]
    assert len(timed) > 1
    assert first.best_seconds == min(trial.seconds for trial in timed)
    assert first.default_seconds == 1e-3
    assert first.gain == pytest.approx(1e-3 / first.best_seconds)
    best = timed[[trial.seconds for trial in timed].index(first.best_seconds)]
    assert str(first).startswith(f"g: {first.best_seconds * 1e3:.4g} ms, {first.gain:.2f} times as fast as ")
    (note,) = [each for each in first.compiled.explain().notes if each.startswith("tuned at N 5000: ")]
    assert str(best.choice) in note
    program = (
        "import polymat as pm; from tests.faulty import N, stencils; import polymat.search.clock as clock\n"
        f"import polymat.runtime.tunedstore as store; store.DIRECTORY = {own_store!r}\n"
        "def never(*given, **named): raise AssertionError('measured')\n"
        "clock.compared = clock.calls_of = never\n"
        "options = pm.Options(inline=False, threads=1)\n"
        "run = pm.compile(stencils(), name='g', estimates={N: 5100}, options=options)\n"
        "print(run.source == open('/dev/stdin').read(), run.explain().notes[-1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=first.compiled.source,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"True {note}\n"


def test_what_is_tuned_computes_the_same() -> None:
    run = found().compiled
    rng = np.random.default_rng(0)
    for n in (5, 6, 131, 5000):
        given = rng.random(n)
        np.testing.assert_allclose(run(given), run.reference(given))


def test_the_same_times_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = found()
    monkeypatch.setattr(tunedstore, "DIRECTORY", str(tmp_path / "other"))
    second = found()
    assert [trial.choice for trial in first.trials] == [trial.choice for trial in second.trials]
    assert first.ending.choice == second.ending.choice


def test_a_switch_refuses_what_was_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    found()

    def notes() -> tuple[str, ...]:
        run = pm.compile(stencils(), name="g", estimates={N: 5000}, options=OPTIONS)
        return tuple(note for note in run.explain().notes if note.startswith("tuned"))

    assert len(notes()) == 1
    monkeypatch.setenv("POLYMAT_TUNED", "off")
    assert notes() == ()
    monkeypatch.setenv("POLYMAT_TUNED", "perhaps")
    with pytest.raises(pm.ToolchainError) as error:
        notes()
    assert str(error.value) == "POLYMAT_TUNED is 'perhaps'\nhint: it must be auto or off"


def test_nothing_is_kept_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", "readonly")
    assert found(budget=4.0).trials
    assert tuned_files() == ()


def test_what_no_longer_fits_is_left_out(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a change of polymat that keeps its version."""
    found()
    (path,) = tuned_files()
    path.write_text(path.read_text().replace('"way":"', '"way":"other '))
    run = pm.compile(stencils(), name="g", estimates={N: 5000}, options=OPTIONS)
    assert not [note for note in run.explain().notes if note.startswith("tuned")]
    assert any("cannot be computed as other" in message for message in caplog.messages)


def test_a_wrong_candidate_is_told_and_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Ways.plan

    def planted(ways: Ways, chosen: GroupChoice) -> Plan:
        right = plan(ways, chosen)
        return without_margins(right) if chosen.sizes else right

    monkeypatch.setattr(Ways, "plan", planted)
    trials = [trial for trial in found(budget=12.0).trials if any(g.sizes for g in trial.choice.groups)]
    wrong = [trial for trial in trials if trial.fault.startswith("g(")]
    assert wrong
    assert all(trial.rounds == 0 for trial in wrong)


def test_what_is_compiled_is_tuned_for_its_arrays() -> None:
    run = pm.compile(stencils(), name="g", options=OPTIONS)
    one = pm.tune(run, arrays={"x": np.ones(3000)}, budget=1e-3)
    assert one.ending.sizes == {"N": 3000}
    assert one.compiled.threads == 1
    assert one.default_seconds > 0.0
    kept = replace(one, ending=replace(one.ending, choice=None))
    assert "none clearly quicker than what the compiler chooses by itself" in str(kept)
    with pytest.raises(ArgumentError) as error:
        pm.tune(run, arrays={"x": np.ones(3000)}, name="other")
    assert error.value.message == "tune() takes no name= beside what is compiled"


def test_a_program_from_a_file_cannot_be_tuned(tmp_path: Path) -> None:
    saved = pm.compile(stencils(), name="g", options=OPTIONS).save(tmp_path)
    with pytest.raises(ArgumentError) as error:
        pm.tune(pm.load(saved), arrays={"x": np.ones(30)})
    assert error.value.message == "g comes from a file, which says nothing of other ways"


def test_sizes_are_needed() -> None:
    with pytest.raises(ArgumentError) as error:
        pm.tune(stencils())
    assert str(error.value) == (
        "tune() needs the size N\nhint: sizes={N: 500}, or arrays= with the arguments of a call"
    )
    with pytest.raises(ArgumentError) as error:
        pm.tune(stencils(), arrays={"x": np.ones(30)}, sizes={N: 30})
    assert error.value.message == "tune() takes arrays= or sizes=, not both"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"arrays": [np.ones(30)]}, "arrays= maps names of arguments to arrays, got [array([1."),
        ({"arrays": {0: np.ones(30)}}, "arrays= maps names of arguments to arrays, got {0: array"),
        ({"sizes": {N: 30}, "seed": "x"}, "seed= is an integer, got 'x'"),
        ({"sizes": {N: 30}, "seed": None}, "seed= is an integer, got None"),
    ],
)
def test_other_arguments_are_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        pm.tune(stencils(), **asked)
    assert error.value.message.startswith(message)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60 s", 60.0), ("5 min", 300.0), ("1.5h", 5400.0), (" 250 ms ", 0.25), (7, 7.0), (0.5, 0.5)],
)
def test_budgets_are_times(text: str | float, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "60", "0 s", "-3 s", "5 x", "inf s", 0, -1.0, float("nan"), True, None])
def test_what_is_no_time_is_refused(text: Any) -> None:
    with pytest.raises(ArgumentError) as error:
        seconds_of(text)
    assert str(error.value) == f'budget= is {text!r}, no time\nhint: "60 s", "5 min" or 60'


def test_random_arguments_keep_what_is_declared_of_them() -> None:
    M = Parameter(Int, "M")
    at = pm.Image(Int, "at", [M], values=(M - 3, M - 1))
    request = request_for((at + 1).named("y"))
    given = random_arguments(build_stages(request, Job(request)), {"M": 500})
    assert {*given["at"].tolist()} == {497, 498, 499}


def test_random_arguments_have_the_types_and_extents_of_the_program() -> None:
    M = Parameter(Int, "M")
    alpha = Parameter(pm.Float, "alpha")
    A, B = Matrix(pm.ComplexFloat, "A", [M, M + 2]), pm.Vector(pm.UChar, "B", [M + 2])
    request = request_for((alpha * (A @ B)).named("y"))
    given = random_arguments(build_stages(request, Job(request)), {"M": 5}, turned={"A"})
    assert (given["A"].dtype, given["A"].shape) == (np.complex64, (5, 7))
    assert given["A"].flags.f_contiguous
    assert (given["B"].dtype, given["B"].shape) == (np.uint8, (7,))
    assert isinstance(given["alpha"], float)


APP = """
from tests.faulty import N, stencils
from polymat import Options
wanted = {"outputs": stencils(), "options": Options(inline=False)}
"""


def test_the_command_tunes_and_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "app.py").write_text(APP)
    target, figures = f"{tmp_path / 'app.py'}:wanted", tmp_path / "figures.json"
    asked = [
        "tune",
        target,
        "--sizes",
        "N=3000",
        "--threads",
        "1",
        "--budget",
        "10 ms",
        "--json",
        str(figures),
    ]
    assert main(asked) == 0
    assert capsys.readouterr().out.startswith("g: ")
    data = json.loads(figures.read_text())
    assert data["default_seconds"] > 0.0
    assert [entry["trial"] for entry in data["convergence"]] == [*range(1, len(data["trials"]) + 1)]
    assert main(["cache"]) == 0
    assert "\ntuned      1 program, " in capsys.readouterr().out
    assert main(["cache", "--forget-tuned"]) == 0
    assert capsys.readouterr().out == "forgot what was tuned of 1 program\n"
    for wrong, message in (("N", "--sizes has 'N', no size"), ("N=x", "--sizes has 'N=x', no size")):
        assert main(["tune", target, "--sizes", wrong]) == 2
        assert capsys.readouterr().err == f"{message}\nhint: --sizes N=500,M=300\n"
    assert main(["tune", target]) == 2
    assert capsys.readouterr().err.startswith("tune() needs the size N\n")
