"""The cheapest partition, found exactly: costs of sets of stages in, groups in their order out."""

from __future__ import annotations

import math

import pytest

from polymat.fusion.dag import Dag
from polymat.fusion.exact import Exhausted, Solution, candidates, solve

CHAIN = Dag.of("abc", [("a", "b"), ("b", "c")])
DIAMOND = Dag.of("abcd", [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])


def groups(dag: Dag, found: Solution | None) -> list[str]:
    assert found is not None
    return ["".join(dag.group(group)) for group in found.groups]


def test_fusion_has_to_pay() -> None:
    equal = solve(CHAIN, lambda group: float(group.bit_count()), 0, CHAIN.all)
    assert (groups(CHAIN, equal), equal and equal.cost) == (["a", "b", "c"], 3.0)
    cheaper = solve(CHAIN, lambda group: 1.0, 0, CHAIN.all)
    assert groups(CHAIN, cheaper) == ["abc"]


def test_the_middle_is_on_either_side() -> None:
    costs = {CHAIN.mask("ab"): 1.0, CHAIN.mask("bc"): 1.5}
    found = solve(CHAIN, lambda group: costs.get(group, 2.0 * group.bit_count()), 0, CHAIN.all)
    assert groups(CHAIN, found) == ["ab", "c"]


def test_what_may_not_be_computed_has_no_partition() -> None:
    b = CHAIN.mask("b")
    alone = solve(CHAIN, lambda group: math.inf if group & b else 1.0, 0, CHAIN.all)
    assert alone is None
    within = solve(CHAIN, lambda group: math.inf if group == b else 1.0, 0, CHAIN.all)
    assert groups(CHAIN, within) == ["abc"]


def test_a_group_has_no_way_out_and_back() -> None:
    """A, d and one of the others: the third would run between its own producer and its own reader."""
    found = {"".join(DIAMOND.group(mask)) for mask in candidates(DIAMOND, 0, DIAMOND.all)}
    assert found == {"a", "ab", "ac", "abc", "abcd"}


def test_the_search_goes_on_behind_what_is_done() -> None:
    a = DIAMOND.mask("a")
    found = solve(DIAMOND, lambda group: 1.0, a, DIAMOND.all)
    assert groups(DIAMOND, found) == ["bcd"]
    assert solve(DIAMOND, lambda group: 1.0, a, DIAMOND.mask("abc")) == Solution(2.0, (0b010, 0b100))


def test_it_ends_where_it_is_told_to() -> None:
    with pytest.raises(Exhausted):
        solve(DIAMOND, lambda group: 1.0, 0, DIAMOND.all, max_steps=4)
    assert solve(CHAIN, lambda group: 1.0, 0, CHAIN.all, max_steps=6) is not None
