"""The partition equals brute force over all partitions, on random graphs with random costs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest

from polymat.fusion.dag import Dag
from polymat.fusion.partition import Partition, partition_stages

Edge = tuple[str, str]
Names = tuple[str, ...]
MOST_STAGES = 8
CASES = [(n, case) for n in range(1, MOST_STAGES + 1) for case in range(12 if n == MOST_STAGES else 50)]


def random_edges(names: Names, rng: random.Random, density: float) -> list[Edge]:
    return [(a, b) for k, b in enumerate(names) for a in names[:k] if rng.random() < density]


def set_partitions(names: Names) -> Iterator[list[list[str]]]:
    if not names:
        yield []
        return
    *rest, last = names
    for groups in set_partitions(tuple(rest)):
        yield [*groups, [last]]
        for k in range(len(groups)):
            yield [*groups[:k], [*groups[k], last], *groups[k + 1 :]]


def is_connected(group: Names, joins: set[Edge]) -> bool:
    reached, waiting = {group[0]}, [group[0]]
    while waiting:
        here = waiting.pop()
        for other in group:
            if other not in reached and ((here, other) in joins or (other, here) in joins):
                reached.add(other)
                waiting.append(other)
    return len(reached) == len(group)


def can_run(groups: list[list[str]], edges: list[Edge]) -> bool:
    """Whether the graph of groups has no cycle: take away groups that nothing remaining feeds."""
    of = {name: k for k, group in enumerate(groups) for name in group}
    needs = {(of[a], of[b]) for a, b in edges if of[a] != of[b]}
    left = set(range(len(groups)))
    while left:
        free = {k for k in left if not any(b == k and a in left for a, b in needs)}
        if not free:
            return False
        left -= free
    return True


def cheapest(names: Names, edges: list[Edge], joins: list[Edge], cost: dict[Names, float]) -> float:
    linked = set(joins)
    connected: dict[Names, bool] = {}
    best = math.inf
    for groups in set_partitions(names):
        keys = [tuple(group) for group in groups]
        for key in keys:
            if key not in connected:
                connected[key] = is_connected(key, linked)
        if all(connected[key] for key in keys):
            total = sum(cost[key] for key in keys)
            if total < best and can_run(groups, edges):
                best = total
    return best


def subsets(names: Names) -> Iterator[Names]:
    for mask in range(1, 1 << len(names)):
        yield tuple(name for k, name in enumerate(names) if mask >> k & 1)


def random_costs(names: Names, rng: random.Random) -> dict[Names, float]:
    """Random tables in which fusing often pays, some groups are forbidden and some costs are negative."""
    forbidden = rng.choice([0.0, 0.2, 0.6])
    shift = rng.choice([0.0, 0.0, 0.5])
    costs = {}
    for group in subsets(names):
        pays = rng.random() * (1 if len(group) == 1 else len(group) ** rng.uniform(0.2, 1.2))
        costs[group] = math.inf if len(group) > 1 and rng.random() < forbidden else pays - shift
    return costs


def assert_sound(found: Partition, names: Names, edges: list[Edge], costs: dict[Names, float]) -> None:
    assert sorted(name for group in found.groups for name in group) == sorted(names)
    seen: set[str] = set()
    for group in found.groups:
        seen |= set(group)
        assert all(a in seen for a, b in edges if b in group), "a group runs before what it reads"
    assert found.cost == pytest.approx(sum(costs[group] for group in found.groups), abs=1e-9)


@pytest.mark.parametrize(("count", "case"), CASES)
def test_partition_equals_brute_force(count: int, case: int, seed: int) -> None:
    rng = random.Random(f"{seed} {count} {case}")
    names = tuple(f"s{k}" for k in range(count))
    edges = random_edges(names, rng, rng.choice([0.15, 0.3, 0.6]))
    siblings = random_edges(names, rng, rng.choice([0.0, 0.2]))
    usable = [edge for edge in edges if rng.random() < rng.choice([1.0, 0.7])]
    joins = [*usable, *siblings]
    costs = random_costs(names, rng)
    asked: list[Names] = []

    def cost(group: Names) -> float:
        asked.append(group)
        return costs[group]

    dag = Dag.of(names, edges, joins)
    found = partition_stages(dag, cost)
    assert found.exact
    assert_sound(found, names, edges, costs)
    assert found.cost == pytest.approx(cheapest(names, edges, joins, costs), abs=1e-9)
    assert len(asked) == len(set(asked)), "a cost is asked once"
    assert all(dag.is_connected(dag.mask(g)) and dag.is_convex(dag.mask(g)) for g in asked)


@pytest.mark.parametrize("case", range(60))
def test_limited_search_is_never_worse_than_greedy(case: int, seed: int) -> None:
    from polymat.fusion.greedy import merge_greedily

    rng = random.Random(f"{seed} {case}")
    names = tuple(f"s{k}" for k in range(rng.randint(13, 30)))
    edges = random_edges(names, rng, rng.choice([0.08, 0.15, 0.3]))
    joins = [*[e for e in edges if rng.random() < 0.9], *random_edges(names, rng, rng.choice([0.0, 0.05]))]
    known: dict[Names, float] = {}

    def cost(group: Names) -> float:
        if group not in known:
            pays = rng.random() * len(group) ** 0.8
            known[group] = math.inf if len(group) > 1 and rng.random() < 0.3 else pays
        return known[group]

    dag = Dag.of(names, edges, joins)
    found = partition_stages(dag, cost, max_steps=rng.choice([0, 50, 1000]))
    assert_sound(found, names, edges, known)
    greedy = merge_greedily(dag, lambda mask: cost(dag.group(mask)), [1 << k for k in range(len(names))])
    assert found.cost <= greedy.cost + 1e-9
    assert found.cost <= sum(cost((name,)) for name in names) + 1e-9
    assert all(dag.is_connected(dag.mask(g)) and dag.is_convex(dag.mask(g)) for g in known)
