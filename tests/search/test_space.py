"""Choices that are drawn can be carried out, are told apart, and are the same for the same seed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Int, Matrix, Options, Parameter
from polymat.checked import check
from polymat.driver import compile_request, request_for
from polymat.graph.selection import Selection, TunedChoice
from polymat.model.confidence import NEAR_CALLS
from polymat.passes import levels_of
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.request import Request
from polymat.search.space import MOST_RANKED, Space
from polymat.steps import Job
from tests.faulty import N, stencils
from tests.fixed import NARROW
from tests.hosts import StatedLibraries, as_stated

M = Parameter(Int, "M")
A, B, C = (Matrix(Double, name, [M, M]) for name in "ABC")


def products() -> Function:
    return pm.gemm((A @ B).named("T"), C, A, 2.0, 1.0).named("D")


def request(outputs: Any, estimates: Any, **options: Any) -> Request:
    options = {"inline": False, "threads": 1, "reassociate": False, **options}
    found = request_for(outputs, estimates=estimates, options=Options(**options))
    return replace(found, machine=as_stated(NARROW), libraries=StatedLibraries())


def space_of(asked: Request, seed: int = 0) -> Space:
    schedule = next(level for _, level in levels_of(Job(asked)) if isinstance(level, Schedule))
    return Space(asked, schedule.grouping, seed)


def drawn(space: Space, count: int) -> list[Selection]:
    found: list[Selection] = []
    while len(found) < count:
        choice = space.draw(len(found), found[-1] if found else space.default, found)
        if choice is None:
            break
        found.append(choice)
    return found


PROGRAMS = {
    "products": lambda **options: request(products(), {M: 300}, **options),
    "stencils": lambda **options: request(stencils(), {N: 100000}, **options),
}


COUNTS = {"products": 60, "stencils": 25}


@cache
def usual(name: str) -> tuple[Space, list[Selection]]:
    """A program's space with seed 0, and what is drawn of it."""
    space = space_of(PROGRAMS[name]())
    return space, drawn(space, COUNTS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_choices_are_new_near_and_sound(name: str) -> None:
    space, found = usual(name)
    assert len({*found}) == len(found) > 5
    assert space.default not in found
    assert space.price(space.default) > 0.0
    for choice in found:
        assert space.price(choice) <= NEAR_CALLS * space.price(space.default)
        check("tilesize", space.schedule(choice))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_seed_draws_the_same(name: str) -> None:
    again, other = (drawn(space_of(PROGRAMS[name](), seed), 20) for seed in (0, 1))
    one = usual(name)[1][:20]
    assert one == again
    assert one != other


def test_the_ways_next_to_the_default_come_first_by_prediction() -> None:
    space = space_of(PROGRAMS["products"]())
    near = [choice for choice in space.first if not any(group.scheme for group in choice.groups)]
    prices = [space.price(choice) for choice in near]
    assert prices == sorted(prices)
    assert drawn(space, len(space.first)) == [*space.first]
    ways = [[group.way for group in choice.groups] for choice in space.first]
    assert ["calls of gemm", "merged kernel loops"] in ways


def test_what_the_ranker_has_first_comes_behind_these() -> None:
    space = space_of(request((A @ B).named("T"), {M: 300}))
    (group,) = space.default.groups
    ranked = [str(scheme) for scheme in space.ways(()).ranked(group.stages)[:MOST_RANKED]]
    tried = [choice.groups[0].scheme for choice in space.first]
    assert len(ranked) == MOST_RANKED
    assert {*ranked} <= {*tried}
    behind = [text for text in tried[-MOST_RANKED:] if text in ranked]
    assert behind == [text for text in ranked if text in behind]
    given = space_of(request((A @ B).named("T"), {M: 300}, blocks="working-sets"))
    assert not [choice for choice in given.first if choice.groups[0].scheme]


def test_all_that_may_be_chosen_is_tried() -> None:
    _, found = usual("products")
    assert any(choice.registers for choice in found)
    assert any(group.blocks for choice in found for group in choice.groups)
    _, found = usual("stencils")
    assert {len(choice.groups) for choice in found} == {1, 2}
    assert any(group.sizes for choice in found for group in choice.groups)


def test_what_is_switched_off_is_not_tried() -> None:
    found = drawn(space_of(PROGRAMS["stencils"](fuse=False)), 10)
    assert {len(choice.groups) for choice in found} <= {2}


def test_what_the_user_has_decided_stays() -> None:
    space = space_of(PROGRAMS["stencils"](tile_sizes=(64,)))
    assert space.kinds == ("way", "blocks", "registers", "schemes", "partition")
    assert not any(group.sizes for choice in drawn(space, 10) for group in choice.groups)
    assert space_of(PROGRAMS["stencils"](blocks="working-sets", fuse=False)).kinds == ("way", "tiles")


def test_sizes_of_tiles_in_schemes_stay() -> None:
    for text in ("[fuse(f), T(i, 64)]", "[fuse(f), Par(i), T(i, 64), T(i, 16)]"):
        space = space_of(PROGRAMS["stencils"](scheme={"g": text}))
        (default,) = (space.ways(()).plan(group) for group in space.default.groups)
        for choice in [space.default, *drawn(space, 10)]:
            (plan,) = (space.ways(choice.registers).plan(group) for group in choice.groups)
            assert isinstance(plan, TilePlan)
            assert isinstance(default, TilePlan)
            assert (plan.sizes, plan.nest) == (default.sizes, default.nest)


@pytest.mark.parametrize("own", [{"vector": False}, {"unroll": False}, {"fft": "always"}, {"fir": "direct"}])
def test_schemes_are_not_tried_against_what_the_user_said(own: dict[str, Any]) -> None:
    asked = request(products(), {M: 300}, **own)
    assert "schemes" in space_of(PROGRAMS["products"]()).kinds
    assert "schemes" not in space_of(asked).kinds


@pytest.mark.turns(2)
def test_as_many_choices_are_drawn_without_predictions_as_with_them() -> None:
    """A choice next to the default is drawn in vain more and more often."""
    product = request((A @ B).named("T"), {M: 300})
    counts = []
    for guided in (True, False):
        space = space_of(product)
        space.guided = guided
        found: list[Selection] = []
        while len(found) < 40 and (choice := space.draw(len(found), space.default, found)) is not None:
            found.append(choice)
        counts.append(len(found))
    assert counts == [40, 40]


def test_what_does_not_fit_has_no_price() -> None:
    space = space_of(PROGRAMS["stencils"]())
    (group,) = space.default.groups
    assert space.price(Selection((replace(group, way="no such way"),))) == inf
    assert space.price(Selection((replace(group, sizes=(1 << 40,)),))) == inf


@pytest.mark.parametrize("name", PROGRAMS)
def test_random_choices_compute_the_same(name: str, seed: int) -> None:
    """At sizes that are odd, and smaller than those that they were drawn for."""
    asked = PROGRAMS[name](blas="never")
    space = space_of(asked, seed)
    rng = np.random.default_rng(seed)
    for choice in drawn(space, 20)[-2:]:
        compiled = compile_request(replace(asked, found=TunedChoice(choice, {})))
        for n in (1, 7, 131):
            given = {each.name: rng.random((n,) * len(each.extents)) for each in compiled.signature.inputs}
            expected = compiled.reference(**given)
            found = compiled(**given)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11, err_msg=str(choice))
