"""An audit measures every group, and every other plan that computes the same; no time is judged here."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    ArgumentError,
    Double,
    Function,
    Matrix,
    Options,
)
from polymat.audit.auditor import audit
from polymat.cli import main
from polymat.decide.decider import Decider
from polymat.driver import request_for
from polymat.groupclock import LEAST_SECONDS, MOST_GROUPS, Clocked, clocked
from polymat.passes import levels_of
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.runtime.providers import provider
from polymat.steps import Job
from tests.decide import eliminations
from tests.faulty import N, stencils, without_margins, x
from tests.fixed import NARROW
from tests.hosts import CompileFor

A, B = (Matrix(Double, name, [N, N]) for name in "AB")


@pytest.fixture(autouse=True)
def _narrow(compile_for: CompileFor) -> None:
    """The same plans on all machines."""
    compile_for(NARROW)


def products() -> Function:
    """A product of matrices and a vector: two groups, which a library may compute, too."""
    return (A @ B @ x + (x + 1)).named("y")


def arrays(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {**{name: rng.random((n, n)) for name in "AB"}, "x": rng.random(n)}


def program(output: Function, options: Options) -> tuple[Schedule, Clocked]:
    job = Job(request_for(output, name="y", options=options))
    schedule = next(level for _, level in levels_of(job) if isinstance(level, Schedule))
    return schedule, clocked(schedule, job)


@pytest.mark.covering
@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_clock_tells_seconds_of_each_group_and_the_results_are_the_same(n: int, threads: int) -> None:
    options, given = Options(threads=threads), arrays(n)
    schedule, found = program(products(), options)
    assert [*found.groups] == [*range(len(schedule.plans))]
    expected = pm.compile(products(), name="y", options=options)(**given)
    np.testing.assert_array_equal(found.results(given), [expected])
    out = np.zeros(n)
    found.run(given, (out,), 3, warm=True)
    np.testing.assert_array_equal(out, expected)
    assert sorted(found.least) == [*found.groups]
    assert all(0.0 < seconds < 60.0 for seconds in found.least.values())


def test_reading_the_clock_is_no_part_of_a_group() -> None:
    """Of groups that take 30, 10 and 20 ns, with readings of 10 ns, the second is as short as can be told."""
    ends = [1e-9 * later for later in (0, 30, 40, 60)]
    found = Clocked(lambda **_: None, "", {0: 0, 1: 1, 2: 2}, ends, reading=10e-9)  # type: ignore[arg-type]
    found.run({}, (np.zeros(1),), 4, warm=False)
    assert [*found.least.values()] == pytest.approx([20e-9, LEAST_SECONDS, 10e-9], rel=1e-3, abs=1e-15)
    assert 0.0 < program(products(), Options())[1].reading < 1e-4


def test_programs_have_no_clock_otherwise() -> None:
    assert "_pm_group_end" not in pm.compile(products(), name="y").source
    clocked_source = program(products(), Options())[1].source
    assert "_pm_group_end(1);" in clocked_source
    assert f"double _pm_group_ends[{MOST_GROUPS + 1}];" in clocked_source


def test_groups_of_the_first_call_alone_are_left_out() -> None:
    """The spectrum of the taps is computed once."""
    taps = np.hanning(801)
    filtered = pm.Signal(Double, "signal", 4096).fir(taps, mode="valid").named("filtered")
    given = {"signal": np.random.default_rng(0).random(4096)}
    schedule, found = program(filtered, Options(threads=1, fir="fft"))
    assert schedule.kept
    assert 0 < len(found.groups) < len(schedule.plans)
    found.run(given, found.results(given), 1, warm=False)
    assert all(seconds > 0.0 for seconds in found.least.values())


def test_other_plans_are_measured_and_right() -> None:
    found = audit(request_for(products(), name="y"), arrays(60), seconds=0.0)
    assert [group.stages for group in found] == [("tmp_product",), ("tmp", "y")]
    for group in found:
        assert group.others
        assert not group.wrong
        assert all(0.0 < way.measured < 60.0 for way in (group.choice, *group.others))
        assert all(way.predicted > 0.0 for way in (group.choice, *group.others))
        assert group.loss >= 1.0
    if provider("blas") is not None:
        assert "calls of gemv" in [way.summary for way in found[0].others]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of an audit of the stencils, from the command line."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    text = (
        "from tests.faulty import N, stencils\nfrom polymat import Options\n"
        "wanted = {'outputs': stencils(), 'estimates': {N: 100000}, 'options': Options(inline=False)}\n"
    )
    (tmp_path / "app.py").write_text(text, encoding="utf-8")
    np.savez(tmp_path / "inputs.npz", x=np.random.default_rng(0).random(100000))
    monkeypatch.setattr("polymat.audit.auditor.SECONDS", 0.0)
    monkeypatch.setattr("polymat.audit.drift.since_calibration", lambda: "calibrated a day ago")
    return ["audit", f"{tmp_path / 'app.py'}:wanted", "--inputs", str(tmp_path / "inputs.npz")]


def test_a_wrong_plan_is_reported(
    app: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = Decider.ways

    def planted(decider: Decider, stages: tuple[str, ...]) -> tuple[Any, ...]:
        right = ways(decider, stages)
        return (*right, *map(without_margins, right[:1]))

    monkeypatch.setattr(Decider, "ways", planted)
    given = {"x": np.random.default_rng(0).random(100000)}
    request = request_for(stencils(), name="y", estimates={N: 100000}, options=Options(inline=False))
    (found,) = audit(request, given, seconds=0.0)
    (wrong,) = found.wrong
    assert wrong.wrong.startswith("g("), wrong
    assert wrong.measured == math.inf
    assert found.right
    assert main(app) == 1
    out = capsys.readouterr().out
    assert "\nWRONG f+g as tiles " in out
    assert "\nWRONG: 1; within 10 %: " in out
    assert "\ncalibrated a day ago\n" in out


def without_arrays(plan: Any) -> Any:
    assert isinstance(plan, TilePlan)
    return replace(plan, members=tuple(replace(each, scratch=True) for each in plan.members))


def test_a_plan_that_cannot_be_carried_out_is_reported_and_does_not_run(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ways = Decider.ways

    def planted(decider: Decider, stages: tuple[str, ...]) -> tuple[Any, ...]:
        right = ways(decider, stages)
        return (*right, *map(without_arrays, right[:1]))

    monkeypatch.setattr(Decider, "ways", planted)
    request = request_for(stencils(), name="y", options=Options(inline=False), estimates={N: 100000})
    with caplog.at_level("INFO", logger="polymat.audit"):
        (found,) = audit(request, {"x": np.ones(1000)}, seconds=0.0)
    (wrong,) = found.wrong
    assert wrong.wrong.startswith("it fails with InternalError: bug in polymat: after the pass tilesize: ")
    assert wrong.wrong.endswith("the output g has no array"), wrong
    assert f"y: f+g as {wrong.summary}" in caplog.messages


def test_the_command_prints_the_table_and_writes_the_figures(
    app: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "found.json"
    assert main([*app, "--threads", "2", "--json", str(path)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["predicted", "measured", "off", "by", "loss", "group"]
    assert "  f+g: tiles of " in out[1]
    assert "    or tiles of " in out[2]
    assert out[-1].startswith("within 10 %: ")
    (group,) = json.loads(path.read_text())
    assert group["stages"] == ["f", "g"]
    assert group["choice"]["measured"] > 0.0


def test_arguments_are_checked_as_those_of_a_call(app: list[str], tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="unknown argument 'z'"):
        audit(request_for(products(), name="y"), {"z": np.zeros(3)})
    np.savez(tmp_path / "inputs.npz", z=np.zeros(3))
    assert main(app) == 2
    assert main([*app, "--threads", "-1"]) != 0


def test_an_output_that_something_is_computed_in_is_none_on_the_clock() -> None:
    """The plans that it may have otherwise are no groups that could be compared with nothing."""
    schedule, found = program(eliminations.unscaled_lu(), Options(threads=1))
    assert [plan.group.stages for plan in schedule.plans] == [("W",), ("R",)]
    assert found.groups == {0: 0}
    matrix = eliminations.arguments(50, 50, "float64")["square"]
    out = np.zeros((50, 50))
    found.run({"A": matrix}, (out,), 2, warm=False)
    assert [*found.least] == [0]
    np.testing.assert_array_equal(out, pm.compile(eliminations.unscaled_lu())(matrix))
