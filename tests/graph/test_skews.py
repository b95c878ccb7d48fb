"""How far steps stay behind one another, so that all they need is there and nothing is lost too soon."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polymat import Double, Function, Image, Int, Interval, Matrix, Parameter, Variable
from polymat.graph.build import build
from polymat.graph.skewed import Skew, Skews
from polymat.graph.skews import MOST_BEHIND, StepArrays, find_skews
from polymat.graph.stepwise import ArrayView, HeldArray
from polymat.lang.affine import Affine

N = Parameter(Int, "N")
i, j, d = (Variable(Int, name) for name in "ijd")
STEP = Affine.name("t")
BEFORE, WALL = Matrix(Double, "before", [N, N]), Matrix(Double, "wall", [N, N])


def stage(name: str, value: Any) -> Function:
    found = Function(([i, j], [Interval(Int, 9, N - 9)] * 2), Double, name)
    found.defn = [value]
    return found


def skews(*stages: Function, planes: int = 2, back: int | None = 1) -> Skews | None:
    """Of steps of these stages; `before` is what u was `back` steps ago, of so many planes."""
    built = build([*stages], inputs=[BEFORE, WALL])
    extents = (Affine.name("N"),) * 2
    held = {name: HeldArray(name, Double, "workspace", extents) for name in (*built.outputs, "w")}
    held["u"] = replace(held["u"], origin=Affine(), planes=Affine((), planes), count=Affine.name("T"))
    before = ArrayView("u", None if back is None else STEP - back)
    outputs = {name: ArrayView(name, STEP) for name in built.outputs}
    arrays = StepArrays({"before": before, "wall": ArrayView("w")}, outputs, held, STEP)
    return find_skews([built.stage(name) for name in built.outputs], arrays)


@pytest.mark.parametrize("reach", [0, 1, 2])
def test_a_step_stays_behind_by_what_it_reads_ahead(reach: int) -> None:
    """And by what the step after the next overwrites, of two planes, that is read behind."""
    found = skews(stage("u", BEFORE(i - reach, j) + BEFORE(i + reach, j)))
    assert found is not None
    assert found.along[0] == Skew(reach, (0,))


def test_what_nobody_changes_may_be_read_anywhere() -> None:
    found = skews(stage("u", BEFORE(i, j) + WALL(i + 8, j)))
    assert found is not None
    assert found.along[0] == Skew(0, (0,))


def test_stages_of_a_step_lag_behind_those_that_they_read() -> None:
    v = stage("v", BEFORE(i + 1, j))
    u = stage("u", v(i + 1, j) + v(i - 1, j))
    found = skews(v, u)
    assert found == Skews(("v", "u"), found.along if found else ())
    assert found is not None
    (outer,) = found.along
    assert outer.lags == (0, 1)
    assert outer.step == 2


def test_one_plane_is_overwritten_by_the_next_step() -> None:
    """What lies behind the point has to be read before the same step writes there: there is no order."""
    assert skews(stage("u", BEFORE(i + 1, j)), planes=1) is not None
    assert skews(stage("u", BEFORE(i - 1, j)), planes=1) is None


def test_steps_that_would_stay_too_far_behind_have_no_order() -> None:
    assert skews(stage("u", BEFORE(i + MOST_BEHIND, j))) is not None
    assert skews(stage("u", BEFORE(i + MOST_BEHIND + 1, j))) is None


def test_what_is_not_known_has_no_order() -> None:
    assert skews(stage("u", BEFORE(N - i, j))) is None
    assert skews(stage("u", BEFORE(i, j)), back=None) is None


def test_two_dimensions_may_both_stay_behind() -> None:
    earlier = Image(Double, "before", [N, N, N])
    u = Function(([i, j, d], [Interval(Int, 9, N - 9)] * 3), Double, "u")
    u.defn = [earlier(i + 1, j, d) + earlier(i, j + 3, d)]
    built = build([u], inputs=[earlier])
    extents = (Affine.name("N"),) * 3
    held = {"u": HeldArray("u", Double, "workspace", extents, Affine(), Affine((), 2), Affine.name("T"))}
    arrays = StepArrays({"before": ArrayView("u", STEP - 1)}, {"u": ArrayView("u", STEP)}, held, STEP)
    found = find_skews([built.stage("u")], arrays)
    assert found is not None
    assert [each.step for each in found.along] == [1, 3]
