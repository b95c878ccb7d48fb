"""`polymat bench`: what is chosen, kept, continued after a kill, and refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.bench import Clock, duration_text
from benchmarks.harness import ROOT
from benchmarks.records import Record, RecordError, read_record, write_record
from benchmarks.selection import QUICK_SUITE, SUITE, SelectionError, installed_here, program_of, select
from polymat import benchcommand
from polymat.cli import main
from polymat.runtime.target import UsageError

ATAX = ["atax", "--dataset", "MINI", "--threads", "1", "--peers", "NumPy", "--quick"]


def run(path: Path, *more: str) -> int:
    return main(["bench", *ATAX, "--output", str(path), *more])


@pytest.mark.turns(2)
def test_a_run_is_killed_and_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kept.json"
    asked = ["atax", "bicg", *ATAX[1:], "--output", str(path)]
    command = [sys.executable, "-m", "polymat", "bench", *asked]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + 300
        while not path.exists() and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = read_record(path)
    assert [entry.row.case for entry in before.entries] == ["atax MINI"]

    assert main(["bench", *asked]) == 0
    after = read_record(path)
    assert [entry.row.case for entry in after.entries] == ["atax MINI", "bicg MINI"]
    assert after.entries[0] == before.entries[0]
    row = after.entries[1].row
    assert {*row.timings} == {"polymat", "polymat from C", "NumPy"}
    assert row.predicted["polymat"] > 0
    printed = capfd.readouterr()
    assert f"going on with {path}: 1 of 2 cases are there" in printed.err
    assert "[1/1] blas2: bicg MINI, 1 thread " in printed.err
    assert "## Matrix-vector kernels of PolyBench, float64, 1 thread" in printed.out
    assert "| atax MINI |" in printed.out

    assert main(["bench", *asked]) == 2
    assert "has all 2 cases: --again measures them anew" in capfd.readouterr().err
    assert main(["bench", "--compare", str(path), str(path)]) == 0
    assert "4 timings of 2 cases in both runs: 0 slower, 0 quicker" in capfd.readouterr().out


def test_another_visit_is_another_process_and_adds_its_rounds(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kept.json"
    assert run(path) == 0
    (before,) = read_record(path).entries
    assert run(path, "--visits", "2") == 0
    assert f"going on with {path}: 1 of 2 cases are there" in capfd.readouterr().err
    record = read_record(path)
    (after,) = record.entries
    assert (before.row.visits, after.row.visits) == (1, 2)
    first, both = before.row.timings["polymat"], after.row.timings["polymat"]
    assert both.rounds[: len(first.rounds)] == first.rounds
    assert both.counts == (len(first.rounds), len(both.rounds) - len(first.rounds))
    assert both.by_visit[0] == first.seconds
    write_record(tmp_path / "again.json", record)
    assert read_record(tmp_path / "again.json") == record
    assert run(path, "--visits", "2") == 2
    assert main(["bench", "--compare", str(path), str(path)]) == 0


def test_no_case_begins_after_some_minutes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kept.json"
    assert run(path, "--minutes", "0") == 0
    assert not path.exists()
    assert "1 of 1 cases are left for another run" in capfd.readouterr().err


def test_another_run_is_not_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kept.json"
    write_record(path, Record({"machine": "another one"}))
    assert run(path) == 2
    error = capsys.readouterr().err
    assert f"{path} is of another run: machine was 'another one' and is " in error
    assert "--again begins anew" in error
    path.write_text("[]")
    assert run(path) == 2
    assert "is no result of `polymat bench` or `make bench`" in capsys.readouterr().err
    path.write_text('{"format": 99}')
    with pytest.raises(RecordError, match="has format 99, not 1"):
        read_record(path)
    with pytest.raises(RecordError, match=r"cannot read .*: No such file"):
        read_record(tmp_path / "none.json")


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json")):
        record = read_record(path)
        assert record.entries
        assert {"date", "machine", "compiler"} <= {*record.about}
        write_record(tmp_path / "again.json", record)
        assert read_record(tmp_path / "again.json") == record
        assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())


def test_a_name_is_a_section_or_a_program() -> None:
    chosen = select(["stencils"], dataset="", peers=("all",), quick=True)
    assert [section.name for section in chosen.sections] == ["stencils"]
    assert len([*chosen.cases(chosen.sections[0])]) == 2
    chosen = select(["gemm", "harris"], dataset="SMALL", peers=("NumPy",), quick=False)
    cases = [case.name for section in chosen.sections for case in chosen.cases(section)]
    assert cases == ["gemm SMALL", "harris SMALL"]
    both = select(["stencils", "gemm"], dataset="", peers=("NumPy",), quick=True)
    assert [len([*both.cases(section)]) for section in both.sections[:1]] == [2]
    crew = [peer.name for peer in chosen.crew(chosen.sections[0], 2)]
    assert crew == ["polymat", "polymat from C", "NumPy"]


def test_without_names_there_is_a_suite() -> None:
    assert {*QUICK_SUITE} < {*SUITE}
    quick = select([], dataset="", peers=("all",), quick=True)
    assert tuple(section.name for section in quick.sections) == QUICK_SUITE
    here = installed_here(quick.sections)
    assert {"NumPy", "C", "SciPy, best"} <= {*here}
    assert not {"torch", "JAX", "MKL"} & {*here}


def test_the_suite_has_programs_of_all_kinds() -> None:
    """Naming them makes no arrays of NPBench's, which are large."""
    names = ["unsharp", "hdiff", "csr-banded", "lu"]
    chosen = select(names, dataset="", peers=("all",), quick=True)
    found = [section.name for section in chosen.sections]
    assert found == ["images", "recurrences", "factorisations", "data", "npbench"]
    assert not {"cubes", "crossover"} & {*SUITE}  # sizes of products, which `sizes` has fewer of


def test_programs_are_those_of_the_cases() -> None:
    (section,) = select(["data"], dataset="", peers=("all",), quick=True).sections
    assert section.programs == tuple(dict.fromkeys(map(program_of, section.cases(True))))


@pytest.mark.parametrize(
    ("names", "dataset", "peers", "said"),
    [
        (["gem"], "", "all", r"nothing is called 'gem': did you mean gemm"),
        (["qqqq"], "", "all", r"nothing is called 'qqqq': sections are blas2, products"),
        (["blas2"], "HUGE", "all", r"no case has the data set 'HUGE'; there are MINI, LARGE and others"),
        (["blas2"], "", "NumPi", r"no peer is called 'NumPi' here: NumPy, Numba"),
    ],
)
def test_what_is_not_there_is_told(names: list[str], dataset: str, peers: str, said: str) -> None:
    with pytest.raises(SelectionError, match=said):
        select(names, dataset=dataset, peers=(peers,), quick=True)


def test_first_words_are_programs() -> None:
    (case,) = [case for case in select(["sizes"], dataset="", peers=(), quick=True).sections[0].cases(True)][
        :1
    ]
    assert program_of(replace(case, name="24, float64")) == "24"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--threads", "two"], "--threads has 'two'\nhint: counts separated by commas"),
        (["--threads", "999"], "--threads 999: this machine has "),
        (["gemm", "--compare", "a", "b"], "--compare takes two files, and no names: gemm"),
        (["--compare", "no.json", "no.json"], "cannot read no.json: No such file or directory"),
        (["nope"], "nothing is called 'nope'"),
        (["--visits", "0"], "--visits has 0"),
    ],
)
def test_wrong_usage(asked: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *asked]) == 2
    assert said in capsys.readouterr().err


def test_a_wheel_says_where_the_benchmarks_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchcommand, "SOURCES", tmp_path)
    with pytest.raises(UsageError) as caught:
        main_raising(["bench"])
    assert str(caught.value) == (
        f"there are no benchmarks in {tmp_path}: wheels are without them\n"
        "hint: unpack the sdist, or clone the repository, run `make setup` there, "
        "and `.venv/bin/polymat bench`"
    )


def main_raising(arguments: list[str]) -> None:
    from polymat.cli import _parser

    asked = _parser().parse_args(arguments)
    asked.run(asked)


def test_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("benchmarks.bench.time.monotonic", lambda: now)
    clock = Clock(10)
    assert clock.text == "[1/10]"
    now = 160.0
    clock.tick()
    assert clock.text == "[2/10, 9 min left]"
    assert [duration_text(seconds) for seconds in (5, 89, 91, 3599, 3700)] == [
        "5 s",
        "89 s",
        "2 min",
        "1 h 0 min",
        "1 h 2 min",
    ]
