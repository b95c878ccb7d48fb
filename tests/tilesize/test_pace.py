"""How fast groups compute decides when threads share them: in seconds, whatever the operations are."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.plan.schedule import Schedule
from tests.fixed import NARROW, compiled_levels

N = pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")


def speed(value: Any, dtype: Any = pm.Double, machine: Any = NARROW) -> float:
    """That of a map over a vector."""
    x = pm.Vector(dtype, "x", [N])
    out = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), dtype, "out")
    out.defn = [value(x(i))]
    schedule = compiled_levels(out, inputs=[x], machine=machine, estimates={N: 1 << 20})["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    return schedule.team.speed(plan.group.stages, 0.0)


def product_speed(dtype: Any, size: int) -> float:
    A, B = (pm.Matrix(dtype, name, [N, N]) for name in "AB")
    schedule = compiled_levels((A @ B).named("P"), machine=NARROW, estimates={N: size})["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    return schedule.team.speed(plan.group.stages, 0.0)


def test_short_numbers_and_register_blocks_are_quick_and_divisions_slow() -> None:
    plain = speed(lambda x: x * 2.0 + 1.0)
    assert speed(lambda x: x * 2.0 + 1.0, pm.Float) == pytest.approx(2 * plain, rel=0.1)
    assert speed(lambda x: 1.0 / (x + 1.0)) < 0.7 * plain
    assert product_speed(pm.Double, 500) > 1.5 * plain
    assert product_speed(pm.Float, 500) > 1.8 * product_speed(pm.Double, 500)


def test_it_does_not_depend_on_where_the_data_are() -> None:
    assert product_speed(pm.Double, 400) == pytest.approx(product_speed(pm.Double, 2000), rel=0.2)
