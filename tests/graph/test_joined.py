"""A stage over two dimensions as one over a single longer one: the same values in the same order, or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval
from polymat.graph.build import build
from polymat.graph.evaluate import Evaluator
from polymat.graph.joined import Pair, joined_stage
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine

EXTENT = 3
N = pm.Parameter(Int, "N")
j, c = pm.Variable(Int, "j"), pm.Variable(Int, "c")
A = pm.Matrix(Double, "A", [N + 2, EXTENT])


def stage_of(definition: Any, last: int = EXTENT - 1) -> Stage:
    f = Function(([j, c], [Interval(Int, 0, N - 1), Interval(Int, 0, last)]), Double, "f", default=0.0)
    f.defn = definition if isinstance(definition, list) else [definition]
    (stage,) = build([f]).stages
    return stage


def joined(definition: Any, last: int = EXTENT - 1) -> Stage | None:
    return joined_stage(stage_of(definition, last), EXTENT, "j_c", {"A"})


def test_indices_of_both_become_one() -> None:
    pair = Pair("j", "c", EXTENT, "j_c")
    row, column = Affine.name("j"), Affine.name("c")
    assert pair.index((row + 1, column)) == (Affine.name("j_c") + EXTENT,)
    assert pair.index((row.scale(2), column)) is None
    assert pair.index((row, Affine((), 1))) is None
    assert pair.dims(("i", "j", "c")) == ("i", "j_c")


def test_what_lies_alike_is_read_by_one_index() -> None:
    found = joined(A(j + 1, c) + 2.0 * A(j, c))
    assert found is not None
    assert found.dims == ("j_c",)
    (low, high), size = found.bounds[0], Affine.name("N")
    assert (low, high) == (Affine(), size.scale(EXTENT) - 1)
    read = sorted(str(load.indices[0]) for load in found.loads())
    assert read == ["j_c", "j_c + 3"]


@pytest.mark.parametrize(
    "definition",
    [
        A(j, 2 - c),  # another channel
        A(2 * 0 + j, 0) * 1.0 + A(j, c),  # one channel for all
        A(j, c) * pm.Cast(Double, j),  # the index as a value
        [Case(Condition(c, ">=", 1), A(j, c))],  # one comparison of the inner index
    ],
)
def test_what_depends_on_one_of_the_two_stays(definition: Any) -> None:
    assert joined(definition) is None


def test_only_whole_dimensions_are_joined_and_arrays_that_are_named() -> None:
    assert joined(A(j, c), last=1) is None
    assert joined_stage(stage_of(A(j, c)), EXTENT, "j_c", {}) is None


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("turned", [False, True])
def test_comparisons_of_rows_become_those_of_places(op: Any, turned: bool) -> None:
    """At every place of rows of three the joined condition is that of its row."""
    condition = Condition(2, op, j) if turned else Condition(j, op, 2)
    found = Pair("j", "c", EXTENT, "j_c").condition(condition)
    assert found is not None
    places, evaluator = np.arange(5 * EXTENT), Evaluator({}, {}, {})
    expected = evaluator.holds(condition, {"j": places // EXTENT}, len(places))
    np.testing.assert_array_equal(evaluator.holds(found, {"j_c": places}, len(places)), expected)
