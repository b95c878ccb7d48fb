"""What is said of indices that are computed from data."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Case, Cast, Clamp, Condition, Function, Int, Interval, Op, Reduce, Reduction
from polymat.graph.build import build
from polymat.graph.verifypipeline import verify

N, M, T = (pm.Parameter(Int, name) for name in "NMT")
t, i, k = (pm.Variable(Int, name) for name in "tik")
POINTS, BINS = Interval(Int, 0, N - 1), Interval(Int, 0, 15)
level, number = pm.Vector(pm.UChar, "level", [N]), pm.Vector(Int, "number", [N])
table, other = pm.Vector(pm.Float, "table", [100]), pm.Vector(pm.Float, "other", [M])
grid = pm.Matrix(pm.Float, "grid", [T, M])
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
        lambda: reading(grid(T - 1, M - 1)),
        "f reads grid(T - 1, M - 1) outside grid: at i = 0 with T = 0, M = 0, N = 1 "
        "this is grid(-1, -1), and grid has indices 0..T-1, 0..M-1",
        "compile(..., constraints=[Condition(T, '>', 0), Condition(M, '>', 0)]), "
        "or a Case or Select for sizes that small",
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


def over_time(value: Any, *, start: Any = 0) -> Function:
    """A function of steps, of itself and the indices of a point."""
    f = Function(([t, i], [Interval(Int, 0, T), POINTS]), Int, "f")
    f.defn = [Case(Condition(t, "==", 0), start), Case(Condition(t, ">", 0), value(f))]
    return f


def test_a_recurrence_reads_where_everything_comes_before() -> None:
    f = Function(([i], [POINTS]), Int, "f")
    f.defn = [
        Case(Condition(i, "==", 0), 0),
        Case(Condition(i, ">", 0), f(Clamp(number(i), 0, i - 1)) + 1),
    ]
    check(f)
    check(over_time(lambda f: f(t - 1, Clamp(number(i), 0, N - 1)) + f(t - 1, Clamp(f(t - 1, i), 0, N - 1))))
    check(over_time(lambda f: f(t - Clamp(number(i), 1, t), i)))


def whole(f: Function) -> Function:
    f.defn = [f(Clamp(number(i), 0, N - 1)) + 1]
    return f


def two(first: Any, second: Any) -> Function:
    """Functions that need each other."""
    f, g = (Function(([t, i], [Interval(Int, 0, T), POINTS]), Int, name) for name in "fg")
    for one, value in ((f, first(g)), (g, second(f))):
        one.defn = [Case(Condition(t, "==", 0), 0), Case(Condition(t, ">", 0), value)]
    return f


def sums_of_a_state() -> Function:
    """A histogram of a state of the same step."""
    f = Function(([t, i], [Interval(Int, 0, T), POINTS]), Int, "f")
    h = Reduction(([t, k], [Interval(Int, 0, T), BINS]), ([t, i], [Interval(Int, 0, T), POINTS]), Int, "h")
    h.defn = [Reduce(h(t, f(t, i) & 15), 1, Op.Sum)]
    f.defn = [Case(Condition(t, "==", 0), 0), Case(Condition(t, ">", 0), h(t, f(t - 1, i) & 15))]
    return f


CIRCLES = [
    (
        lambda: whole(Function(([i], [POINTS]), Int, "f")),
        "f needs its own value: f(0) may read f(Min(Max(number(i), 0), N - 1)) = f(0) (with N = 1)",
    ),
    (
        lambda: over_time(lambda f: f(t, Clamp(number(i), 0, N - 1))),
        "f needs its own value: "
        "f(1, 0) may read f(t, Min(Max(number(i), 0), N - 1)) = f(1, 0) (with N = 1, T = 1)",
    ),
    (
        lambda: two(lambda g: g(t, Clamp(number(i), 0, N - 1)), lambda f: f(t, i) + f(t - 1, i)),
        "f and g need each other in a circle: "
        "f(1, 0) may read g(t, Min(Max(number(i), 0), N - 1)) = g(1, 0), "
        "g(1, 0) reads f(t, i) = f(1, 0) (with N = 1, T = 1)",
    ),
    (
        sums_of_a_state,
        "f and h need each other in a circle: f(1, 0) may read h(t, (f(t - 1, i) & 15)) = h(1, 0), "
        "h(1, 0) may read f(t, i) = f(1, 0) (with T = 1, N = 1)",
    ),
]


@pytest.mark.parametrize(("program", "message"), CIRCLES)
def test_a_circle_is_said_with_its_points(program: Any, message: str) -> None:
    with pytest.raises(pm.CycleError) as caught:
        check(program())
    assert caught.value.message == message


def test_a_sum_into_computed_places_does_not_read_itself() -> None:
    with pytest.raises(pm.CycleError) as caught:
        check(counting(Cast(Int, level(i)) // 16, lambda h: h(0) + 1))
    assert caught.value.message == "h reads itself and accumulates into places that are computed from data"
    assert caught.value.hint == "read another stage or an earlier step, or accumulate into affine places"
