"""Planes side by side: which stages have such planes."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.graph.build import build
from polymat.graph.planesbeside import Planes, planes_beside

N, M = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "M")
c, i, j = (pm.Variable(pm.Int, name) for name in "cij")
LAYERS, MASK = pm.Image(pm.Float, "layers", [6, N, M]), pm.Matrix(pm.Float, "mask", [N, M])
WHOLE = LAYERS(c, i, j) * MASK(i, j)


def planes_of(value: Any, low: int = 0, high: int = 2, dtype: Any = pm.Float) -> Planes | None:
    """Those of a function of some planes, rows and columns."""
    spans = [pm.Interval(pm.Int, low, high), pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 0, M - 1)]
    made = pm.Function(([c, i, j], spans), dtype, "made")
    made.defn = value if isinstance(value, list) else [value]
    return planes_beside(build([made]).stages[0])


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 2), (0, 3), (1, 4)])
def test_planes_that_share_an_array_are_side_by_side(low: int, high: int) -> None:
    found = planes_of(WHOLE, low, high)
    assert found == Planes("c", low, high - low + 1)
    assert found is not None
    assert [*found] == [*range(low, high + 1)]


def test_planes_share_one_of_them() -> None:
    assert planes_of(LAYERS(c, i, j) / LAYERS(3, i, j)) is not None


def test_neither_one_plane_nor_many_are_side_by_side() -> None:
    assert planes_of(WHOLE, 0, 0) is None
    assert planes_of(WHOLE, 0, 4) is None


def test_planes_that_share_nothing_are_not() -> None:
    assert planes_of(LAYERS(c, i, j) * 2.0 + LAYERS(c + 1, i, j)) is None


def test_what_is_the_same_for_a_row_is_nothing_to_share() -> None:
    assert planes_of(LAYERS(c, i, j) * MASK(i, 0)) is None


def test_what_only_some_indices_allow_is_nothing_to_share() -> None:
    inside = pm.Condition(j, ">=", 1)
    assert planes_of(pm.Select(inside, LAYERS(c, i, j) * MASK(i, j - 1), LAYERS(c, i, j))) is None


def test_integers_are_not_side_by_side() -> None:
    assert planes_of(pm.Cast(pm.Int, WHOLE), dtype=pm.Int) is None


def test_every_part_has_all_planes() -> None:
    rows = pm.Condition(i, ">=", 1), pm.Condition(i, "<=", 0)
    assert planes_of([pm.Case(where, WHOLE * k) for k, where in enumerate(rows)]) is not None
    planes = pm.Condition(c, ">=", 1), pm.Condition(c, "<=", 0)
    assert planes_of([pm.Case(where, WHOLE * k) for k, where in enumerate(planes)]) is None
