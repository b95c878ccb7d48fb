"""Recurrences that are recursive filters, and what looks like one."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.idiom.recursion import Recursion
from polymat.idiom.recursive import match_recursion
from tests.idiom.recognise import pipeline

C, N = pm.Parameter(pm.Int, "C"), pm.Parameter(pm.Int, "N")
c, n, s = (pm.Variable(pm.Int, name) for name in "cns")
x, u = pm.Signal(pm.Double, "x", N), pm.Signal(pm.Double, "u", N)
m, f = pm.Signal(pm.Double, "m", [C, N]), pm.Signal(pm.Float, "f", N)
k, g = pm.Vector(pm.Double, "k", [4]), pm.Vector(pm.Double, "g", [C])
alpha = pm.Parameter(pm.Double, "alpha")
STEPS, LINES = pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 0, C - 1)


def recursion(*outputs: Any) -> Recursion | None:
    """What the last recurrence of a pipeline is."""
    built = pipeline(*outputs)
    stage = [each for each in built.stages if each.reads_itself][-1]
    return match_recursion(stage, built.context, built.extents)


def recurrence(first: Any, later: Any, begin: int = 1) -> Recursion | None:
    """y(n) = first for n < begin, and what `later` makes of y from there on."""
    y = pm.Function(([n], [STEPS]), pm.Double, "y")
    y.defn = [pm.Case(pm.Condition(n, "<", begin), first), pm.Case(pm.Condition(n, ">=", begin), later(y))]
    return recursion(y)


def test_what_is_found() -> None:
    found = recurrence(2 * x(n), lambda y: alpha * y(n - 1) + 2 * x(n))
    assert found is not None
    assert str(found) == "a recursive filter of order 1 along n"
    assert (found.signal.name, list(found.section.forward), list(found.section.back)) == ("x", [0], [1])
    assert not found.starts
    assert not found.is_given


@pytest.mark.parametrize(
    "later",
    [
        lambda y: x(n) - y(n - 1) * k(1) / k(0),
        lambda y: -(y(n - 1) * 0.5 - x(n)),
        lambda y: 0.25 * x(n) + x(n - 1) / 2 + y(n - 1),
    ],
)
def test_other_spellings(later: Any) -> None:
    found = recurrence(x(0), later)
    assert found is not None
    assert list(found.section.back) == [1]


@pytest.mark.parametrize(
    "later",
    [
        lambda y: x(n) - y(n - 1) * y(n - 1),  # not linear
        lambda y: x(n) * y(n - 1),
        lambda y: x(n) - y(n - 1) / x(n),  # a coefficient of its own at every step
        lambda y: x(n) + n * y(n - 1),
        lambda y: x(n) + u(n) + 0.5 * y(n - 1),  # two signals
        lambda y: x(n) + 0.5 * y(n - 1) + 0.1 * y(n - 1),  # one result twice
        lambda y: 0.5 * y(n - 1) + 1,  # no signal
        lambda y: x(N - 1 - n) + 0.5 * y(n - 1),  # backwards
        lambda y: f(n) + 0.5 * y(n - 1),  # another type
        lambda y: pm.Max(x(n), y(n - 1)),
    ],
)
def test_what_is_none(later: Any) -> None:
    assert recurrence(0.5, later) is None


def test_starts() -> None:
    added = recurrence(x(0) + k(3), lambda y: x(n) - 0.5 * y(n - 1))
    assert added is not None
    assert list(added.starts) == [0]
    assert not added.is_given
    given = recurrence(u(n), lambda y: x(n) - 0.5 * y(n - 1) - 0.2 * y(n - 2), 2)
    assert given is not None
    assert list(given.starts) == [0, 1]
    assert given.is_given
    assert recurrence(u(n), lambda y: x(n) - 0.5 * y(n - 1), 2) is None  # begins later than it looks back


def test_samples_that_do_not_exist_are_not_read() -> None:
    y = pm.Function(([n], [pm.Interval(pm.Int, 0, N)]), pm.Double, "y")
    y.defn = [
        pm.Case(pm.Condition(n, "==", 0), 0.5),
        pm.Case(pm.Condition(n, ">=", 1), x(n - 1) + 0.5 * y(n - 1)),
    ]
    assert recursion(y) is None  # x(N) does not exist: nothing but results would be read at N


def test_channels() -> None:
    y = pm.Function(([c, n], [LINES, STEPS]), pm.Double, "y")
    y.defn = [
        pm.Case(pm.Condition(n, "==", 0), m(c, n)),
        pm.Case(pm.Condition(n, ">=", 1), m(c, n) + 0.5 * y(c, n - 1)),
    ]
    found = recursion(y)
    assert found is not None
    assert (found.time, found.channels) == ("n", ("c",))
    z = pm.Function(([c, n], [LINES, STEPS]), pm.Double, "z")
    z.defn = [
        pm.Case(pm.Condition(n, "==", 0), m(c, n)),
        pm.Case(pm.Condition(n, ">=", 1), m(c, n) + g(c) * z(c, n - 1)),
    ]
    assert recursion(z) is None  # the coefficients differ from channel to channel


def test_sections_in_a_row() -> None:
    w = pm.Function(([s, n], [pm.Interval(pm.Int, 0, 3), STEPS]), pm.Double, "w")
    later = pm.Condition(s, ">=", 1)
    w.defn = [
        pm.Case(pm.Condition(s, "==", 0), x(n)),
        pm.Case(later & pm.Condition(n, "==", 0), w(s - 1, n)),
        pm.Case(later & pm.Condition(n, ">=", 1), w(s - 1, n) - k(s) * w(s, n - 1)),
    ]
    found = recursion(w)
    assert found is not None
    assert str(found) == "3 recursive filters of order 1 along n in a row"
    assert (found.chain, found.count, found.signal.name) == ("s", 3, "x")
