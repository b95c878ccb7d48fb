"""What is said of indices that are computed from data."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Cast, Clamp, Function, Int, Interval, Op, Reduce, Reduction
from polymat.graph.build import build
from polymat.graph.verifypipeline import verify

N, M = pm.Parameter(Int, "N"), pm.Parameter(Int, "M")
i, k = pm.Variable(Int, "i"), pm.Variable(Int, "k")
POINTS, BINS = Interval(Int, 0, N - 1), Interval(Int, 0, 15)
level, number = pm.Vector(pm.UChar, "level", [N]), pm.Vector(Int, "number", [N])
table, other = pm.Vector(pm.Float, "table", [100]), pm.Vector(pm.Float, "other", [M])
place = pm.Vector(Int, "place", [N], values=(0, 99))


def reading(value: Any) -> Function:
    f = Function(([i], [POINTS]), pm.Float, "f")
    f.defn = [value]
    return f


def counting(index: Any, value: Any = 1) -> Reduction:
    h = Reduction(([k], [BINS]), ([i], [POINTS]), Int, "h")
    h.defn = [Reduce(h(index), value(h) if callable(value) else value, Op.Sum)]
    return h


def check(stage: Function) -> None:
    verify(build([stage]))


@pytest.mark.parametrize(
    "index", [place(i), Cast(Int, level(i)) // 3, Clamp(number(i), 0, 99), (number(i) % 50) * 2 + 1]
)
def test_what_is_known_to_be_inside_is_read(index: Any) -> None:
    check(reading(table(index)))


MESSAGES = [
    (
        lambda: reading(table(number(i))),
        "f reads table(number(i)) outside table: at i = 0 with N = 1 and number(i) = -2147483648 "
        "this is table(-2147483648), and table has indices 0..99",
        "Clamp(number(i), 0, 99), or an integer input that is declared with values=(0, 99)",
    ),
    (
        lambda: reading(table(level(i))),
        "f reads table(level(i)) outside table: at i = 0 with N = 1 and level(i) = 100 "
        "this is table(100), and table has indices 0..99",
        "Clamp(level(i), 0, 99), or an integer input that is declared with values=(0, 99)",
    ),
    (
        lambda: reading(table(place(i) + 1)),
        "f reads table(place(i) + 1) outside table: at i = 0 with N = 1 and place(i) = 99 "
        "this is table(100), and table has indices 0..99",
        "Clamp(place(i) + 1, 0, 99), or an integer input that is declared with values=(0, 99)",
    ),
    (
        lambda: reading(other(Clamp(number(i), 0, M - 1))),
        "f reads other(Min(Max(number(i), 0), M - 1)) outside other: at i = 0 with M = 0, N = 1 and "
        "Min(Max(number(i), 0), M - 1) = -1 this is other(-1), and other has indices 0..M-1",
        "compile(..., constraints=[Condition(M, '>', 0)]), or a Case or Select for sizes that small",
    ),
    (
        lambda: counting(level(i)),
        "h accumulates into h(level(i)) outside its domain: at i = 0, N = 1 and level(i) = 16 "
        "this is h(16), and h has indices 0..15",
        "Clamp(level(i), 0, 15), or an integer input that is declared with values=(0, 15)",
    ),
]


@pytest.mark.parametrize(("program", "message", "hint"), MESSAGES)
def test_what_may_be_outside_is_said_with_an_example(program: Any, message: str, hint: str) -> None:
    with pytest.raises(pm.BoundsError) as caught:
        check(program())
    assert caught.value.message == message
    assert caught.value.hint == hint


def test_a_recurrence_has_affine_indices() -> None:
    f = Function(([i], [POINTS]), Int, "f")
    f.defn = [
        pm.Case(pm.Condition(i, "==", 0), 0),
        pm.Case(pm.Condition(i, ">", 0), f(Clamp(number(i), 0, i - 1)) + 1),
    ]
    with pytest.raises(pm.CycleError) as caught:
        check(f)
    assert caught.value.message == (
        "f reads itself at f(Min(Max(number(i), 0), i - 1)), which is computed from data"
    )
    assert caught.value.hint.startswith("the indices of a recurrence are affine")


def test_a_sum_into_computed_places_does_not_read_itself() -> None:
    with pytest.raises(pm.CycleError) as caught:
        check(counting(Cast(Int, level(i)) // 16, lambda h: h(0) + 1))
    assert caught.value.message == "h reads itself and accumulates into places that are computed from data"
    assert caught.value.hint == "read another stage, or accumulate into affine places"
