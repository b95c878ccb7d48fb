"""The audit of the suite: what it keeps and shows, and that a plan that crashes ends one audit alone."""

from __future__ import annotations

import json
import math
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import audit, run
from benchmarks.auditing.lines import Line, as_json, from_json, long_enough
from benchmarks.auditing.report import report
from benchmarks.auditing.scatter import MARGIN, SIDE, Points, scatter, seconds_text
from benchmarks.auditing.suite import suite
from benchmarks.cases import kernel_case
from benchmarks.harness import Peer
from benchmarks.peers import audits
from benchmarks.polybench import find_kernel
from benchmarks.task import Task
from polymat.audit.audited import Audited, TimedPlan
from tests.benchmarks.dying import FOUND

LOOPS, CALLS = TimedPlan("loops", 1e-3, 2e-3), TimedPlan("calls of gemv", 1.5e-3, 1e-3)
TILES = TimedPlan("tiles", 1e-3, math.inf, "y(0) is 1.0, not 2.0 (1 of 9 elements differ)")
SHORT = Audited(("z",), TimedPlan("loops", 1e-8, 5e-8), ())
LINES = [
    Line("blas2: atax", 1, "aligned", (Audited(("t", "y"), LOOPS, (CALLS, TILES)), SHORT)),
    Line("blas2: mvt", 2, "as NumPy's", (Audited(("x",), CALLS, (LOOPS,)),)),
    Line("fir: 8 taps", 2, "as NumPy's", (), "audit: its process ended with status -11; at last: y as tiles"),
]


def test_audits_are_read_as_they_were_written() -> None:
    written = json.loads(json.dumps([as_json(line) for line in LINES]))
    assert [from_json(line) for line in written] == LINES


def test_the_report_begins_with_the_worst() -> None:
    text = "\n".join(report([*LINES, Line("dsp", 1, "aligned", (Audited(("u",), LOOPS, ()),))]))
    assert (
        "| blas2: atax | 1 thread, arrays aligned | t+y | loops | 1 ms | 2 ms | calls of gemv | 1.5 ms "
        "| 1 ms | 2.00 |\n\n## Predictions"
    ) in text
    assert "| dsp | 1 thread, arrays aligned | u | loops | 1 ms | 2 ms | 0.5 |" in text
    assert "- blas2: atax, 1 thread, arrays aligned: WRONG t+y as tiles: y(0) is 1.0, not 2.0" in text
    assert "- fir: 8 taps, 2 threads, arrays as NumPy's: FAILED: audit: its process ended" in text
    assert (
        "- 2 threads, arrays as NumPy's: within 10 %: 1 of 1; worst loss: 1.00; predicted within 1.5: 1 of 1"
        "\n- all: WRONG: 1; within 10 %: 1 of 2; worst loss: 2.00; predicted within 1.5: 1 of 3"
        "\n- not counted: 1 groups of less than 300 ns"
    ) in text
    assert len(long_enough(LINES)) == 2


def test_points_lie_where_their_values_are() -> None:
    pairs = [(1e-6, 1e-6), (1e-4, 1e-5), (math.inf, 1.0), (1.0, 0.0)]
    text = scatter("a < b", "where", ("x", "y"), [Points("p", "dot", "#444444", pairs)], 1.5)
    root = ET.fromstring(text)
    name = "{http://www.w3.org/2000/svg}"
    group, key = root.iter(f"{name}g")
    found = [(float(each.attrib["x"]), float(each.attrib["y"])) for each in group]
    assert len(key) == 1
    unit = SIDE / 3  # from 1e-6 to 1e-3, one decade beyond the largest
    right = [(MARGIN, MARGIN + SIDE), (MARGIN + 2 * unit, MARGIN + SIDE - unit)]
    np.testing.assert_allclose(found, right, atol=0.06)
    texts = [each.text for each in root.iter(f"{name}text")]
    assert {"a < b", "where", "x", "y", "p", "1 µs", "100 µs", "1 ms"} <= {*texts}


def test_nothing_is_a_picture_too() -> None:
    ET.fromstring(scatter("nothing", "", ("x", "y"), [], 1.5))


def test_powers_of_ten_have_units() -> None:
    powers = (-10, -9, -5, -3, 0, 2)
    assert [*map(seconds_text, powers)] == ["1e-10 s", "1 ns", "10 µs", "1 ms", "1 s", "100 s"]


@pytest.mark.parametrize("offset", [0, 16])
@pytest.mark.parametrize("shape", [(), (0, 3), (5, 7)])
def test_arrays_lie_as_asked(offset: int, shape: tuple[int, ...]) -> None:
    array = np.asarray(np.random.default_rng(0).random(shape), np.float32)
    copy = audits.at_offset(array, offset)
    assert copy.size == 0 or copy.ctypes.data % 64 == offset
    assert copy.dtype == array.dtype
    np.testing.assert_array_equal(copy, array)


def test_a_quick_suite_has_something_of_everything() -> None:
    names = [name for name, _ in suite(True)]
    assert len(set(names)) == len(names) <= 40
    for start in ("blas2: ", "stencils: ", "convolutions: ", "dsp: ", "contractions: ", "random: "):
        assert any(name.startswith(start) for name in names)


def test_a_text_chooses_tasks() -> None:
    name, task = next(suite(True, "blas2: gesummv"))
    assert (name, task.problem) == ("blas2: gesummv LARGE", "gesummv")


def test_random_programs_are_audited() -> None:
    asked = {"threads": 1, "seconds": 0.0, "offset": 16}
    task = Task(audits.RANDOM, {}, {"seed": 5, "index": 7, "audit": asked})
    groups = audits.prepare(task).call()
    assert groups
    assert all(group.choice.measured > 0.0 for group in groups)
    assert not any(group.wrong for group in groups)


def tiny(quick: bool, only: str) -> Iterator[tuple[str, Task]]:
    for name in ("atax", "mvt"):
        if only in name:
            yield name, kernel_case(find_kernel(name), "MINI").task


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "suite", tiny)


@pytest.mark.usefixtures("_tiny")
def test_an_audit_is_kept_and_goes_on_after_what_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "QUICK_SECONDS", 0.0)
    asked = ["--quick", "--threads", "1", "--keep", str(tmp_path)]
    assert audit.main([*asked, "--only", "atax"]) == 0
    first = json.loads((tmp_path / "audit.json").read_text())
    assert any(line.startswith("- machine: ") for line in first["machine"])
    assert [line["lying"] for line in first["audits"]] == ["aligned", "as NumPy's"]
    assert all(0.0 < measured < 60.0 for line in first["audits"] for *_, measured in plans_of(line))
    ET.parse(tmp_path / "audit.svg")
    assert re.search(r"^- all: within 10 %: \d of \d; ", (tmp_path / "audit.md").read_text(), re.M)

    monkeypatch.setattr(audit, "_peer", lambda _: Peer("audit", "tests.benchmarks.dying:prepare"))
    assert audit.main([*asked, "--resume"]) == 2
    again = json.loads((tmp_path / "audit.json").read_text())
    assert again["audits"][:2] == first["audits"]
    lines = [from_json(line) for line in again["audits"][2:]]
    assert [(line.name, line.lying) for line in lines] == [("mvt", "aligned"), ("mvt", "as NumPy's")]
    for line in lines:
        assert line.failed == (
            "audit: its process ended with status 7; at last: polymat.audit: mvt: x1 as tiles of 8 along i"
        )
    assert capsys.readouterr().out.count("FAILED: ") == 2
    assert [line.name for line in audit.kept_lines(tmp_path)] == ["atax"] * 2


def plans_of(line: dict[str, Any]) -> Iterator[list[Any]]:
    return (plan for group in line["groups"] for plan in group["plans"])


@pytest.mark.usefixtures("_tiny")
def test_after_a_crash_there_is_a_new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_peer", lambda _: Peer("audit", "tests.benchmarks.dying:prepare"))
    monkeypatch.setattr(audit, "OFFSETS", {"aligned": 0})
    assert audit.main(["--threads", "1,2", "--keep", str(tmp_path)]) == 2
    lines = [from_json(line) for line in json.loads((tmp_path / "audit.json").read_text())["audits"]]
    found = [(line.name, line.threads, line.groups == (FOUND,)) for line in lines]
    assert found == [("atax", 1, True), ("mvt", 1, False), ("atax", 2, True), ("mvt", 2, False)]


def test_the_section_hands_its_arguments_on(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def called(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command[1:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("benchmarks.run.subprocess.run", called)
    monkeypatch.setattr(run, "header", lambda _: "")
    assert run.main(["audit", "limits", "--quick", "--threads", "2", "--only", "fir"]) == 0
    assert commands == [
        ["-m", "benchmarks.audit", "--threads=2", "--only=fir", "--quick"],
        ["-m", "benchmarks.limits"],
    ]
