"""The cheapest order in which several things are joined two at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

EXACT = 10  # things for which every order is looked at; of more, cheap pairs are joined first
FEW = 6  # things of which also those are joined that have nothing in common

Tree: TypeAlias = "int | tuple[Tree, Tree]"
Pair: TypeAlias = "Callable[[int, int], float]"


def members(tree: Tree) -> int:
    """The set of things in a tree, a bit for each."""
    if isinstance(tree, int):
        return 1 << tree
    return members(tree[0]) | members(tree[1])


def cheapest_order(count: int, seconds: Pair, is_near: Callable[[int, int], bool]) -> tuple[float, Tree]:
    """The sum of the seconds of all joins, and the tree of them, of which that is least.

    seconds: of joining two sets of things, given as bits.  is_near: whether two sets have anything in common;
    of more than FEW things, others are joined only where nothing else is left.  Equal orders: the first one.
    """
    trees: list[Tree] = [*range(count)]
    total = 0.0
    while len(trees) > EXACT:
        cost, one, other = min(
            (seconds(members(trees[a]), members(trees[b])), a, b) for b in range(len(trees)) for a in range(b)
        )
        total += cost
        joined: Tree = (trees[one], trees[other])
        trees = [tree for at, tree in enumerate(trees) if at not in (one, other)] + [joined]
    near = is_near if len(trees) > FEW else None
    found = _exact(trees, seconds, near) or _exact(trees, seconds, None)
    assert found is not None  # without `is_near` there is an order
    return total + found[0], found[1]


def _exact(
    trees: Sequence[Tree], seconds: Pair, is_near: Callable[[int, int], bool] | None
) -> tuple[float, Tree] | None:
    """The same by dynamic programming over all subsets; None where some have nothing in common."""
    whole = (1 << len(trees)) - 1
    things = [0] * (whole + 1)
    best: dict[int, tuple[float, Tree]] = {}
    for at, tree in enumerate(trees):
        things[1 << at] = members(tree)
        best[1 << at] = (0.0, tree)
    for subset in range(1, whole + 1):
        if subset not in best:
            lowest = subset & -subset
            things[subset] = things[lowest] | things[subset ^ lowest]
            found = _last_join(subset, things, best, seconds, is_near)
            if found is not None:
                best[subset] = found
    return best.get(whole)


def _last_join(
    subset: int,
    things: Sequence[int],
    best: Mapping[int, tuple[float, Tree]],
    seconds: Pair,
    is_near: Callable[[int, int], bool] | None,
) -> tuple[float, Tree] | None:
    """The cheapest last join of a subset, of parts that have something in common."""
    lowest = subset & -subset
    rest = subset ^ lowest
    found: tuple[float, Tree] | None = None
    part = rest
    while part:
        one, other = best.get(subset ^ part), best.get(part)
        if one and other and (is_near is None or is_near(things[subset ^ part], things[part])):
            before = one[0] + other[0]
            if found is None or before < found[0]:
                cost = before + seconds(things[subset ^ part], things[part])
                if found is None or cost < found[0]:
                    found = cost, (one[1], other[1])
        part = (part - 1) & rest
    return found
