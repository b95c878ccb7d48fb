"""The papers' tables: their cases are described right, their peers exist, and the page is what is written."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from benchmarks import run
from benchmarks.bench import plan_of
from benchmarks.cases import Case, Judge
from benchmarks.figures.papers import PAGE, RESULTS, paper_page
from benchmarks.harness import Timing
from benchmarks.machinetext import about
from benchmarks.measure import SECONDS, Row
from benchmarks.papers import __main__ as papers
from benchmarks.papers import tune
from benchmarks.papers.fused import fused_case, normalised_case, normalised_cases
from benchmarks.papers.tables import DATASETS, KERNELS, TABLES
from benchmarks.peers import array_libraries
from benchmarks.peers.pipelines import prepare_tuned
from benchmarks.polybench import find_kernel
from benchmarks.problems import describe
from benchmarks.records import PAPERS, Entry, Heading, Record, write_record
from benchmarks.sections import SECTIONS
from benchmarks.sections.convolutions import LAYERS
from benchmarks.sections.polybench import MATRIX_VECTOR, PRODUCTS
from benchmarks.selection import Selection
from benchmarks.task import MissingError
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.runtime import tunedstore
from polymat.runtime.calibration import calibrated_machine

TITLES = {name: table.title for name, table in TABLES.items()}


def interpreted(case: Case) -> object:
    description = describe(case.task)[0]
    pipeline = build(description.outputs, inputs=description.inputs)
    sizes = {size.name: case.task.values["sizes"][size.name] for size in description.sizes}
    found = interpret(pipeline, case.task.arrays, sizes)
    return [found[output.name] for output in description.outputs]


def test_a_convolution_with_relu6_is_described_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAYERS, "toy", (5, 4, 6, 3, 2))
    case = fused_case("toy")
    (right,), _ = case.expected()
    assert right.min() == 0.0
    assert right.max() == 6.0
    assert Judge(case).error(interpreted(case)) <= 1


def test_a_normalisation_with_relu_is_described_right() -> None:
    case = normalised_case(5, 3)
    assert Judge(case).error(interpreted(case)) <= 1
    assert Judge(case).error(array_libraries.prepare_numpy(case.task).call()) <= 1


def test_tables_of_the_thesis_have_every_kernel_once_at_its_sizes() -> None:
    plan = plan_of(Selection((TABLES["thesis-5.5"], TABLES["thesis-5.3"])), [1])
    names = [name for _, name, _ in plan.keys]
    assert len({*names}) == len(names)
    assert {name.partition(" ")[0] for name in names} == {*MATRIX_VECTOR, *PRODUCTS}
    for dataset in DATASETS.values():
        assert all(dataset in find_kernel(name).sizes for name in KERNELS)


def test_only_tuned_code_is_asked_for_what_was_tuned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The others inherit that nothing is looked for from the process that starts them."""
    seen: list[str] = []

    def measure(*_: object) -> int:
        seen.append(os.environ["POLYMAT_TUNED"])
        return 0

    monkeypatch.setenv("POLYMAT_TUNED", "auto")
    monkeypatch.setenv("POLYMAT_CALIBRATE", "off")
    monkeypatch.setattr(papers, "measure", measure)
    assert papers.main(["thesis-5.5", "--output", str(tmp_path)]) == 0
    assert seen == ["off"]
    for table in TABLES.values():
        for peer in table.peers(2):
            assert peer.environment.get("POLYMAT_TUNED") == ("auto" if peer.name == "tuned, out=" else None)


def test_cases_are_tuned_once_and_then_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POLYMAT_CALIBRATE", "off")
    monkeypatch.setattr(tunedstore, "DIRECTORY", str(tmp_path / "tuned"))
    case = normalised_case(4, 3)
    section = replace(TABLES["polydl-bnorm"], cases=lambda quick: iter(() if quick else (case,)))
    monkeypatch.setitem(TABLES, "polydl-bnorm", section)
    arguments = ["polydl-bnorm", "--budget", "100 ms"]
    assert tune.main([*arguments, "--minutes", "0"]) == 0
    assert capsys.readouterr().out == ""
    assert tune.main(arguments) == 0
    assert "bnorm_relu: " in capsys.readouterr().out
    assert Judge(case).error(prepare_tuned(case.task).call()) <= 1
    assert tune.main(arguments) == 0
    assert capsys.readouterr().out == "polydl-bnorm, 4 x 4 x 3: has been tuned\n"


def test_nothing_tuned_is_said() -> None:
    with pytest.raises(MissingError, match="no search by `tune` has ended for it here"):
        prepare_tuned(normalised_case(4, 3).task)


def test_tables_have_names_of_their_own_and_are_measured_where_they_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not {*TABLES, "papers"} & {*SECTIONS}
    commands: list[list[str]] = []

    def started(command: list[str], **_: object) -> CompletedProcess[str]:
        commands.append(command[2:])
        return CompletedProcess(command, 1)

    monkeypatch.setattr(run, "run", lambda *_, **__: 0)
    monkeypatch.setenv("POLYMAT_CALIBRATE", "off")
    monkeypatch.setattr(subprocess, "run", started)
    assert run.main(["thesis-5.3", "papers", "--again", "--only=gemm"]) == 2
    asked = ["--threads=", "--only=gemm", "--again"]
    assert commands == [["benchmarks.papers", "thesis-5.3", *asked], ["benchmarks.papers", *asked]]
    commands.clear()
    run.main(["--again"])
    assert ["benchmarks.audit", "--threads=", "--only="] in commands
    assert not any("benchmarks.papers" in command for command in commands)


def test_what_is_of_another_run_fails_and_what_is_complete_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POLYMAT_CALIBRATE", "off")
    name, path = "polydl-bnorm", tmp_path / "polydl-bnorm.json"
    asked = [name, "--only=14 x 14 x 256", "--threads=1", f"--output={tmp_path}"]
    case = next(normalised_cases(quick=False))
    row = Row("14 x 14 x 256", case.group, 1, case.flops, case.traffic, False, 4, {})
    conditions = {**about(calibrated_machine()), "rounds": f"{SECONDS:g} s a case"}
    record = Record(conditions, {name: Heading.of(TABLES[name])}, (Entry(name, row),))
    write_record(path, record)
    assert papers.main(asked) == 0
    assert f"{name} is left as it is: {path} has all 1 cases" in capfd.readouterr().out
    write_record(path, replace(record, about={**conditions, "machine": "another"}))
    assert papers.main(asked) == 1
    assert "is of another run: machine was 'another'" in capfd.readouterr().out


def test_cases_are_chosen_by_a_text() -> None:
    cases = papers.cut(TABLES["polydl-bnorm"], "14 x").cases(False)
    assert [case.name for case in cases] == ["14 x 14 x 256", "14 x 14 x 1024"]
    assert [*papers.cut(TABLES["polydl-bnorm"], "none").cases(True)] == []


def test_the_page_is_what_the_command_writes() -> None:
    assert paper_page(TITLES) == PAGE.read_text("utf-8"), "make results"
    assert {path.stem for path in (RESULTS / PAPERS).glob("*.json")} <= {*TABLES}


def test_the_page_has_what_was_measured_and_says_what_was_not(tmp_path: Path) -> None:
    conditions = {"machine": "toy (m), 2 cores", "compiler": "cc 1", "date": "2026-01-02"}
    timings = {
        name: Timing(name, (seconds,)) for name, seconds in (("polymat, out=", 1e-3), ("naive, out=", 2e-3))
    }
    entry = Entry("first", Row("gemm SMALL", "SMALL", 1, 2000, 800, True, 8, timings))
    heading = Heading("First", {"polymat, out=": ("naive, out=",)})
    record = Record(conditions, {"first": heading}, (entry,))
    write_record(tmp_path / PAPERS / "first.json", record)
    other = replace(record, about={**conditions, "machine": "Chip (n), 4 cores"})
    write_record(tmp_path / "machines" / "n" / PAPERS / "first.json", other)
    page = paper_page({"first": "The first table", "second": "The second table"}, tmp_path)
    measured, _, missing = page.partition("## Not measured yet")
    assert "## The first table" in measured
    assert measured.count("| gemm SMALL |") == 2
    assert "Without a time" not in measured
    assert "1 of 3 cases so far" not in measured
    assert measured.index("First. toy (m), 2 cores") < measured.index("First. Chip (n), 4 cores")
    assert "2.00" in measured
    assert missing.strip() == "- `second`: The second table"


def test_the_page_says_what_was_left_out(tmp_path: Path) -> None:
    conditions = {"machine": "toy (m), 2 cores", "compiler": "cc 1", "date": "2026-01-02", "cases": "4"}
    heading = Heading("First", {"polymat, out=": ("naive, out=", "tuned, out=")})
    quick = {"polymat, out=": Timing("polymat, out=", (1e-3,))}
    both = {**quick, "naive, out=": Timing("naive, out=", (2e-3,))}
    none = "nothing is kept"
    rows = (
        Row("a", "A", 1, 2000, 800, True, 8, both, {"tuned, out=": none}),
        Row("b", "A", 1, 2000, 800, True, 8, quick, {"naive, out=": "no answer", "tuned, out=": none}),
        Row("c", "A", 1, 2000, 800, True, 8, {}, {"timing": "too large"}),
    )
    record = Record(conditions, {"first": heading}, tuple(Entry("first", row) for row in rows))
    write_record(tmp_path / PAPERS / "first.json", record)
    page = paper_page({"first": "The first table"}, tmp_path)
    assert "2026-01-02; 3 of 4 cases so far, each number of threads one." in page
    said = "c (too large); naive, out=, b (no answer); tuned, out=, everywhere (nothing is kept)."
    assert f"Without a time: {said}" in page.splitlines()
