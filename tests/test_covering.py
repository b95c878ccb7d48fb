"""Sets of parameters that are run have every value among them, whatever the seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.covering import TESTS, covering, left_out


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


@dataclass(eq=False)
class OneSet:
    """What is asked of a test with parameters."""

    name: str
    path: Path
    marks: tuple[pytest.Mark, ...]
    callspec: Any = None

    @property
    def nodeid(self) -> str:
        return f"{self.path}::{self.name}"

    def iter_markers(self, name: str) -> Iterator[pytest.Mark]:
        return (mark for mark in self.marks if mark.name == name)

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next(self.iter_markers(name), None)


ONE_LIST = pytest.mark.parametrize("x", range(9)).mark
KINDS = (
    ("codegen/memory", (ONE_LIST,), 5, 3),
    ("codegen/memory", (ONE_LIST,), 3, 2),
    ("codegen/memory", (ONE_LIST,), 2, 1),
    ("codegen/memory", (), 1, 1),
    ("rewrite", (ONE_LIST, ONE_LIST), 6, 6),
    ("rewrite", (ONE_LIST, pytest.mark.drawn(6).mark), 6, 6),
    ("lang", (ONE_LIST, pytest.mark.drawn(2).mark), 6, 2),
    ("lang", (ONE_LIST,), 6, 6),
)


@pytest.mark.parametrize(("room", "marks", "sets", "run"), KINDS)
def test_how_many_sets_of_one_list_are_run(
    room: str, marks: tuple[pytest.Mark, ...], sets: int, run: int
) -> None:
    here = TESTS / room / "test_something.py"
    alike: list[Any] = [OneSet(f"test_x[{place}]", here, marks) for place in range(sets)]
    other: Any = OneSet("test_another", here, ())
    chosen = {tuple(x.name for x in alike if x not in left_out([*alike, other], seed)) for seed in "abcdefgh"}
    assert {len(names) for names in chosen} == {run}
    assert len(chosen) > 1 or run == sets


def with_values(room: str, rows: int) -> list[Any]:
    """Sets of a function with two lists."""
    here, lists = TESTS / room / "test_something.py", ("x", "y")
    marks = (pytest.mark.covering.mark, *(pytest.mark.parametrize(name, []).mark for name in lists))
    found: list[Any] = [OneSet(f"test_x[{x}-{y}]", here, marks) for x in range(rows) for y in range(2)]
    for item in found:
        values = map(int, item.name[len("test_x[") : -1].split("-"))
        item.callspec = SimpleNamespace(params=dict(zip(lists, values, strict=True)))
    return found


@pytest.mark.parametrize(("room", "rows", "run"), [("lang", 6, 6), ("rewrite", 6, 3), ("rewrite", 3, 2)])
def test_half_of_what_covers_all_values_where_tests_compile_most(room: str, rows: int, run: int) -> None:
    sets = with_values(room, rows)
    chosen = [{*sets} - left_out(sets, seed) for seed in map(str, range(40))]
    assert {len(each) for each in chosen} == {run}
    assert set().union(*chosen) == {*sets}


def test_functions_that_take_long_have_their_turns() -> None:
    item: Any = OneSet("test_x", TESTS / "lang/test_x.py", (pytest.mark.turns(3).mark,))
    other: Any = OneSet("test_x", TESTS / "lang/test_another.py", ())
    assert 70 < sum(not left_out([item, other], str(seed)) for seed in range(300)) < 130
    assert not any(left_out([item], str(seed)) for seed in range(30))  # its file alone
