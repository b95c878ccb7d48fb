"""Extremes and their places as one group: where they are, and without the pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.plan.position import PositionPlan
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from tests.fixed import WIDE, compiled_levels

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
v, A = pm.Vector(pm.Double, "v", [N]), pm.Matrix(pm.Double, "A", [M, N])


def plans(output: Any, **options: Any) -> tuple[Plan, ...]:
    schedule = compiled_levels(output, machine=WIDE, options=pm.Options(**options))["tilesize"]
    assert isinstance(schedule, Schedule)
    return schedule.plans


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (v.argmax(), "blocks"),
        (A.argmin(), "blocks"),
        (A.argmin(axis=1), "blocks"),
        (A.argmax(axis=0), "rows"),
    ],
    ids=["vector", "matrix", "rows", "columns"],
)
def test_one_group_of_both(output: Any, kind: str) -> None:
    (plan,) = plans(output)
    assert isinstance(plan, PositionPlan)
    assert plan.kind == kind
    assert plan.summary == f"an extreme with its place, by {kind}"
    for left_out in ({"skip": ("positions",)}, {"fuse": False}, {"cost": "paper"}):
        assert not any(isinstance(each, PositionPlan) for each in plans(output, **left_out))


@pytest.mark.parametrize(("element", "joined"), [(pm.Double, False), (pm.Short, True)])
def test_bytes_that_number_real_numbers_are_found_apart(element: Any, joined: bool) -> None:
    """A compiler takes long for both in one loop."""
    B = pm.Matrix(element, "B", [M, N])
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    rows, columns = (pm.Interval(pm.Int, 0, size - 1) for size in (M, N))
    place = pm.Reduction(([j], [columns]), ([i, j], [rows, columns]), pm.UChar, "place")
    place.defn = [pm.Reduce(place(j), B(i, j), pm.Op.ArgMax)]
    assert any(isinstance(each, PositionPlan) for each in plans(place)) == joined


def test_naive_has_two_loops() -> None:
    schedule = compiled_levels(v.argmax(), machine=WIDE, options=pm.Options.naive())["tilesize"]
    assert isinstance(schedule, Schedule)
    assert [plan.kind for plan in schedule.plans] == ["reduce", "reduce"]


def test_an_extreme_that_others_read_is_there() -> None:
    place = v.argmax()
    both = pm.compile([place, (v - place.extreme).named("below")])
    x = [3.0, 9.0, 1.0]
    found, below = both(np.array(x))
    assert found == 1
    assert [*below] == [-6.0, 0.0, -8.0]
