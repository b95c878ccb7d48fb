"""Sets of stages as masks: what they reach, and whether and in which order they can run as groups."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations

import pytest

from polymat.errors import InternalError
from polymat.fusion.dag import Dag, bits

NAMES = "abcdefg"


def graph(names: str, edges: str, joins: str | None = None) -> Dag:
    """Stages of a letter each, and edges of two."""
    pairs = [(edge[0], edge[1]) for edge in edges.split()]
    return Dag.of(names, pairs, None if joins is None else [(each[0], each[1]) for each in joins.split()])


DIAMOND = graph("abcd", "ab ac bd cd")


def drawn(seed: int, count: int = 60) -> Iterator[tuple[Dag, list[tuple[int, int]]]]:
    """Random graphs, and their edges by number."""
    draw = random.Random(seed)
    for _ in range(count):
        size = draw.randint(1, len(NAMES))
        edges = [(a, b) for b in range(size) for a in range(b) if draw.random() < 0.3]
        yield Dag.of(NAMES[:size], [(NAMES[a], NAMES[b]) for a, b in edges]), edges


def reached(edges: list[tuple[int, int]], start: int) -> set[int]:
    """The stages to which a path leads, one edge at a time."""
    found: set[int] = set()
    frontier = {start}
    while frontier:
        frontier = {b for a, b in edges if a in frontier} - found
        found |= frontier
    return found


def test_bits_are_the_numbers_of_a_mask() -> None:
    assert [*bits(0)] == []
    assert [*bits(0b1011001)] == [0, 3, 4, 6]


def test_masks_and_names_stand_for_each_other() -> None:
    assert DIAMOND.group(DIAMOND.mask(["d", "a"])) == ("a", "d")
    assert DIAMOND.group(DIAMOND.all) == ("a", "b", "c", "d")


def test_a_reader_before_what_it_reads_is_a_bug() -> None:
    with pytest.raises(InternalError, match="u runs before v, which it reads"):
        graph("uv", "vu")


def test_ancestors_and_descendants_are_all_that_paths_reach(seed: int) -> None:
    for dag, edges in drawn(seed):
        for k in range(len(dag.names)):
            assert {*bits(dag.descendants[k])} == reached(edges, k)
            assert {*bits(dag.ancestors[k])} == reached([(b, a) for a, b in edges], k)


def test_a_group_is_convex_where_no_path_leaves_it_and_returns(seed: int) -> None:
    assert not DIAMOND.is_convex(DIAMOND.mask("abd"))
    assert DIAMOND.is_convex(DIAMOND.mask("abc"))
    for dag, edges in drawn(seed):
        for mask in range(1, dag.all + 1):
            inside = {*bits(mask)}
            left = {b for k in inside for b in reached(edges, k)} - inside
            returns = any(reached(edges, k) & inside for k in left)
            assert dag.is_convex(mask) is not returns, (dag, mask)


def test_components_are_what_no_edge_connects() -> None:
    dag = graph("abcde", "ab cd")
    assert [dag.group(part) for part in dag.components(dag.all)] == [("a", "b"), ("c", "d"), ("e",)]
    assert [dag.group(part) for part in dag.components(dag.mask("ade"))] == [("a",), ("d",), ("e",)]


def test_groups_are_connected_through_joins_alone() -> None:
    dag = graph("abc", "ab bc", "ac")
    assert dag.is_connected(dag.mask("ac"))
    assert not dag.is_connected(dag.mask("ab"))
    assert not dag.edges_join
    assert DIAMOND.edges_join
    assert [dag.group(each) for each in dag.family] == [("a", "c"), ("b",), ("a", "c")]


def test_groups_run_behind_what_they_read(seed: int) -> None:
    assert DIAMOND.run_order([DIAMOND.mask("ad"), DIAMOND.mask("bc")]) is None
    draw = random.Random(seed)
    for dag, _ in drawn(seed):
        owner = [draw.randrange(3) for _ in dag.names]
        groups = [sum(1 << k for k, each in enumerate(owner) if each == number) for number in {*owner}]
        order = dag.run_order(groups)
        possible = [each for each in permutations(groups) if runs(dag, each)]
        assert (order is None) is (not possible)
        assert order is None or order in possible


def runs(dag: Dag, groups: tuple[int, ...]) -> bool:
    """Whether each group reads the ones before it alone."""
    done = 0
    for group in groups:
        if dag.producers(group) & ~done:
            return False
        done |= group
    return True


def test_producers_and_consumers_are_outside() -> None:
    middle = DIAMOND.mask("bc")
    assert DIAMOND.group(DIAMOND.producers(middle)) == ("a",)
    assert DIAMOND.group(DIAMOND.consumers(middle)) == ("d",)
    assert DIAMOND.producers(DIAMOND.all) == DIAMOND.consumers(DIAMOND.all) == 0
