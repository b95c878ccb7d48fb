"""Partitions of large graphs, ties, and what happens without a legal one."""

from __future__ import annotations

import itertools
import math
import random

import pytest

import polymat as pm
from polymat.errors import InternalError
from polymat.fusion.bounded import MAX_MOVES, MAX_RANGE
from polymat.fusion.dag import Dag
from polymat.fusion.partition import BOUNDED, EXACT, partition, partition_stages
from polymat.fusion.price import MAX_GROUPS
from tests.fusion.pipelines import pipeline_of

Names = tuple[str, ...]
SIXTY = tuple(f"s{k}" for k in range(60))


def chain(names: Names) -> list[tuple[str, str]]:
    return list(itertools.pairwise(names))


def fours(group: Names) -> float:
    """Groups of four are best."""
    return 1.0 + abs(len(group) - 4) * 0.3


@pytest.mark.parametrize(("length", "exact"), [(28, True), (31, True), (32, False), (60, False)])
def test_a_chain_is_exact_as_far_as_all_groups_are_priced(length: int, exact: bool) -> None:
    names = SIXTY[:length]
    found = partition_stages(Dag.of(names, chain(names)), fours)
    assert found.exact == exact == (length * (length + 1) // 2 <= MAX_GROUPS)
    if length % 4 == 0:  # which ranges of an order find as well
        assert found.groups == tuple(names[k : k + 4] for k in range(0, length, 4))


@pytest.mark.parametrize("density", [0.04, 0.1, 0.4])
def test_sixty_random_stages_within_the_limit_of_costs(density: float, seed: int) -> None:
    rng = random.Random(f"{seed} {density}")
    edges = [(a, b) for k, b in enumerate(SIXTY) for a in SIXTY[:k] if rng.random() < density]
    asked = 0

    def cost(group: Names) -> float:
        nonlocal asked
        asked += 1
        return fours(group)

    found = partition_stages(Dag.of(SIXTY, edges), cost)
    assert asked < 12_000
    assert found.cost < sum(fours((name,)) for name in SIXTY)


@pytest.mark.parametrize("count", [8, 9, 10, 12, 16, 40])
def test_siblings_are_priced_no_oftener_than_promised(count: int) -> None:
    names = SIXTY[:count]
    joins = [(a, b) for k, b in enumerate(names) for a in names[:k]]
    asked: set[Names] = set()

    def cost(group: Names) -> float:
        assert group not in asked
        asked.add(group)
        return fours(group)

    found = partition_stages(Dag.of(names, [], joins), cost)
    assert found.exact == (2**count - 1 <= MAX_GROUPS)
    pairs_and_ranges = 2 * count * count
    assert len(asked) <= (MAX_GROUPS if found.exact else MAX_GROUPS + MAX_MOVES + pairs_and_ranges)
    assert found.cost <= sum(map(fours, (names[k : k + 4] for k in range(0, count, 4))))


def test_groups_longer_than_ranges_are_merged_from_these() -> None:
    names = SIXTY[:48]

    def cost(group: Names) -> float:
        if len(group) == 2 * MAX_RANGE:
            return 1.2
        return 1.0 if len(group) <= MAX_RANGE else math.inf

    found = partition_stages(Dag.of(names, chain(names)), cost)
    assert found.groups == tuple(names[k : k + 16] for k in (0, 16, 32))


def test_single_stages_move_to_the_group_beside_theirs() -> None:
    names = SIXTY[:48]

    def cost(group: Names) -> float:
        if len(group) in (15, 16, 17):
            return 1.2 - 0.2 * (len(group) == 17) - 0.1 * (len(group) == 15)
        return 1.0 if len(group) <= MAX_RANGE else math.inf

    found = partition_stages(Dag.of(names, chain(names)), cost)
    assert found.groups == (names[:15], names[15:32], names[32:])
    assert found.cost == pytest.approx(1.1 + 1.0 + 1.2)


def test_siblings_are_fused_only_when_joined() -> None:
    names = ("a", "b")
    assert partition_stages(Dag.of(names, []), lambda g: 1.0).groups == (("a",), ("b",))
    assert partition_stages(Dag.of(names, [], [names]), lambda g: 1.0).groups == (("a", "b"),)


def test_fusion_has_to_pay() -> None:
    found = partition_stages(Dag.of(("a", "b"), [("a", "b")]), lambda g: float(len(g)))
    assert found.groups == (("a",), ("b",))


def test_groups_that_need_each_other_are_not_chosen() -> None:
    names = ("a", "b", "c", "d")
    dag = Dag.of(names, [("a", "d"), ("b", "c")], [("a", "c"), ("b", "d")])
    found = partition_stages(dag, lambda g: 1.0 if g in (("a", "c"), ("b", "d")) else float(len(g) * 2))
    assert len(found.groups) == 3


def test_a_group_that_is_left_and_entered_again_is_never_asked_about() -> None:
    asked: list[Names] = []

    def cost(group: Names) -> float:
        asked.append(group)
        return 1.0

    partition_stages(Dag.of(("a", "b", "c"), [("a", "b"), ("b", "c"), ("a", "c")]), cost)
    assert ("a", "c") not in asked
    assert ("a", "b", "c") in asked


def test_no_finite_cost_is_a_bug() -> None:
    with pytest.raises(InternalError, match="no partition of a, b has a finite cost"):
        partition_stages(Dag.of(("a", "b"), [("a", "b")]), lambda g: math.inf)


def test_no_stages() -> None:
    assert partition_stages(Dag.of((), []), fours).groups == ()


def test_the_guarantee_says_whether_all_partitions_were_tried() -> None:
    n, x = pm.Parameter(pm.Int, "N"), pm.Variable(pm.Int, "x")
    last: pm.Vector | pm.Function = pm.Vector(pm.Double, "A", [n])
    for number in range(12):
        f = pm.Function(([x], [pm.Interval(pm.Int, 0, n - 1)]), pm.Double, f"f{number}")
        f.defn = [last(x) * last(x)]
        last = f
    assert isinstance(last, pm.Function)
    pipeline = pipeline_of(last)
    assert len(pipeline.stages) == 12
    assert partition(pipeline, fours).guarantee == EXACT
    assert partition(pipeline, fours, max_steps=5).guarantee == BOUNDED
    assert f"more than {MAX_GROUPS}" in BOUNDED


def test_partition_of_a_pipeline() -> None:
    n = pm.Parameter(pm.Int, "N")
    x = pm.Variable(pm.Int, "x")
    a = pm.Vector(pm.Double, "A", [n])
    whole = pm.Interval(pm.Int, 0, n - 1)
    f, g, h = (pm.Function(([x], [whole]), pm.Double, name) for name in "fgh")
    f.defn = [a(x) + 1]
    g.defn = [f(x) * f(x)]
    h.defn = [g(x) + f(x)]
    pipeline = pipeline_of(h)

    def cost(group: Names) -> float:
        return {("f", "g"): 1.0, ("g", "h"): 1.5, ("f", "g", "h"): 4.0}.get(group, 1.0)

    assert partition(pipeline, cost).summary == "f+g | h"
    assert partition(pipeline, cost).guarantee == EXACT
    assert partition(pipeline, cost, joins=[("g", "h")]).summary == "f | g+h"
    assert partition(pipeline, cost, joins=[]).summary == "f | g | h"


def test_every_component_has_a_search_of_its_own() -> None:
    parts = [SIXTY[k : k + 12] for k in (0, 12, 24)]
    joins = [(a, b) for names in parts for k, b in enumerate(names) for a in names[:k]]
    found = partition_stages(Dag.of(SIXTY[:36], [], joins), fours)
    assert found.cost == 9 * fours(SIXTY[:4])
    assert not found.exact
