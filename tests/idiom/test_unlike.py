"""Reasons against sums of products, in words: which part of an expression is named, and which waves count."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import Abs, Cast, Complex, Cos, Double, Exp, Float, Matrix, Op, Real, Select, Vector
from polymat.graph.build import build
from polymat.idiom.unlike import has_wave, reason_against_products, reason_against_sum, shortened
from polymat.lang.condition import Condition
from tests.idiom.recognise import K, M, N, i, j, k, total, upto

A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
F, x = Matrix(Float, "F", [M, K]), Vector(Double, "x", [K])
MN, SUM = [(i, upto(M)), (j, upto(N))], [(k, upto(K))]


def against(value: Any, **more: Any) -> str:
    (stage,) = build([total("R", MN, SUM, value, **more)]).stages
    return reason_against_products(stage)


def of_waves(value: Any, dtype: Any = Complex) -> str:
    (stage,) = build([total("R", [(i, upto(M))], SUM, value, dtype=dtype)]).stages
    return reason_against_sum(stage)


def test_the_innermost_part_that_is_no_element_is_named() -> None:
    assert against(Abs(A(i, k)) * B(k, j)) == "Abs(A(i, k)) is no array element: compute it in a stage before"
    assert against(1.0 + Abs(A(i, k)) ** 2 * B(k, j)).startswith("Abs(A(i, k)) ")
    assert against(A(i, k) ** 3 * B(k, j)).startswith("A(i, k) ** 3 is no array element")


def test_functions_of_what_does_not_move_are_scales() -> None:
    default = "it is no sum of a few products of array elements, or starts from something else"
    assert against(Abs(x(0)) * A(i, k) * B(k, j)) == default
    assert against((-A(i, k) / x(k)) ** 2 + B(k, j)) == default


def test_conditions_on_indices_are_none_and_on_values_are_one() -> None:
    on_indices = Select(Condition(k, "<=", i), A(i, k), 0.0) * B(k, j)
    on_values = Select(Condition(B(k, j), "<=", 0.0), A(i, k), 0.0) * B(k, j)
    assert "no array element" not in against(on_indices)
    assert "is no array element" in against(on_values)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (F(i, k) * F(i, k + 1), "F(i, k) is Float and the result Double: convert it in a stage before"),
        (Cast(Float, A(i, k)) * 1.0, "Cast(Float, A(i, k)) is Float and the result Double"),
    ],
)
def test_other_precisions_are_named_where_they_begin(value: Any, reason: str) -> None:
    assert against(value).startswith(reason)


def test_other_operations_are_named() -> None:
    assert against(A(i, k) * B(k, j), op=Op.Max) == "its values are combined by Op.Max, and libraries add"


def test_sums_without_waves_have_nothing_to_say() -> None:
    assert of_waves(Abs(x(k)), Double) == ""
    assert of_waves(Abs(x(k)) * Cos(1.0 * k), Double) == ""  # a window
    assert of_waves(Abs(x(k)) * Cos(1.0 * i * k), Double).startswith("Abs(x(k)) is no array element")


def test_the_real_part_is_taken_behind_the_sum() -> None:
    reason = of_waves(Real(x(k) * Exp(-1j * (1.0 * i * k))), Double)
    assert reason.endswith("is summed: take Real of the sum, in a stage behind")


def test_a_wave_has_an_index_of_each_kind() -> None:
    wave = Cos(1.0 * i * k)
    assert has_wave(wave * x(k), ["k"], ["i"])
    assert not has_wave(wave, ["k"], ["j"])
    assert not has_wave(wave, ["j"], ["i"])
    assert not has_wave(Abs(1.0 * i * k), ["k"], ["i"])


def test_long_expressions_are_cut() -> None:
    assert shortened(A(i, k)) == "A(i, k)"
    long = shortened(sum((A(i, k + n) for n in range(1, 20)), A(i, k)))
    assert len(long) == 60
    assert long.endswith("...")
