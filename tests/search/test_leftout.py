"""Passes that do something to a program whose groups are chosen are left out, where that may pay."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Int, Matrix, Options, Parameter
from polymat.driver import compile_request, request_for
from polymat.graph.selection import Selection, TunedChoice
from polymat.model.confidence import NEAR_CALLS
from polymat.plan.schedule import Schedule
from polymat.request import Request
from polymat.runtime import tunedstore
from polymat.runtime.tunedkey import definitions_of, tuned_key
from polymat.runtime.tunedstore import SearchEnd, read_tuned
from polymat.search.leftout import LeftOut
from polymat.search.optionspace import METHODS, decided, further_changes
from polymat.search.space import Space
from polymat.search.tuning import Manner, tuned
from polymat.steps import Job, build_stages
from tests.fixed import NARROW
from tests.hosts import StatedLibraries, as_stated
from tests.search.planted import Planted

N = Parameter(Int, "N")
A, B = (Matrix(Double, name, [N, N]) for name in "AB")
INLINE = Selection((), changes=(("skip", ("inline",)),))


def scaled() -> Function:
    """A product, and what two stages make of it, of which the second one reads the first one alone."""
    half = ((A @ B) * 0.5).named("half")
    return (half + 1.0).named("y")


def asked(outputs: Function, size: int = 300, **options: Any) -> Request:
    options = {"threads": 1, **options}
    found = request_for(outputs, name="y", estimates={N: size}, options=Options(**options))
    return replace(found, machine=as_stated(NARROW), libraries=StatedLibraries())


def space_of(request: Request) -> LeftOut:
    acting, plans = decided(Job(request))
    assert isinstance(plans, Schedule)
    return LeftOut(Space(request, plans.grouping), acting)


def test_passes_that_act_come_first_by_prediction() -> None:
    space = space_of(asked(scaled()))
    assert INLINE in space.first
    assert not [each for each in space.first if "fusion" in str(each)]
    prices = [space.price(each) for each in space.first]
    assert prices == sorted(prices)
    assert all(0.0 < price <= NEAR_CALLS * space.price(space.default) for price in prices)
    known: list[Selection] = []
    for each in space.first:
        assert space.draw(len(known), space.default, known) == each
        known.append(each)
    further = space.draw(len(known), space.default, known)
    assert further is not None
    assert further.groups


def test_what_does_nothing_or_was_left_out_by_the_user_is_not_tried() -> None:
    assert space_of(asked((A @ B).named("T"), 300)).first == ()
    assert INLINE not in space_of(asked(scaled(), skip=("inline",))).first
    assert INLINE not in space_of(asked(scaled(), inline=False)).first


def test_other_methods_of_filters_are_tried_where_there_are_filters() -> None:
    filtered = pm.Signal(Double, "x", N).fir(np.ones(64)).named("y")
    job, other = Job(asked(filtered, 100000)), Job(asked(scaled()))
    acting, plans = decided(job)
    assert further_changes(job, acting, plans) == METHODS
    assert further_changes(other, *decided(other)) == ()
    assert isinstance(plans, Schedule)
    space = LeftOut(Space(asked(filtered, 100000), plans.grouping), acting, METHODS)
    assert [each for each in space.first if "fir=" in str(each)]
    for options in ({"fir": "direct"}, {"fft": "never"}):
        given = asked(filtered, 100000, **options)
        tried = LeftOut(Space(given, plans.grouping), acting, METHODS).passes.first
        assert not [each for each in tried if "fir='blocks'" in str(each)]


def test_what_is_predicted_to_take_long_is_not_tried() -> None:
    """The product of two matrices where that of each and a vector is enough."""
    x = pm.Vector(Double, "x", [N])
    space = space_of(asked(A @ B @ x, 2000))
    without = Selection((), changes=(("skip", ("products",)),))
    assert without in space.passes.first
    assert space.price(without) > NEAR_CALLS * space.price(space.default)
    assert without not in space.first


def test_what_cannot_be_decided_has_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    space = space_of(asked(scaled()))

    def refused(job: Job) -> Any:
        raise pm.PolymatError(f"no plan of {job.request.name}")

    monkeypatch.setattr("polymat.search.leftout.decided", refused)
    assert space.price(INLINE) == inf
    assert INLINE not in space.first


def test_beside_a_pass_that_pays_others_are_left_out_by_turns_with_groups() -> None:
    space = space_of(asked(scaled()))
    drawn = [space.draw(number, INLINE, [*space.first, INLINE]) for number in range(12)]
    assert {bool(each and each.groups) for each in drawn[::2]} == {True}
    assert not [each for each in drawn if each in (INLINE, space.default)]


def test_others_are_left_out_beside_it_although_one_is_predicted_to_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def planted(job: Job) -> tuple[float, frozenset[str]]:
        return (inf if "products" in job.request.options.skip else 0.0), frozenset()

    x = pm.Vector(Double, "x", [N])
    half = ((A @ B @ x) * 0.5).named("half")
    space = space_of(asked((half + pm.Exp(x) + 2.0 * pm.Exp(x)).named("y"), 2000))
    monkeypatch.setattr("polymat.search.leftout._predicted", planted)
    assert 1 < len(space.first) < len(space.passes.first)
    best = space.first[0]
    drawn = [space.draw(number, best, space.first) for number in range(1, 40, 2)]
    further = [each for each in drawn if each is not None and each.changes]
    assert further
    assert not [each for each in further if "products" in str(each.changes) or each in space.first]


def test_programs_without_a_pass_compute_the_same() -> None:
    request = asked(scaled())
    rng = np.random.default_rng(0)
    space = space_of(request)
    default = compile_request(request)
    for choice in space.first:
        compiled = compile_request(replace(request, found=TunedChoice(choice, {})))
        assert compiled.source != default.source
        for size in (0, 1, 7, 31):
            a, b = rng.random((2, size, size))
            np.testing.assert_allclose(compiled(a, b), compiled.reference(a, b), rtol=1e-12)


@pytest.mark.turns(2)
def test_searches_try_it_keep_it_and_tell_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunedstore, "DIRECTORY", str(tmp_path / "tuned"))
    options = Options(threads=1)
    request = request_for(scaled(), name="y", estimates={N: 100}, options=options)

    def search(**manner: Any) -> list[Selection]:
        found = tuned(
            request, arrays=None, sizes={"N": 100}, budget=6.0, clock=Planted(), manner=Manner(**manner)
        )
        return [trial.choice for trial in found.trials]

    assert INLINE in search()
    assert INLINE not in search(guided=False, kept=False)  # nothing says what that would take
    file = read_tuned(tuned_key(definitions_of(build_stages(request, Job(request))), request))
    file.add(SearchEnd(INLINE, {"N": 100}, 1e-3, 2e-3, 1, 7))
    again = pm.compile(scaled(), name="y", estimates={N: 100}, options=options)
    (note,) = [each for each in again.explain().notes if each.startswith("tuned at N 100: ")]
    assert note.endswith("skip=('inline',)")
    assert "half" in {name for group in again.explain().groups for name in group.stages}
