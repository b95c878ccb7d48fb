"""For which programs and sizes a search holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import polymat.runtime.tunedkey as tunedkey
from polymat import Double, Int, Matrix, Options, Parameter
from polymat.driver import request_for
from polymat.graph.selection import GroupChoice, Selection
from polymat.request import Request
from polymat.runtime.tunedkey import definitions_of, found_for, size_class, tuned_key
from polymat.runtime.tunedstore import SearchEnd, read_tuned
from polymat.steps import Job, build_stages

M, N = Parameter(Int, "M"), Parameter(Int, "N")
A, B = Matrix(Double, "A", [M, N]), Matrix(Double, "B", [N, M])
CHOICE = Selection((GroupChoice(("C",), "kernel loops"),))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))


def request(**asked: Any) -> Request:
    return request_for((A @ B).named("C"), **asked)


def key(asked: Request) -> str:
    return tuned_key(definitions_of(build_stages(asked, Job(asked))), asked)


def keep(
    asked: Request, sizes: Mapping[str, int], choice: Selection | None = CHOICE, seconds: float = 1e-3
) -> None:
    read_tuned(key(asked)).add(SearchEnd(choice, sizes, seconds, 2e-3, 3, 17, "2026-11-25"))


def told(asked: Request) -> str:
    found = found_for(build_stages(asked, Job(asked)), asked)
    return "" if found is None else found.told


def test_the_key_is_of_the_program_its_options_the_machine_and_the_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = request()
    same = [asked, request(name="other"), request(estimates={M: 5})]
    machine = replace(asked.machine, cores=asked.machine.cores + 1)
    others = [
        request_for((A @ B + 1.0).named("C")),
        request(options=Options(threads=1)),
        request(options=Options(fuse=False)),
        request(fortran=[A]),
        request(sizes={M: 5}),
        replace(asked, machine=machine),
    ]
    assert len({key(each) for each in same}) == 1
    assert len({key(each) for each in [asked, *others]}) == 1 + len(others)
    before = key(asked)
    monkeypatch.setattr(tunedkey, "release", lambda: "0.0.0")
    assert key(asked) != before


def test_sizes_near_each_other_are_one_class() -> None:
    assert size_class({"N": 500}) == size_class({"N": 480}) == size_class({"N": 540})
    assert size_class({"N": 500}) != size_class({"N": 640})
    assert size_class({"N": 500}) != size_class({"N": 400})
    assert len({size_class({"N": n}) for n in range(17)}) == 17
    assert size_class({"M": 1, "N": 2}) == size_class({"N": 2, "M": 1}) != size_class({"N": 1, "M": 2})


def test_what_was_found_is_taken_for_its_sizes() -> None:
    keep(request(), {"M": 500, "N": 300})
    path = read_tuned(key(request())).path
    text = (
        "tuned at M 500, N 300: 1 ms measured, 2 ms as the compiler chooses by itself "
        f"(trial 3 of 17, 2026-11-25, kept in {path}): C: kernel loops"
    )
    assert told(request(estimates={M: 510, N: 290})) == text
    assert told(request(estimates={M: 900, N: 290})) == ""
    assert told(request(estimates={M: 510})) == ""  # of a size that is left open nothing is known
    assert told(request()) == text  # no sizes are named, and there is one class
    keep(request(), {"M": 2000, "N": 2000})
    assert told(request()) == ""  # which of both?
    assert told(request(estimates={M: 510, N: 290})) == text


def test_the_latest_ending_counts() -> None:
    sizes = {"M": 500, "N": 300}
    keep(request(), sizes)
    keep(request(), sizes, seconds=0.5e-3)
    assert "0.5 ms measured" in told(request(estimates={M: 500, N: 300}))
    keep(request(), sizes, None)
    assert told(request(estimates={M: 500, N: 300})) == ""


def test_a_program_of_fixed_sizes_has_one_class() -> None:
    keep(request(sizes={M: 5, N: 7}), {})
    assert told(request(sizes={M: 5, N: 7})).startswith("tuned: 1 ms measured, ")
    assert told(request(sizes={M: 5, N: 8})) == ""
