"""Schemes of fused stages: what they say of tiles, which plan does it, and why another does not."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat.plan.planscheme import schemes_of
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan, TilePlan
from polymat.product.scheme import Scheme
from polymat.product.schemetext import Misfit, read_scheme
from polymat.tilesize.schemetiles import (
    fitting,
    heeds,
    is_for_one,
    is_tiled,
    misfit_of_plan,
    says,
    says_any,
    says_more,
    sizes_by_schemes,
)
from tests.faulty import N, stencils
from tests.fixed import compiled_levels


@pytest.fixture(scope="module")
def plan() -> TilePlan:
    """Two stages, f and g, in tiles of i."""
    options = pm.Options(threads=1, inline=False)
    schedule = compiled_levels(stencils(), options=options, estimates={N: 100000})["tilesize"]
    assert isinstance(schedule, Schedule)
    (found,) = schedule.plans
    assert isinstance(found, TilePlan)
    return found


def scheme(text: str) -> Scheme:
    found = read_scheme(text)
    assert isinstance(found, Scheme)
    return found


def test_sizes_are_read_by_the_loops_over_tiles(plan: TilePlan) -> None:
    assert sizes_by_schemes(plan.members, {"g": "[fuse(f), T(i, 64)]"}, ()) == {0: 64}
    assert sizes_by_schemes(plan.members, {"g": "[fuse(f), T(i, 256), T(i, 64)]"}, ()) == {0: 64}
    assert sizes_by_schemes(plan.members, {}, ()) == {}


def test_a_plan_does_what_its_own_scheme_says(plan: TilePlan) -> None:
    (size,) = plan.sizes
    own, other = f"[fuse(f), T(i, {size})]", f"[fuse(f), T(i, {size + 1})]"
    assert heeds(plan, {"g": own})
    assert not heeds(plan, {"g": other})
    wrong = misfit_of_plan(plan, "g", other)
    assert isinstance(wrong, Misfit)
    assert wrong.problem == f"tiles have {size} points of i, not {size + 1}"


def test_what_does_not_fit_is_said(plan: TilePlan) -> None:
    (size,) = plan.sizes
    for text, problem in (
        (f"[fuse(f), T(k, {size})]", "nothing is tiled along k"),
        (f"[fuse(f), roll(i), T(i, {size})]", "tiles do not follow each other along i"),
        ("[fuse(h), T(i, 8)]", "g shares its loops with f, not with h"),
    ):
        found = misfit_of_plan(plan, "g", text)
        assert isinstance(found, Misfit), text
        assert found.problem == problem


def test_the_plans_that_fit_are_chosen_and_else_those_nearest(plan: TilePlan) -> None:
    (size,) = plan.sizes
    plans: list[Plan] = [plan]
    assert fitting(plans, {"g": f"[fuse(f), T(i, {size})]"}, ()) == plans
    assert fitting(plans, {"g": f"[fuse(f), T(i, {size + 1})]"}, ()) == plans


def test_a_printed_scheme_is_that_of_the_plan(plan: TilePlan) -> None:
    for name, found in schemes_of(plan).items():
        assert says(plan, name, str(found))
        assert says_any(plan, name, str(found))
    assert says_any(plan, "g", None)
    assert not says(plan, "g", "[R(i)]")


def test_schemes_are_told_apart_by_what_they_say() -> None:
    assert is_for_one(scheme("[R(i), V(i)]"), "g")
    assert not is_for_one(scheme("[fuse(f), R(i)]"), "g")
    assert not is_for_one(scheme("[T(i, 8)]"), "g")
    assert not says_more(scheme("[T(i, 8), T(j, 4)]"))
    assert says_more(scheme("[T(i, 8), T(i, 4)]"))
    assert says_more(scheme("[T(i, 8), R(i)]"))
    assert is_tiled(scheme("[Par(i*j), T(i, 8), T(j, 4)]"))
    assert not is_tiled(scheme("[Par(i), T(i, 8)]"))
