"""What searches found is kept line by line, and survives kills, other processes and other versions."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from polymat.errors import ToolchainError
from polymat.graph.selection import GroupChoice, Selection
from polymat.runtime.tunedstore import (
    SearchEnd,
    Trial,
    anything_tuned,
    forget_tuned,
    read_tuned,
    tuned_files,
    tuned_path,
)

CHOICE = Selection((GroupChoice(("f",), "tiles along i", (32,)),), ((8, 6, 2),))
TRIAL = Trial(CHOICE, {"N": 500}, 1e-3, 2e-3, 3e-3, 2 / 3, 11, 1.5, date="2026-11-25")
ENDING = SearchEnd(CHOICE, {"N": 500}, 2e-3, 3e-3, 1, 1, "2026-11-25")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_records_are_read_as_they_were_added() -> None:
    assert not anything_tuned()
    file = read_tuned("key")
    assert file.records == []
    file.add(TRIAL)
    file.add(ENDING)
    assert file.records == [TRIAL, ENDING]
    assert read_tuned("key").records == [TRIAL, ENDING]
    assert read_tuned("other").records == []
    assert anything_tuned()
    assert tuned_files() == (tuned_path("key"),)
    assert forget_tuned() == 1
    assert read_tuned("key").records == []


def test_a_part_of_a_line_is_left_out_and_ended() -> None:
    """As a process that is killed leaves it, at any byte."""
    read_tuned("key").add(TRIAL)
    path = tuned_path("key")
    whole = path.read_bytes()
    for kept in range(len(whole)):
        path.write_bytes(whole + whole[:kept])
        assert read_tuned("key").records[:1] == [TRIAL]
        assert len(read_tuned("key").records) == 1 + (kept == len(whole) - 1)
    for kept in (1, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole + whole[:kept])
        read_tuned("key").add(replace(TRIAL, rounds=3))
        assert [each.rounds for each in read_tuned("key").records if isinstance(each, Trial)] == [11, 3]


def test_lines_of_other_versions_are_left_out() -> None:
    file = read_tuned("key")
    file.add(TRIAL)
    path = tuned_path("key")
    line = json.loads(path.read_text())
    others = [{**line, "kind": "Other"}, {**line, "further": 1}, {**line, "choice": None}, [], 3, None]
    others += [{**line, "sizes": {"N": "many"}}, {**line, "choice": {**line["choice"], "groups": 1}}]
    path.write_text("".join(json.dumps(each) + "\n" for each in [*others, line]))
    assert read_tuned("key").records == [TRIAL]


def test_two_processes_add_whole_lines() -> None:
    program = (
        "import sys; from tests.runtime.test_tunedstore import *\n"
        "file = read_tuned('key')\n"
        "for k in range(20): file.add(replace(TRIAL, rounds=int(sys.argv[1]) + k))\n"
    )
    root = Path(__file__).parents[2]
    others = [subprocess.Popen([sys.executable, "-c", program, str(start)], cwd=root) for start in (100, 200)]
    assert [other.wait() for other in others] == [0, 0]
    rounds = [each.rounds for each in read_tuned("key").records if isinstance(each, Trial)]
    assert sorted(rounds) == [*range(100, 120), *range(200, 220)]
    assert tuned_path("key").read_bytes().count(b"\n") == 40


def test_the_cache_may_be_off_or_readonly(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", "readonly")
    file = read_tuned("key")
    file.add(TRIAL)
    assert file.records == [TRIAL]
    assert not directory.exists()
    monkeypatch.setenv("POLYMAT_CACHE", "on")
    read_tuned("key").add(TRIAL)
    monkeypatch.setenv("POLYMAT_CACHE", "readonly")
    assert read_tuned("key").records == [TRIAL]
    monkeypatch.setenv("POLYMAT_CACHE", "off")
    assert read_tuned("key").records == []
    assert not anything_tuned()


def test_what_others_may_have_written_is_not_read(directory: Path) -> None:
    read_tuned("key").add(TRIAL)
    tuned_path("key").chmod(0o666)
    assert read_tuned("key").records == []


def test_a_directory_that_cannot_be_written_is_named(directory: Path) -> None:
    read_tuned("key").add(TRIAL)
    path = tuned_path("key")
    path.unlink()
    path.mkdir()
    with pytest.raises(ToolchainError) as error:
        read_tuned("key").add(TRIAL)
    assert error.value.message == f"cannot write {path}: Is a directory"
    assert "POLYMAT_CACHE_DIR" in error.value.hint
