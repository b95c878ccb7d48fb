"""Maps that read each other at the same point are one node of the search for a partition."""

from __future__ import annotations

import random
from typing import Any

import pytest

import polymat as pm
from polymat.decide.decider import Decider
from polymat.fusion.dag import Dag
from polymat.fusion.partition import UNDIVIDED, partition
from polymat.fusion.price import MAX_GROUPS
from polymat.fusion.quotient import Quotient
from polymat.fusion.together import compatible, undivided
from polymat.options import Options
from polymat.plan.tile import TilePlan
from polymat.runtime.host import InstalledLibraries
from tests.decide.test_decider import MACHINE
from tests.fusion.pipelines import I, J, K, M, N, facts, function, i, j, pipeline_of, total

X = pm.Matrix(pm.Double, "x", [M, N])


def stage(name: str, value: object, columns: pm.Interval = J) -> pm.Function:
    f = function(name, (i, I), (j, columns))
    f.defn = [value]
    return f


def sets(*outputs: pm.Function) -> tuple[tuple[str, ...], ...]:
    reads, dag, _ = facts(*outputs)
    return undivided(reads, dag, lambda a, b: True)


def test_sets_that_are_compatible_are_disjoint_and_need_each_other_in_one_way() -> None:
    dag = Dag.of("abcd", [("a", "b"), ("c", "d")])
    assert compatible(dag, [("a", "c"), ("b", "d"), ("a", "b")]) == (("a", "c"), ("b", "d"))
    assert compatible(dag, [("a", "d"), ("b", "c"), ("c",)]) == (("a", "d"), ("c",))
    assert compatible(dag, []) == ()


def test_maps_at_the_same_point() -> None:
    k = stage("k", X(i, j) * X(i, j))
    u = stage("u", X(i, j) + k(i, j))
    assert sets(stage("v", u(i, j) + k(i, j))) == (("k", "u", "v"),)


def test_other_points_domains_and_types_are_kept_apart() -> None:
    k = stage("k", X(i, j) * X(i, j))
    assert sets(stage("v", k(i, j) + k(0, j))) == ()
    assert sets(stage("v", k(i, j), pm.Interval(pm.Int, 0, N - 2))) == ()
    turned = function("v", (j, J), (i, I))
    turned.defn = [k(i, j)]
    assert sets(turned) == ()
    single = pm.Function(([i, j], [I, J]), pm.Float, "v")
    single.defn = [pm.Cast(pm.Float, k(i, j))]
    assert sets(single) == ()


def test_maps_beside_sums_are_left_to_the_search() -> None:
    a, b = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    product = total("p", "ij", "ijk", pm.Op.Sum, lambda i, j, k: a(i, k) * b(k, j))
    scaled = stage("scaled", 2.0 * product(i, j))
    shifted = stage("shifted", scaled(i, j) + 1.0)
    assert sets(stage("out", shifted(i, j) * shifted(i, j))) == (("shifted", "out"),)


def test_a_path_through_another_stage_keeps_two_apart() -> None:
    k = stage("k", X(i, j) * 2.0)
    beside = stage("beside", k(i, pm.Min(j + 1, N - 1)))
    assert sets(stage("out", k(i, j) + beside(i, j))) == (("beside", "out"),)


def test_who_may_not_share_a_group_is_asked() -> None:
    k = stage("k", X(i, j) * 2.0)
    reads, dag, _ = facts(stage("v", k(i, j) + k(i, j)))
    assert undivided(reads, dag, lambda a, b: False) == ()


def random_steps(seed: str, many: int) -> list[pm.Function]:
    """Stages of which each reads two earlier ones, at its own point or beside it."""
    rng = random.Random(seed)
    known: list[pm.Function] = [stage("s0", X(i, j) + 1.0)]
    for number in range(1, many):
        first, second = (rng.choice(known[-5:]) for _ in range(2))
        row = i if rng.random() < 0.7 else pm.Max(i - 1, 0)
        known.append(stage(f"s{number}", first(i, j) * second(row, j)))
    return known


@pytest.mark.parametrize("many", [5, 20, 60])
def test_random_sets_can_run_one_after_the_other(many: int, seed: int) -> None:
    for k in range(10):
        reads, dag, names = facts(random_steps(f"{seed} {k}", many)[-1])
        found = undivided(reads, dag, lambda a, b: True)
        graph = Quotient.of(dag, found)
        nodes = [graph.stages([node]) for node in graph.dag.names]
        assert sorted(name for node in nodes for name in node) == sorted(names)
        done: set[str] = set()
        for node in nodes:
            read = {name for stage in node for name in reads.producers[stage]}
            assert read <= done | set(node)
            done |= set(node)
        assert [node for node in nodes if len(node) > 1] == sorted(found, key=nodes.index)


def test_a_graph_without_sets_is_the_same() -> None:
    dag = Dag.of("abc", [("a", "b"), ("b", "c")])
    assert Quotient.of(dag, []).dag == dag


def test_few_stages_are_searched_all() -> None:
    many = [stage("s0", X(i, j) * X(i, j))]
    longest = max(n for n in range(99) if n * (n + 1) // 2 <= MAX_GROUPS)  # a chain: its groups are ranges
    for number in range(1, longest + 1):
        many.append(stage(f"s{number}", many[-1](i, j) + many[-1](i, j) * X(i, j)))
    for output, divided in ((many[-2], True), (many[-1], False)):
        pipeline = pipeline_of(output)
        names = tuple(stage.name for stage in pipeline.stages)
        asked: list[tuple[str, ...]] = []

        def cost(group: tuple[str, ...], asked: list[tuple[str, ...]] = asked) -> float:
            asked.append(group)
            return float(len(group) ** 2)

        found = partition(pipeline, cost, together=[names])
        assert (len(found.groups) > 1) == divided
        assert (set(asked) == {names}) == (not divided)
        assert (UNDIVIDED in found.guarantee) == (not divided)


def lorenz() -> list[pm.Function]:
    """A step of Runge and Kutta for three numbers a point, written out."""
    state = [pm.Matrix(pm.Double, name, [M, N]) for name in "xyz"]
    slopes: list[list[pm.Function]] = []
    at: list[Any] = list(state)
    for step in range(4):
        x, y, z = (f(i, j) for f in at)
        right = (10.0 * (y - x), x * (28.0 - z) - y, x * y - z * 2.5)
        slopes.append([stage(f"k{step}{n}", value) for n, value in enumerate(right)])
        at = [stage(f"u{step}{n}", state[n](i, j) + 0.1 * slopes[-1][n](i, j)) for n in range(3)]
    total = [sum((k[n](i, j) for k in slopes), start=state[n](i, j)) for n in range(3)]
    return [stage(f"next{n}", value) for n, value in enumerate(total)]


def test_a_step_written_out_is_one_group_whose_tiles_fit_a_cache() -> None:
    outputs = lorenz()
    pipeline = pipeline_of(*outputs)
    decider = Decider(pipeline, MACHINE, {"M": 1000, "N": 1000}, Options(), InstalledLibraries())
    schedule = decider.schedule(decider.grouping())
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    assert len(schedule.considered) == 1
    rows = dict(zip(plan.dims, plan.sizes, strict=True))["i"]
    pads = sum(member.scratch for member in plan.members)
    assert pads * rows * min(plan.sizes[1] if len(plan.sizes) > 1 else 1000, 1000) * 8 <= MACHINE.l2_bytes
