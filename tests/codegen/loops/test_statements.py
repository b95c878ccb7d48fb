"""Recurrences whose points run one after the other: no branch that data choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Clamp, Condition, Double, Float, Function, Int, Interval, Max, Min, Options, Select
from polymat.lang.expr import SelectExpr
from polymat.lang.sharing import is_cheap_choice

N, M = pm.Parameter(Int, "N"), pm.Parameter(Int, "M")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
X, Y = pm.Vector(Double, "X", [N]), pm.Vector(Double, "Y", [M])
FIRST, SECOND = pm.Vector(Int, "first", [N]), pm.Vector(Int, "second", [M])
ALIKE = Condition(FIRST(i - 1), "==", SECOND(j - 1))
INNER = Condition(i, ">=", 1) & Condition(j, ">=", 1)


def table(name: str, dtype: Any, value: Callable[[Function], Any]) -> Function:
    """A table of N + 1 by M + 1 elements, 0 along its upper and its left border."""
    made = Function(([i, j], [Interval(Int, 0, N), Interval(Int, 0, M)]), dtype, name, default=0)
    made.defn = [Case(INNER, value(made))]
    return made


def warping(d: Function) -> Any:
    return pm.Abs(X(i - 1) - Y(j - 1)) + Min(Min(d(i - 1, j), d(i, j - 1)), d(i - 1, j - 1))


def alignment(h: Function) -> Any:
    score = h(i - 1, j - 1) + Select(ALIKE, 3.0, -3.0)
    return Max(Max(Max(score, h(i - 1, j) - 2.0), h(i, j - 1) - 2.0), 0.0)


def common(n: Function) -> Any:
    return Select(ALIKE, n(i - 1, j - 1) + 1, Max(n(i - 1, j), n(i, j - 1)))


TABLES = [table("d", Double, warping), table("h", Float, alignment), table("n", Int, common)]


def test_tables_of_neighbours_equal_the_interpreter() -> None:
    compiled = pm.compile(TABLES, name="tables", options=Options(fuse=False))
    for word in ("minalone_f64", "maxalone_f32", "maxalone_i32", "choose_f64", "choose_i32"):
        assert f"_pm_{word}(" in str(compiled.source)
    for rows, columns in ((0, 0), (0, 3), (1, 1), (2, 7), (5, 4), (8, 3), (13, 17), (31, 6)):
        rng = np.random.default_rng(rows)
        x, y = rng.standard_normal(rows), rng.standard_normal(columns)
        x[rows // 2 : rows // 2 + 1] = np.nan
        first, second = (rng.integers(0, 3, n).astype(np.int32) for n in (rows, columns))
        given = {"X": x, "Y": y, "first": first, "second": second}
        for found, wanted in zip(compiled(**given), compiled.reference(**given), strict=True):
            np.testing.assert_array_equal(found, wanted)


def is_cheap(condition: Condition, otherwise: Any) -> bool:
    select = Select(condition, X(i), otherwise)
    assert isinstance(select, SelectExpr)
    return is_cheap_choice(select)


def test_choices_that_are_cheap_on_both_sides() -> None:
    then, other = X(i), Y(j)
    condition = Condition(FIRST(i), "==", SECOND(j))
    for value in (other, other + 1.0, Max(other, then) * 2.0, -other, pm.Abs(other)):
        assert is_cheap(condition, value)
    for value in (pm.Exp(other), other / then, X(Clamp(FIRST(i), 0, N - 1))):
        assert not is_cheap(condition, value)
    assert not is_cheap(Condition(i, "==", j), other)
