"""The papers' tables: their cases are described right, their peers exist, and the page is what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import run
from benchmarks.cases import Case, Judge
from benchmarks.figures.papers import PAGE, RESULTS, paper_page
from benchmarks.harness import Timing
from benchmarks.measure import Row
from benchmarks.papers import __main__ as papers
from benchmarks.papers.fused import fused_case, normalised_case
from benchmarks.papers.tables import DATASETS, KERNELS, NO_TUNED, TABLES
from benchmarks.peers import array_libraries
from benchmarks.peers.pipelines import prepare_tuned
from benchmarks.peers.table import find_peer
from benchmarks.polybench import find_kernel
from benchmarks.problems import describe
from benchmarks.records import Entry, Heading, Record, write_record
from benchmarks.sections import SECTIONS
from benchmarks.sections.convolutions import LAYERS
from benchmarks.task import MissingError
from polymat.graph.build import build
from polymat.graph.interpret import interpret

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


def test_tables_have_the_kernels_of_the_thesis_at_its_sizes() -> None:
    assert len({*KERNELS}) == len(KERNELS) == 13
    assert [*DATASETS] == ["5.3", "5.4", "5.5", "5.6", "5.7"]
    for dataset in DATASETS.values():
        assert all(dataset in find_kernel(name).sizes for name in KERNELS)


def test_every_peer_of_a_table_is_known_and_only_tuned_code_is_asked_for_what_was_tuned() -> None:
    for table in TABLES.values():
        for peer in table.peers(2):
            assert peer.environment.get("POLYMAT_TUNED") == ("auto" if peer.name == "tuned, out=" else None)
    assert NO_TUNED == {"POLYMAT_TUNED": "off"}
    assert find_peer("polymage, out=", 1).prepare.endswith(":prepare_polymage")


def test_nothing_tuned_is_said() -> None:
    with pytest.raises(MissingError, match="nothing is kept that `tune` has found for it"):
        prepare_tuned(normalised_case(4, 3).task)


def test_tables_have_names_of_their_own_and_are_measured_where_they_are_named() -> None:
    assert not {*TABLES, "papers"} & {*SECTIONS}
    assert {"papers", *TABLES} == run.PAPERS
    assert run.PROGRAMS["thesis-5.3"] == ("benchmarks.papers", "thesis-5.3")


def test_cases_are_chosen_by_a_text() -> None:
    cases = papers.cut(TABLES["polydl-bnorm"], "14 x").cases(False)
    assert [case.name for case in cases] == ["14 x 14 x 256", "14 x 14 x 1024"]
    assert [*papers.cut(TABLES["polydl-bnorm"], "none").cases(True)] == []


def test_the_page_is_what_the_command_writes() -> None:
    assert paper_page(TITLES) == PAGE.read_text("utf-8"), "make results"
    assert {path.stem for path in RESULTS.glob("*.json")} <= {*TABLES}


def test_the_page_has_what_was_measured_and_says_what_was_not(tmp_path: Path) -> None:
    about = {"machine": "toy (m), 2 cores", "compiler": "cc 1", "date": "2026-01-02"}
    timings = {
        name: Timing(name, (seconds,)) for name, seconds in (("polymat, out=", 1e-3), ("naive, out=", 2e-3))
    }
    entry = Entry("first", Row("gemm SMALL", "SMALL", 1, 2000, 800, True, 8, timings))
    heading = Heading("First", {"polymat, out=": ("naive, out=",)})
    write_record(tmp_path / "first.json", Record(about, {"first": heading}, (entry,)))
    page = paper_page({"first": "The first table", "second": "The second table"}, tmp_path)
    measured, _, missing = page.partition("## Not measured yet")
    assert "## The first table" in measured
    assert "| gemm SMALL |" in measured
    assert "2.00" in measured
    assert missing.strip() == "- `second`: The second table"
