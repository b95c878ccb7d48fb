"""Cases are run with whoever is there, and nobody's failure is anybody else's."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from benchmarks.cases import Case, kernel_case
from benchmarks.harness import Peer
from benchmarks.measure import Crew, run_case
from benchmarks.peers import array_libraries
from benchmarks.polybench import find_kernel
from benchmarks.task import MissingError, Prepared, Task


def prepare_right(task: Task) -> Prepared:
    return array_libraries.prepare_numpy(task)


def prepare_wrong(task: Task) -> Prepared:
    right = array_libraries.prepare_numpy(task).call()
    return Prepared(lambda: tuple(array + 1.0 for array in right))


def prepare_lacking(task: Task) -> Prepared:
    raise MissingError("not today")


def prepare_dying(task: Task) -> Prepared:
    right = array_libraries.prepare_numpy(task)

    def die(count: int) -> float:
        os._exit(7)

    return Prepared(right.call, repeat=die)


def prepare_sleeping(task: Task) -> Prepared:
    return Prepared(lambda: time.sleep(60))


def peer(name: str) -> Peer:
    return Peer(name, f"{__name__}:prepare_{name}", {"OMP_NUM_THREADS": "1"})


@pytest.fixture(scope="module")
def case() -> Case:
    return kernel_case(find_kernel("atax"), "MINI")


@pytest.mark.turns(2)
def test_who_is_wrong_or_missing_is_not_timed(case: Case) -> None:
    absent = Peer("absent", "no_such_module:prepare")
    with Crew([peer("right"), peer("wrong"), peer("lacking"), absent]) as crew:
        row = run_case(case, crew, 1, 0.1)
    assert set(row.timings) == {"right"}
    assert row.wrong == ("wrong",)
    assert row.notes["wrong"].startswith("WRONG: the error is ")
    assert row.notes["lacking"] == "not today"
    assert "no_such_module" in row.notes["absent"]


@pytest.mark.turns(2)
def test_all_start_anew_after_one_died_in_a_round(case: Case) -> None:
    with Crew([peer("right"), peer("dying")]) as crew:
        row = run_case(case, crew, 1, 0.1)
        assert row.timings == {}
        assert "dying: its process ended with status 7" in row.notes["timing"]
        assert [worker.peer.name for worker in crew.workers()] == ["right", "dying"]
        assert all(worker.prepare(case.task).result for worker in crew.workers())


@pytest.mark.turns(2)
def test_who_takes_too_long_is_left_out_and_not_wrong(case: Case) -> None:
    with Crew([peer("right"), peer("sleeping")]) as crew:
        row = run_case(case, crew, 1, 0.1, patience=2.0)
    assert {*row.timings} == {"right"}
    assert row.notes["sleeping"] == "no answer within 2 s"
    assert row.wrong == ()


@pytest.mark.turns(2)
def test_what_does_not_fit_into_memory_is_left_out(
    case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    size = sum(array.nbytes for array in case.task.arrays.values())
    there = tmp_path / "meminfo"
    monkeypatch.setattr("benchmarks.measure.MEMORY_INFORMATION", there)
    for copies, fits in ((9, True), (8, False)):  # three each of two processes and of this one
        there.write_text(f"MemTotal: 1 kB\nMemAvailable: {copies * size // 1024 + 1} kB\n", "utf-8")
        with Crew([peer("right"), peer("wrong")]) as crew:
            row = run_case(case, crew, 1, 0.1)
        assert bool(row.timings) == fits
        assert ("timing" in row.notes) == (not fits)
    assert row.notes["timing"].endswith("GB in each of 2 processes, do not fit into memory")
