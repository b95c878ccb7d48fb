"""Schemes as candidates of a search: valid, told apart, kept as text, and compiled to what they say."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.decide.chosen import UnfitError
from polymat.driver import compile_request
from polymat.graph.selection import GroupChoice, Selection, TunedChoice, choice_data, choice_of
from polymat.plan.schemeplan import SchemePlan
from polymat.product.schemetext import read_scheme
from polymat.search.schememoves import block_slowdown, by_scheme, moving_seconds, other_scheme
from polymat.search.space import Space
from tests.search.test_space import A, B, M, drawn, request, space_of

NEXT = "[T(j, 16), pack(B), R(i), R(j), R(k), U(i, 4), U(j, 8), V(j)]"


def space(seed: int = 0, **options: Any) -> Space:
    return space_of(request((A @ B).named("P"), {M: 40}, **options), seed)


def schemes(choices: list[Selection]) -> list[str]:
    return [group.scheme for choice in choices for group in choice.groups if group.scheme]


def scheme_plan(found: Space, text: str) -> SchemePlan:
    plan = found.ways(()).plan(GroupChoice(("P",), "scheme", scheme=text))
    assert isinstance(plan, SchemePlan)
    return plan


@pytest.mark.turns(2)
def test_schemes_are_drawn_beside_other_choices() -> None:
    found = drawn(space(blas="never"), 40)
    texts = schemes(found)
    assert 3 < len({*texts}) < len(found)
    assert all(str(read_scheme(text)) == text for text in texts)
    assert not any(choice.registers for choice in found if schemes([choice]))


def test_every_step_is_a_scheme_that_runs_and_another_one() -> None:
    ways, rng = space(blas="never").ways(()), Random(3)
    group = other_scheme(ways, GroupChoice(("P",), "kernel loops"), rng)
    seen = set()
    for _ in range(40):
        assert group is not None
        plan = ways.plan(group)
        assert isinstance(plan, SchemePlan)
        assert str(plan.scheme) == group.scheme
        seen.add(group.scheme)
        further = other_scheme(ways, group, rng)
        assert further != group
        group = further
    assert len(seen) > 20


@pytest.mark.parametrize(
    "options", [{"kernels": False}, {"blas": "always"}, {"blocks": "model"}, {"scheme": {"P": NEXT}}]
)
def test_what_the_user_decides_is_left_as_it_is(options: dict[str, Any]) -> None:
    try:
        found = drawn(space(**options), 12)
    except pm.LangError:
        pytest.skip("no library here")
    assert not schemes(found)


def test_a_choice_is_kept_as_text() -> None:
    choice = Selection((by_scheme(("P",), scheme_plan(space(blas="never"), NEXT).scheme),))
    assert choice_of(choice_data(choice)) == choice
    assert choice.groups[0].scheme in str(choice)
    older = choice_data(Selection((GroupChoice(("P",), "kernel loops"),)))
    del older["groups"][0]["scheme"]
    assert choice_of(older).groups[0].scheme == ""


def test_what_was_found_runs_and_is_told() -> None:
    asked = request((A @ B).named("P"), {M: 40}, blas="never", cflags=("-O1",))
    choice = Selection((GroupChoice(("P",), "scheme", scheme=NEXT),))
    compiled = compile_request(replace(asked, found=TunedChoice(choice, {"M": 40}, f"tuned: {choice}")))
    report = compiled.explain()
    assert report.schemes == {"P": NEXT}
    assert f"tuned: P: scheme {NEXT}" in str(report)
    assert report.groups[0].reason == f"{NEXT}, chosen by measuring"
    a, b = np.arange(1600.0).reshape(40, 40), np.eye(40)
    np.testing.assert_allclose(compiled(a, b), a @ b)


def test_a_scheme_of_another_program_does_not_fit() -> None:
    ways = space(blas="never").ways(())
    for text in ("[R(h)]", "no scheme", "[R(i), R(j), R(k), pack(C)]"):
        with pytest.raises(UnfitError):
            ways.plan(GroupChoice(("P",), "scheme", scheme=text))
    with pytest.raises(UnfitError):
        space(scheme={"P": NEXT}, blas="never").ways(()).plan(GroupChoice(("P",), "scheme", scheme=NEXT))


def test_blocks_that_registers_hold_are_predicted_to_be_the_quickest() -> None:
    found = space(blas="never")
    lanes = found.machine.lanes(8)

    def slowdown(rows: int, vectors: int) -> float:
        text = f"[R(i), R(j), R(k), U(i, {rows}), U(j, {vectors * lanes}), V(j)]"
        return block_slowdown(scheme_plan(found, text), found.machine)

    assert slowdown(4, 2) < slowdown(1, 1)
    assert slowdown(4, 2) < slowdown(8, 4)
    plain = block_slowdown(scheme_plan(found, "[R(i), R(j), R(k)]"), found.machine)
    assert plain > slowdown(1, 1)


def test_loops_that_move_more_between_the_caches_cost_more() -> None:
    """Of the same block: with the sum outside, all of the result is read and written each time."""
    found = space_of(request((A @ B).named("P"), {M: 2000}, blas="never"), 0)
    block = "U(i, 4), U(j, 8), V(j)]"
    near = f"[T(j, 64), T(k, 200), pack(B), T(i, 80), R(j), R(i), R(k), {block}"
    far = f"[R(k), R(i), R(j), {block}"
    moved = [moving_seconds(scheme_plan(found, text), found.ways(()).decider) for text in (near, far)]
    assert moved[1] > 4 * moved[0]
    prices = [
        found.price(replace(found.default, groups=(by_scheme(("P",), scheme_plan(found, text).scheme),)))
        for text in (near, far)
    ]
    assert prices[1] >= moved[1]
    assert prices[1] > 2 * prices[0]
