"""Rows of a sparse matrix as the models see them."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat import Int, Interval, Op, Parameter, Reduce, Reduction, Variable, Vector
from polymat.graph.build import build
from polymat.graph.stage import Stage
from polymat.machine.known import GENERIC
from polymat.model.describe import stage_nest
from polymat.model.movement import movement
from polymat.model.segmentrows import segment_rows

N, M, NNZ = (Parameter(Int, name) for name in ("N", "M", "NNZ"))
i, k, c = (Variable(Int, name) for name in "ikc")
ROWS = Interval(Int, 0, N - 1)
value = Vector(pm.Double, "value", [NNZ])
row = Vector(Int, "row", [N + 1], values=(0, NNZ), sorted=True)
column = Vector(Int, "column", [NNZ], values=(0, M - 1))
WITHIN = Interval(Int, row(i), row(i + 1) - 1)
SIZES = {"N": 1000, "M": 1000, "NNZ": 9500}


def times(count: int) -> Stage:
    """A sparse matrix times some vectors."""
    vectors, columns = pm.Matrix(pm.Double, "vectors", [M, count]), Interval(Int, 0, count - 1)
    y = Reduction(([i, c], [ROWS, columns]), ([i, k, c], [ROWS, WITHIN, columns]), pm.Double, "y")
    y.defn = [Reduce(y(i, c), value(k) * vectors(column(k), c), Op.Sum)]
    (stage,) = build([y]).stages
    return stage


def test_rows_are_as_long_as_each_other_and_follow_each_other() -> None:
    stage = times(4)
    lengths, share, places = segment_rows(stage, ("i", "k", "c"), {"i": 1000, "k": 9500, "c": 4})
    assert lengths == {"i": 1000, "k": 10, "c": 4}
    assert share == pytest.approx(0.95)
    assert {dim: str(form) for dim, form in places.items()} == {"k": "k + 10*i"}


def test_without_rows_or_elements_nothing_changes() -> None:
    for extents in ({"i": 0, "k": 9, "c": 4}, {"i": 9, "k": 0, "c": 4}):
        assert segment_rows(times(4), ("i", "k", "c"), extents) == (extents, 1.0, {})


def test_more_rows_than_elements_have_one_at_most() -> None:
    lengths, share, _ = segment_rows(times(1), ("i", "k", "c"), {"i": 100, "k": 25, "c": 1})
    assert lengths["k"] == 1
    assert share == 0.25


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_elements_count_once_however_many_rows_there_are(count: int) -> None:
    """And not once a row."""
    nest = stage_nest(times(count), SIZES)
    assert nest.points == pytest.approx(9500 * count)
    moved = movement(nest, nest.names, {}, GENERIC)
    arrays = dict(moved.traffic[-1].volumes)
    assert arrays["value"] == pytest.approx(8 * 10000, rel=0.01)
    assert arrays["column"] == pytest.approx(4 * 10000, rel=0.01)


def test_what_moves_grows_with_the_elements_and_not_with_rows_times_elements() -> None:
    some, twice = (stage_nest(times(4), {**SIZES, "N": rows, "NNZ": 10 * rows}) for rows in (1000, 2000))
    one, two = (movement(nest, nest.names, {}, GENERIC).traffic[-1].bytes for nest in (some, twice))
    assert 1.5 < two / one < 2.5


def test_other_sums_are_as_they_were() -> None:
    A, B = (pm.Matrix(pm.Double, name, [N, N]) for name in "AB")
    (product,) = build([A @ B]).stages
    dims = product.accumulations[0].dims
    extents = dict.fromkeys(dims, 9)
    assert segment_rows(product, dims, extents) == (extents, 1.0, {})
