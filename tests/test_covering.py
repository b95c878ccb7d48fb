"""Sets of parameters that are run have every value among them, whatever the seed."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from tests.covering import covering, left_out


def drawn(seed: int, count: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.getrandbits(32) for _ in range(count)]


@pytest.mark.parametrize("seed", range(5))
def test_each_value_of_two_lists_is_among_them(seed: int) -> None:
    sets = [{"program": p, "threads": t} for p, t in product("abcdefg", (1, 2, 3))]
    chosen = [sets[place] for place in covering(sets, drawn(seed, len(sets)))]
    assert {each["program"] for each in chosen} == {*"abcdefg"}
    assert {each["threads"] for each in chosen} == {1, 2, 3}
    assert len(chosen) == 7


@pytest.mark.parametrize("seed", range(5))
def test_each_pair_of_values_of_three_lists_is_among_them(seed: int) -> None:
    sets = [{"a": a, "b": b, "c": c} for a, b, c in product(range(5), range(3), range(2))]
    chosen = [sets[place] for place in covering(sets, drawn(seed, len(sets)))]
    for one, other in combinations("abc", 2):
        assert {(x[one], x[other]) for x in chosen} == {(x[one], x[other]) for x in sets}
    assert len(chosen) < 20


def test_seeds_choose_others_in_the_order_of_all() -> None:
    sets = [{"a": a, "b": b} for a, b in product(range(6), range(2))]
    found = {tuple(covering(sets, drawn(seed, len(sets)))) for seed in range(10)}
    assert len(found) > 5
    assert all([*places] == sorted(places) for places in found)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("name", "size"), [("a", 1), ("a", 2), ("b", 1)])
def test_values_of_one_list_stay_together(
    name: str, size: int, threads: int, request: pytest.FixtureRequest
) -> None:
    """This test itself: of six sets three are run, one for each pair of the second list."""
    here = [item for item in request.session.items if item.path == request.path]
    own = [item for item in here if item.name.startswith("test_values_of_one_list")]
    pairs = {(item.callspec.params["name"], item.callspec.params["size"]) for item in own}  # type: ignore[attr-defined]
    assert not left_out(own, "any seed") or request.config.getoption("--all-sets")
    if len(own) > 1:  # not named alone
        assert len(pairs) == 3
