"""`tune` of programs whose groups nobody chooses one by one: options, as a user could have given them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.npbench import find_program
from polymat import Options
from polymat.decide.changes import with_changes
from polymat.decide.chosen import UnfitError
from polymat.driver import request_for
from polymat.graph.selection import GroupChoice, Selection, TunedChoice, choice_data, choice_of
from polymat.machine.known import ZEN3
from polymat.runtime import tunedstore
from polymat.search.optionspace import BANDS, CHANGES, STEPS, OptionSpace, decided, further_changes
from polymat.search.tuning import tuned
from polymat.steps import Job
from tests.decide import test_lonepoints
from tests.decide.test_skewedsteps import M, N, T, means
from tests.hosts import as_stated
from tests.search.planted import Planted
from tests.test_passes import CHANGED

SIZES = {"T": 6, "N": 12, "M": 13}
TOGETHER = Selection((), changes=(("blas", "never"), ("skip", ("bands", "skews"))))
ALL = (*STEPS, "fusion", "inline", "parts")


def space(acting: Any = ALL, **options: Any) -> OptionSpace:
    return OptionSpace(request_for(means(), options=Options(threads=1, **options)), acting)


def left_out(choice: Selection) -> tuple[str, ...]:
    found: Any = dict(choice.changes).get("skip", ())
    return (*found,)


def drawn(of: OptionSpace, count: int) -> list[Selection]:
    found: list[Selection] = []
    while len(found) < count:
        choice = of.draw(len(found), found[-1] if found else of.default, found)
        assert choice is not None
        found.append(choice)
    return found


def further(request: Any) -> Any:
    job = Job(request)
    return further_changes(job, *decided(job))


def test_bands_of_steps_are_tried_where_steps_may_run_in_bands() -> None:
    assert further(request_for(means(), options=Options(threads=1))) == BANDS
    assert further(CHANGED["linear"]()) == ()
    acting, _ = decided(Job(request_for(means(), options=Options(threads=1))))
    tried = OptionSpace(request_for(means()), acting, changes=(*CHANGES, *BANDS)).first
    assert [choice for choice in tried if dict(choice.changes).get("bands") == 8]
    given = OptionSpace(request_for(means(), options=Options(bands=4)), acting, changes=(*CHANGES, *BANDS))
    assert not [choice for choice in given.first if "bands" in dict(choice.changes)]


@pytest.mark.turns(2)
def test_steps_are_tuned_and_later_compilations_take_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tunedstore, "DIRECTORY", str(tmp_path / "tuned"))
    asked: Any = {"name": "means", "options": Options(threads=1)}
    found = tuned(request_for(means(), **asked), arrays=None, sizes=SIZES, budget=6.0, clock=Planted())
    timed = [trial for trial in found.trials if not trial.fault]
    assert timed
    assert all(trial.choice.changes and not trial.choice.groups for trial in found.trials)
    others = {trial.fault for trial in found.trials} - {"", "its code is known"}
    assert not [fault for fault in others if "has no effect" not in fault]
    assert found.ending.choice in [trial.choice for trial in timed]
    estimates = {T: 6, N: 12, M: 13}
    again = pm.compile(means(), estimates=estimates, **asked)
    (note,) = [each for each in again.explain().notes if each.startswith("tuned at ")]
    assert note.endswith(str(found.ending.choice))
    assert again.source == found.compiled.source
    monkeypatch.setenv("POLYMAT_TUNED", "off")
    assert pm.compile(means(), estimates=estimates, **asked).source != again.source
    rng = np.random.default_rng(0)
    x, y = rng.random((9, 17)), rng.random((9, 17))
    np.testing.assert_allclose(again(x, y, T=5), again.reference(x, y, T=5), rtol=1e-12)
    nothing = replace(found, trials=(), ending=replace(found.ending, choice=None))
    assert str(nothing).startswith("means: there is nothing to choose, ")


def test_each_change_is_tried_alone_and_then_with_others() -> None:
    found = drawn(space(), len(CHANGES) + 20)
    assert [each.changes for each in found[: len(CHANGES)]] == [(change,) for change in CHANGES]
    assert len({*found}) == len(found)
    assert any(len(each.changes) > 1 for each in found[len(CHANGES) :])
    assert found == drawn(space(), len(found))


def test_passes_that_do_nothing_are_left_out_beside_others_alone() -> None:
    """Steps that do not wait may follow each other, which is left out where that is slower as well."""
    waiting = space(("waits",))
    names = [left_out(choice) for choice in waiting.first]
    assert [each for each in names if each] == [("waits",)]
    passes = {left_out(each) for each in drawn(waiting, len(waiting.first) + 100)}
    assert any({"skews", "waits"} <= {*each} for each in passes)
    assert {name for each in passes for name in each} == {*ALL}


@pytest.mark.parametrize("name", ["sums", "linear", "points", "segments", "skews", "planes", "lanes"])
def test_what_decides_how_steps_run_is_left_out_where_it_does_something(name: str) -> None:
    request = CHANGED[name]()
    acting, _ = decided(Job(request))
    assert name in acting
    assert (name,) in [left_out(choice) for choice in OptionSpace(request, acting).first]
    without = replace(request, options=replace(request.options, skip=(name,)))
    assert name not in decided(Job(without))[0]


def test_slices_are_left_out_where_there_are_any() -> None:
    program = find_program("contour_integral")
    described, sizes = program.build(), program.sizes["S"]
    estimates = {size: sizes[size.name] for size in described.sizes if size.name in sizes}
    asked = request_for(
        described.outputs, inputs=described.inputs, estimates=estimates, options=Options(threads=1)
    )
    request = replace(asked, machine=as_stated(ZEN3))
    acting, _ = decided(Job(request))
    assert "slices" in acting
    assert ("slices",) in [left_out(choice) for choice in OptionSpace(request, acting).first]


def test_points_that_take_all_steps_are_tuned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunedstore, "DIRECTORY", str(tmp_path / "tuned"))
    outputs, inputs = test_lonepoints.iterated(test_lonepoints.grows, pm.Long)
    request = request_for(outputs, inputs=inputs, name="grows", options=Options(threads=1))
    found = tuned(request, arrays=None, sizes=SIZES, budget=8.0, clock=Planted())
    assert ("points",) in [left_out(trial.choice) for trial in found.trials if not trial.fault]


def test_what_the_user_has_decided_stays() -> None:
    given = space(blas="never", unroll=False, tile_sizes=(8, 64), skip=("share", "waits"))
    choices = drawn(given, len(CHANGES) + 10)
    names = {name for each in choices for name, _ in each.changes}
    assert "skip" in names
    assert "kernels" in names
    assert not names & {"blas", "unroll", "tile_sizes"}
    assert "waits" not in {name for each in choices for name in left_out(each)}
    carried = given.job(TOGETHER).request.options
    assert carried.skip == ("share", "waits", "bands", "skews")


def test_choices_of_options_are_kept_as_data() -> None:
    assert choice_of(choice_data(TOGETHER)) == TOGETHER
    assert str(TOGETHER) == "blas='never', skip=('bands', 'skews')"
    mixed = replace(TOGETHER, groups=(GroupChoice(("a",), "map"),))
    with pytest.raises(ValueError, match="no choice: groups beside options with which they are chosen"):
        choice_of(choice_data(mixed))
    with pytest.raises(ValueError, match="no choice: "):
        choice_of(choice_data(TOGETHER) | {"changes": [["blas", None]]})


@pytest.mark.parametrize(
    "change", [("no_such", True), ("blas", "perhaps"), ("skip", ("no_such",)), ("skip", 3)]
)
def test_what_are_no_options_fits_no_program(change: Any) -> None:
    with pytest.raises(UnfitError) as told:
        with_changes(Options(), (change,))
    name, value = change
    assert told.value.message == f"these are no options: {name}={value!r}"


def test_options_that_no_longer_fit_are_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Such as those that were found before the machine was measured anew."""
    A = pm.Matrix(pm.Double, "A", [N, M])

    def stored(request: Any) -> Any:
        choice = Selection((), changes=(("tile_sizes", (16, 512)),))
        return replace(request, found=TunedChoice(choice, {}))

    monkeypatch.setattr("polymat.driver._found", stored)
    compiled = pm.compile(A @ A.T, name="product", options=Options(blas="never", cflags=("-O0",)))
    data = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(compiled(data), data @ data.T)
    assert "has no effect" in caplog.text
