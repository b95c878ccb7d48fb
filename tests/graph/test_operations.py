"""What functions cost, for fusion and for threads alike."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.codegen.c.elements import FUNCTIONS
from polymat.graph.build import build
from polymat.graph.operations import (
    _OWN,
    BY_A_CONSTANT,
    DIVIDED,
    IN_FLOATING,
    ONE_AT_A_TIME,
    expression_operations,
    function_operations,
)
from polymat.graph.pointwork import operations
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import walk
from polymat.tilesize.stagework import stage_operations

N = pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")
x = pm.Vector(pm.Double, "x", [N])(i)
z = pm.Vector(pm.Complex, "z", [N])(i)


def test_own_functions_have_their_costs() -> None:
    assert set(_OWN) == FUNCTIONS


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [
        (x + 1, pm.Exp(x)),
        (pm.Sqrt(x), pm.Exp(x)),
        (x**2, x**3.5),
        (x**0.5, x**1.5),
        (pm.Exp(x), x**1.5),
        (pm.Exp(x), pm.Erf(x)),
        (pm.Exp(x), pm.Exp(z)),
        (pm.Exp(x), pm.Atan2(x, 1.0)),
        (pm.Sqrt(x), x // 3.0),
        (x % 3.0, pm.Log(x)),
    ],
)
def test_order(cheap: Expr, dear: Expr) -> None:
    assert function_operations(cheap) < function_operations(dear) <= 2 * 4 * ONE_AT_A_TIME
    assert operations(cheap) < operations(dear)


@pytest.mark.parametrize(
    ("one", "other"), [(pm.Sin, pm.Cos), (pm.Exp, pm.Exp2), (pm.Asin, pm.Acos), (pm.Log2, pm.Log10)]
)
def test_functions_of_one_code_cost_the_same(one: Any, other: Any) -> None:
    assert function_operations(one(x)) == function_operations(other(x))
    assert operations(one(x)) == operations(other(x))


@pytest.mark.parametrize("dtype", [pm.Long, pm.UInt64])
def test_one_number_at_a_time(dtype: Any) -> None:
    """A vector takes as long as all of its numbers."""
    one, other = (pm.Vector(dtype, name, [N])(i) for name in "ab")
    assert function_operations(one % other) == function_operations(one // other) == 4 * DIVIDED
    assert function_operations(one % 7) == function_operations(one // 7) == BY_A_CONSTANT


@pytest.mark.parametrize(("dtype", "vectors"), [(pm.Int, 2), (pm.UInt, 2), (pm.Short, 2), (pm.UChar, 4)])
def test_small_integers_are_divided_as_vectors_of_floating_point_numbers(dtype: Any, vectors: int) -> None:
    one, other = (pm.Vector(dtype, name, [N])(i) for name in "ab")
    assert function_operations(one % other) == function_operations(one // other) == vectors * IN_FLOATING
    assert function_operations(one % 7) == function_operations(one // 7) == BY_A_CONSTANT


def test_functions_one_at_a_time_cost_some_exponentials() -> None:
    vectors = function_operations(pm.Exp(x))
    assert 2 * vectors < function_operations(pm.I0(x)) < 20 * vectors


def test_complex_numbers_take_two_functions() -> None:
    assert function_operations(pm.Exp(z)) == function_operations(pm.I0(x)) * 2 == 8 * ONE_AT_A_TIME


def test_arithmetic_is_no_function() -> None:
    assert function_operations(x + 1) == function_operations(x) == 0.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (x, 0),
        (x * x + 1, 2),
        (pm.Abs(x), 1),
        (x**2, 1),
        (pm.Sqrt(x) + 1, 11),
        (pm.Exp(x) * x, _OWN["exp"] + 1),
    ],
)
def test_fusion_and_threads_count_alike(value: Expr, expected: float) -> None:
    """A function is worth what the table says and nothing besides; threads count what is read as well."""
    assert expression_operations(value) == expected
    loads = sum(isinstance(node, Load) for node in walk(value))
    assert operations(value) == 1 + expected + loads
    y = pm.Function(([i], [pm.Interval(pm.Int, 0, 9)]), pm.Double, "y")
    y.defn = [value]
    (stage,) = build([y]).stages
    assert stage_operations(stage, {}) == 10 * (1 + expected)
