"""What was decided before is taken while other programs are tuned; of the one that is, what was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Options
from polymat.driver import request_for, request_of
from polymat.runtime.tunedstore import forget_tuned, tuned_files
from polymat.search.tuning import tuned
from tests.decidedanew import noted_anew
from tests.faulty import N, stencils
from tests.search.planted import Planted

OPTIONS = Options(inline=False, threads=1)
OTHERS: Any = {"name": "other", "options": replace(OPTIONS, cflags=("-O0",))}


@pytest.fixture
def anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return noted_anew(tmp_path / "cache", monkeypatch)


def tune(trials: float = 7.0) -> pm.Tuned:
    request = request_for(stencils(), name="g", options=OPTIONS)
    return tuned(request, arrays=None, sizes={"N": 5000}, budget=trials, clock=Planted())


def compiled(size: int = 5000) -> Any:
    return pm.compile(stencils(), name="g", estimates={N: size}, options=OPTIONS)


def notes(run: Any) -> list[str]:
    return [note for note in run.explain().notes if note.startswith("tuned")]


def test_other_programs_are_taken_as_they_were(anew: list[str]) -> None:
    first = pm.compile(stencils(), **OTHERS)
    tune()
    assert tuned_files()
    again = [pm.compile(stencils(), **OTHERS) for _ in range(2)]
    assert anew == ["other"]
    assert [each.source for each in again] == [first.source] * 2


def test_a_tuned_program_is_decided_once_more_and_then_taken(anew: list[str]) -> None:
    plain = compiled()
    best = tune()
    runs = [compiled() for _ in range(3)]
    assert anew == ["g", "g"]
    assert {run.source for run in runs} == {best.compiled.source} != {plain.source}
    assert [notes(run) for run in runs] == [notes(best.compiled)] * 3
    assert len(notes(runs[0])) == 1
    assert len({str(request_of(run).found) for run in runs}) == 1  # type: ignore[union-attr]
    data = np.random.default_rng(0).random(131)
    np.testing.assert_array_equal(runs[2](data), runs[0](data))
    np.testing.assert_allclose(runs[2](data), runs[2].reference(data))


def test_sizes_that_were_not_searched_have_outlines_of_their_own(anew: list[str]) -> None:
    tune()
    runs = [compiled(20), compiled(20), compiled(), compiled()]
    assert anew == ["g", "g"]
    assert [len(notes(run)) for run in runs] == [0, 0, 1, 1]


def test_what_is_found_later_or_forgotten_is_decided_anew(
    anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tune()
    compiled()
    (path,) = tuned_files()
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")  # without the end of the search
    assert (notes(compiled()), len(anew)) == ([], 2)
    monkeypatch.setenv("POLYMAT_TUNED", "off")
    assert (notes(compiled()), len(anew)) == ([], 3)
    compiled()
    assert len(anew) == 3
    monkeypatch.setenv("POLYMAT_TUNED", "auto")
    forget_tuned()
    assert (notes(compiled()), len(anew)) == ([], 3)


def test_what_a_search_finds_meanwhile_is_not_missed(
    anew: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever decided before it ended keeps nothing that would be taken after it."""
    import polymat.compiling as compiling

    driver = compiling._driver()
    whole = driver.compiled

    def late(request: Any) -> Any:
        found = whole(request)
        tune()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(driver, "compiled", late)
        assert notes(compiled()) == []
    assert len(notes(compiled())) == 1
    assert anew == ["g", "g"]
