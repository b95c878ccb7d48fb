"""Orders of joining: the cheapest of all, by brute force; what is done with many things."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from polymat.rewrite.subsets import EXACT, Tree, cheapest_order, members


def every_order(things: tuple[int, ...]) -> Iterator[Tree]:
    if len(things) == 1:
        yield things[0]
        return
    for mask in range(0, 1 << (len(things) - 1)):
        left = (things[0], *(t for k, t in enumerate(things[1:]) if mask >> k & 1))
        right = tuple(t for t in things if t not in left)
        if right:
            yield from ((a, b) for a in every_order(left) for b in every_order(right))


def cost(tree: Tree, table: dict[frozenset[int], float]) -> float:
    if isinstance(tree, int):
        return 0.0
    own = table[frozenset((members(tree[0]), members(tree[1])))]
    return own + cost(tree[0], table) + cost(tree[1], table)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_cheapest_of_all_orders(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = {
        frozenset((a, b)): float(rng.uniform())
        for a in range(1, 1 << count)
        for b in range(1, 1 << count)
        if not a & b
    }
    found, tree = cheapest_order(count, lambda a, b: table[frozenset((a, b))], lambda _a, _b: True)
    assert members(tree) == (1 << count) - 1
    assert found == pytest.approx(cost(tree, table))
    assert found == pytest.approx(min(cost(each, table) for each in every_order(tuple(range(count)))))


def test_many_things_are_joined_two_at_a_time() -> None:
    count = EXACT + 5
    found, tree = cheapest_order(count, lambda a, b: float(bin(a | b).count("1")), lambda _a, _b: True)
    assert members(tree) == (1 << count) - 1
    assert found >= count


def test_things_with_nothing_in_common_are_joined_where_nothing_else_is_left() -> None:
    _, tree = cheapest_order(8, lambda _a, _b: 1.0, lambda _a, _b: False)
    assert members(tree) == 255


def test_of_more_than_six_neighbours_come_first() -> None:
    def near(one: int, other: int) -> bool:
        return bool((one << 1 | one >> 1) & other)

    def seconds(one: int, other: int) -> float:
        return 1.0 if near(one, other) else 0.0

    found, _ = cheapest_order(8, seconds, near)
    assert found == 7.0
