"""Bounds of values that become integers: the same numbers, and locals that no compiler sees through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.bounds import SIDED, bounded, named_bounds, unseen
from polymat.codegen.c.ctree import Cast, CBinary, CCall, CFunction, CUnary, Id, Literal, Return, Ternary
from polymat.codegen.c.needs import Helper, Need
from polymat.lang.expr import Expr
from polymat.lang.types import ScalarType
from tests.tolerance import assert_close

N = pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")
LOW, HIGH, X = CUnary("-", Literal("1.0f")), Literal("255.0f"), Id("x")


def least(first: object, second: object) -> CCall:
    return CCall("_pm_min_f32", (first, second))  # type: ignore[arg-type]


def test_numbers_on_either_side_are_hidden() -> None:
    needs: set[Need] = set()
    hidden = CCall("_pm_hidden_f32", (HIGH,))
    assert bounded(least(X, HIGH), needs) == CCall("_pm_atmost_f32", (X, hidden))
    assert bounded(least(HIGH, X), needs) == CCall("_pm_atmost_f32", (X, hidden))
    assert needs == {Helper("atmost", "f32"), Helper("hidden", "f32")}


def test_clamps_in_clamps_and_below_roundings_are_found() -> None:
    needs: set[Need] = set()
    found = bounded(CCall("__builtin_rintf", (least(CCall("_pm_max_f32", (X, LOW)), HIGH),)), needs)
    inner = CCall("_pm_atleast_f32", (X, CCall("_pm_hidden_f32", (LOW,))))
    outer = CCall("_pm_atmost_f32", (inner, CCall("_pm_hidden_f32", (HIGH,))))
    assert found == CCall("__builtin_rintf", (outer,))
    assert needs == {Helper(name, "f32") for name in ("atleast", "atmost", "hidden")}


def test_where_nan_becomes_the_lower_bound() -> None:
    needs: set[Need] = set()
    zero = Literal("0.0f")
    known = Ternary(CBinary("==", X, X), X, zero)
    hidden = CCall("_pm_hidden_f32", (zero,))
    assert bounded(CCall("_pm_max_f32", (known, zero)), needs) == CCall("_pm_above_f32", (X, hidden))
    assert needs == {Helper("above", "f32"), Helper("hidden", "f32")}
    other = bounded(CCall("_pm_max_f32", (known, LOW)), needs)
    assert other == CCall("_pm_atleast_f32", (known, CCall("_pm_hidden_f32", (LOW,))))


@pytest.mark.parametrize(
    "value",
    [X, least(X, Id("y")), least(LOW, HIGH), least(X, CCall("__builtin_nanf", (Literal('""'),)))],
)
def test_other_values_stay_as_they_are(value: CCall | Id) -> None:
    needs: set[Need] = set()
    assert bounded(value, needs) == value
    assert not needs


def test_bounds_of_arguments_are_hidden_wherever_arithmetic_reaches() -> None:
    """They stay least and greatest values, which hand NaN on."""
    needs: set[Need] = set()
    hidden = CCall("_pm_hidden_f32", (HIGH,))
    bound = CBinary("+", CUnary("-", Cast("float", least(X, HIGH))), X)
    assert unseen(bound, needs) == CBinary("+", CUnary("-", Cast("float", least(X, hidden))), X)
    assert unseen(least(least(HIGH, X), HIGH), needs) == least(least(hidden, X), hidden)
    assert needs == {Helper("hidden", "f32")}


def test_other_arguments_stay_as_they_are() -> None:
    needs: set[Need] = set()
    for value in (X, least(X, Id("y")), least(LOW, HIGH), CCall("_pm_exp_f32", (least(X, HIGH),))):
        assert unseen(value, needs) == value
    assert not needs


@pytest.mark.parametrize("function", [pm.Atan, pm.Asin, pm.Acos, pm.Asinh, lambda v: pm.Atan2(v, 2.0)])
@pytest.mark.parametrize("kind", [pm.Float, pm.Double])
@pytest.mark.parametrize("count", [0, 1, 7, 33])
def test_angles_of_bounded_values(kind: ScalarType, function: Callable[[object], Expr], count: int) -> None:
    """The numbers of the interpreter, NaN and both zeros too, and no bound that gcc sees."""
    x = pm.Vector(kind, "x", [N])
    out = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), kind, "angles")
    out.defn = [function(pm.Max(pm.Min(x(i), 0.75), -0.5) * 0.5)]
    compiled = pm.compile(out, inputs=[x])
    given = np.resize(np.array([np.nan, 0.0, -0.0, 0.75, 1e9, -1e9, 0.3], kind.dtype), count)
    assert_close(compiled(x=given), compiled.reference(x=given), roundings=8)
    assert "_pm_hidden_" in compiled.source
    assert "_pm_min_" in compiled.source


def test_functions_without_sides_see_their_bounds() -> None:
    x = pm.Vector(pm.Double, "x", [N])
    out = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "waves")
    out.defn = [pm.Sin(pm.Min(x(i), 0.5))]
    assert "_pm_hidden_" not in pm.compile(out, inputs=[x]).source
    assert "sin" not in SIDED


def test_a_function_begins_with_each_bound_once() -> None:
    needs: set[Need] = set()
    value = bounded(CCall("_pm_max_f32", (least(X, HIGH), HIGH)), needs)
    (function,) = named_bounds([CFunction("float", "f", (), (Return(value),))], needs)
    assert len(function.body) == 2
    assert str(function).count("_pm_hidden_f32") == 1
    assert str(function).count("_pm_bound0") == 3


@pytest.mark.covering
@pytest.mark.parametrize("source", [pm.Float, pm.Double])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(
    ("target", "low", "high"),
    [(pm.UChar, 0, 255), (pm.Short, -32768, 32767), (pm.Int, -1000, 1000), (pm.UInt16, 3, 60000)],
)
def test_saturated_values(source: ScalarType, rounded: bool, target: ScalarType, low: int, high: int) -> None:
    x = pm.Vector(source, "x", [N])
    clamped = pm.Max(float(low), pm.Min(x(i), float(high)))
    out = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), target, "saturated")
    out.defn = [pm.Cast(target, pm.Round(clamped) if rounded else clamped)]
    compiled = pm.compile(out)
    assert compiled.source.count("_pm_bound0 = _pm_hidden_") == 1
    special = [np.inf, -np.inf, low, high, low - 0.5, high + 0.5, -0.0, 0.5, 1.5, 2.5]
    values = np.concatenate([np.linspace(-70000, 70000, 1001), special]).astype(x.dtype.dtype)
    np.testing.assert_array_equal(compiled(values), compiled.reference(values))


def test_values_that_are_computed_and_saturated_are_one_loop() -> None:
    """And NaN is 0, which the value is computed once to tell."""
    x = pm.Vector(pm.Float, "x", [N])
    compiled = pm.compile(pm.Cast(pm.UChar, 1.5 * x + 3.0, saturate=True), inputs=[x], name="brighter")
    assert "_pm_above_f32" in compiled.source
    assert [group.stages for group in compiled.explain().groups] == [("out",)]
    special = [np.inf, -np.inf, np.nan, -0.0, -2.0, 167.9, 168.1]
    values = np.concatenate([np.linspace(-400, 400, 1001), special]).astype(np.float32)
    expected = np.clip(np.nan_to_num(1.5 * values + 3.0, nan=0.0), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(compiled(values), expected)
    np.testing.assert_array_equal(compiled.reference(values), expected)


def test_a_clamp_in_a_choice_is_taken_where_it_is_chosen() -> None:
    x = pm.Vector(pm.Double, "x", [N])
    out = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.UChar, "chosen")
    clamped = pm.Cast(pm.UChar, pm.Clamp(x(i) * 2.0, 0.0, 255.0))
    out.defn = [pm.Select(pm.Condition(x(i), ">", 5.0), clamped, pm.Cast(pm.UChar, 7))]
    compiled = pm.compile(out)
    values = np.linspace(-10, 200, 999)
    np.testing.assert_array_equal(compiled(values), compiled.reference(values))
