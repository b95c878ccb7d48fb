"""Definitions that need each other in no order: the points and the reads that are told, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import polymat as pm
from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Variable,
    Vector,
)
from tests.errors.told import told

N = Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")
whole = Interval(Int, 0, N - 1)
x = Vector(Double, "x", [N])
EARLIER = "hint: a function may read points that come earlier in some order only"


def function(name: str, *, default: Any = None) -> Function:
    return Function(([i], [whole]), Double, name, default)


def fails(output: Function, constraints: Iterable[Condition] = ()) -> list[str]:
    def program() -> None:
        pm.compile(output, constraints=constraints)

    return told(pm.CycleError, program).splitlines()


def test_two_functions_need_each_other() -> None:
    f, g, h = function("f"), function("g"), function("h")
    f.defn = g(i)
    g.defn = h(i)
    h.defn = g(i) + x(i)
    first, line, hint = fails(f)
    assert first == (
        "g and h need each other in a circle: g(0) reads h(i) = h(0), h(0) reads g(i) = g(0) (with N = 1)"
    )
    assert line == "    g.defn = h(i)"
    assert re.fullmatch(rf"{EARLIER}; the other reads of the circle are at .*test_cycles.py:\d+", hint)


def test_a_point_that_needs_itself() -> None:
    f = function("f")
    f.defn = f(i) + 1
    message = "f needs its own value: f(0) reads f(i) = f(0) (with N = 1)"
    assert fails(f) == [message, "    f.defn = f(i) + 1", EARLIER]


def test_no_order_at_all() -> None:
    f = function("f")
    f.defn = f(N - 1 - i) + 1
    message = "f needs its own value: f(0) reads f(N - i - 1) = f(0) (with N = 1)"
    assert fails(f)[::2] == [message, EARLIER]


def test_a_circle_of_three_points() -> None:
    f = function("f", default=0.0)
    f.defn = [
        Case(Condition(i, "<", N - 2) & Condition(i % 3, "!=", 2), f(i + 1)),
        Case(Condition(i % 3, "==", 2), f(i - 2)),
    ]
    first, line, hint = fails(f)
    assert first == (
        "f needs its own value: f(0) reads f(i + 1) = f(1), f(1) reads f(i + 1) = f(2), "
        "f(2) reads f(i - 2) = f(0) (with N = 4)"
    )
    assert line == '    Case(Condition(i, "<", N - 2) & Condition(i % 3, "!=", 2), f(i + 1)),'
    assert re.fullmatch(rf"{EARLIER}; the other reads of the circle are at .*test_cycles.py:\d+", hint)


def test_points_that_need_each_other_are_at_sizes_that_are_allowed() -> None:
    f, g = function("f", default=0.0), function("g", default=0.0)
    f.defn = [Case(Condition(i, ">=", 7), g(i - 3))]
    g.defn = [Case(Condition(i, "<", N - 3), f(i + 3))]
    message = (
        "f and g need each other in a circle: f(7) reads g(i - 3) = g(4), g(4) reads f(i + 3) = f(7) "
        "(with N = 8)"
    )
    constraints = [Condition(N, ">=", 8)]
    assert fails(f, constraints=constraints)[0] == message


def test_a_circle_of_points_of_a_large_array() -> None:
    f = function("f", default=0.0)
    f.defn = [
        Case(Condition(i, "==", 20_000), f(i)),
        Case(Condition(i, ">", 0) & Condition(i, "<", 20_000), f(i - 1)),
    ]
    message = "f needs its own value at i = 20000, N = 20001: f reads f(i), f(i - 1)"
    assert fails(f)[::2] == [message, EARLIER]


def test_an_order_that_is_not_affine() -> None:
    f = function("f", default=0.0)
    here = Condition(i, ">", 8) & Condition(i, "<", N - 8)
    f.defn = [Case(here, Select(Condition(i % 4, "==", 0), f(i + 2), f(i - 6)))]
    message = "no affine order of the points of f was found: f reads f(i + 2), f(i - 6)"
    assert fails(f)[::2] == [message, EARLIER]


def test_an_order_along_no_dimension() -> None:
    f, g = (Function(([i, j], [whole, whole]), Double, name, 0.0) for name in "fg")
    there = [Condition(each, ">=", 2) & Condition(each, "<", N - 1) for each in (i, j)]
    f.defn = [Case(there[0] & there[1], g(i, j))]
    g.defn = [Case(there[0] & there[1], f(i - 2, j + 1) + f(i + 1, j - 2))]
    assert fails(f)[::2] == [
        "f and g need each other, and no dimension of each was found along which all can take steps: "
        "f reads g(i, j); g reads f(i - 2, j + 1), f(i + 1, j - 2)",
        "hint: let every one have the dimension that counts the steps, and read at it minus a number",
    ]


def test_of_many_reads_the_first_are_shown() -> None:
    f = function("f", default=0.0)
    here = Condition(i, ">", 8) & Condition(i, "<", N - 8)
    nearer = f(i - 6) + f(i - 7) + f(i - 8) + f(i - 5)
    f.defn = [Case(here, Select(Condition(i % 4, "==", 0), f(i + 2), nearer))]
    reads = "f reads f(i + 2), f(i - 6), f(i - 7), f(i - 8); and 1 more"
    message = f"no affine order of the points of f was found: {reads}"
    assert fails(f)[0] == message


def test_a_reduction_that_reads_itself_at_once() -> None:
    r = Reduction(([i], [whole]), ([i, j], [whole, whole]), Double, "r")
    r.defn = [Reduce(r(i), r(i) * x(j), Op.Sum)]
    message = "r needs its own value: r(0) reads r(i) = r(0) (with N = 1)"
    assert fails(r)[::2] == [message, EARLIER]
