"""Decisions for other machines beside the own ones: what is compiled, and what is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import cliffs
from benchmarks.cases import kernel_case
from benchmarks.polybench import find_kernel
from benchmarks.task import Task
from polymat.machine.known import HASWELL


def tiny(quick: bool, only: str) -> Iterator[tuple[str, Task]]:
    if only in "atax":
        yield "atax", kernel_case(find_kernel("atax"), "MINI").task


def test_other_machines_have_no_more_of_vectors_and_cores_than_this_one() -> None:
    found = cliffs.others(["zen5", "generic"], HASWELL)
    assert [*found] == ["zen5", "generic"]
    assert all(each.vector_bits <= HASWELL.vector_bits for each in found.values())
    assert all(each.cores == HASWELL.cores for each in found.values())
    assert found["zen5"].l2_bytes == cliffs.OTHERS["zen5"].l2_bytes
    assert [*cliffs.others([], HASWELL)] == [*cliffs.OTHERS]


def test_what_loses_is_printed_and_cliffs_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cliffs, "suite", tiny)
    monkeypatch.setattr(cliffs, "losses", lambda *_: (1e-3, {"haswell": 1.6, "generic": 1.2}))
    assert cliffs.main(["--machines", "haswell,generic,zen3"]) == 1
    assert capsys.readouterr().out == (
        " 1.60  atax as for haswell (0.001 s by the own decisions)\n"
        " 1.20  atax as for generic (0.001 s by the own decisions)\n"
        "3 cases: 1 lose more than 1.5, worst 1.60, geometric mean 1.24\n"
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--machines", "haswell,cray"], "error: no machine cray: there are haswell, zen3"),
        (["--turns", "0"], "error: --turns is 0: each program has one at least"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    asked: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cliffs.main(asked)
    assert said in capsys.readouterr().err


def test_programs_are_measured_by_turns() -> None:
    _, task = next(tiny(True, "atax"))
    seconds, found = cliffs.losses(task, cliffs.others(["generic"], HASWELL), 2)
    assert 0.0 < seconds < 1.0
    assert [*found] == ["generic"], "whose vectors of 128 bits make other code"
    assert all(0.0 < loss < 100.0 for loss in found.values())
