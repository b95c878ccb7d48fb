"""A schedule prints every number of its plans."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from polymat import Double, Function, Int, Interval, Matrix, Options, Parameter, Variable, Vector
from polymat.driver import levels, request_for
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan

N = Parameter(Int, "N")
i = Variable(Int, "i")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
x = Vector(Double, "x", [N])


def schedule_of(output: Function, options: Options) -> Schedule:
    request = request_for([output], name="y", options=options)
    found = next(level for name, level in levels(request) if name == "tilesize")
    assert isinstance(found, Schedule)
    return found


def stencil() -> Function:
    f = Function(([i], [Interval(Int, 1, N - 2)]), Double, "f")
    f.defn = [x(i - 1) + x(i + 1)]
    g = Function(([i], [Interval(Int, 2, N - 3)]), Double, "g")
    g.defn = [f(i - 1) * f(i + 1)]
    return g


def test_tiles_print_members_margins_and_loops() -> None:
    schedule = schedule_of(stencil(), Options(inline=False, tile_sizes=(32,)))
    text = str(schedule)
    assert text.startswith("f+g: tiles i:32\n\ngroup 1: f+g: tiles i:32\nplan: TilePlan\n")
    assert "\n    sizes: (32)\n" in text
    assert "Member(stage f, dims (i), margins ((1, 1)), scratch True, private False)" in text
    assert "\n            unroll: 1\n" in text
    assert schedule.summary == "f+g: tiles i:32"


def test_a_kernel_prints_its_blocks_and_its_operands() -> None:
    text = str(schedule_of(A @ B, Options(blas="never")))
    assert "left: Factor(ref A, indices (i, k), conjugated False)" in text
    assert "\n        kc: " in text
    assert "\n    seconds: " in text


@pytest.mark.parametrize(
    "change", [{"rolling": True}, {"backwards": True}, {"sizes": (33,)}, {"reason": "-"}]
)
def test_a_change_of_any_field_shows(change: dict[str, Any]) -> None:
    schedule = schedule_of(stencil(), Options(inline=False, tile_sizes=(32,)))
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    other = dataclasses.replace(plan, **change)
    assert str(dataclasses.replace(schedule, plans=(other,))) != str(schedule)
