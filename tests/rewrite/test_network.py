"""Products of many arrays: which stages are one, and what one amounts to within another."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Case,
    Condition,
    Cos,
    Double,
    Float,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Reduce,
    Reduction,
    Vector,
)
from polymat.graph.build import build
from polymat.graph.stage import Stage
from polymat.lang.expr import Load
from polymat.lang.expressiontext import expr_text
from polymat.rewrite.network import (
    MOST_FACTORS,
    Network,
    covers_box,
    divisor_of,
    is_whole,
    network_of,
    one_over,
    times,
)
from tests.idiom.recognise import K, M, N, alpha, i, j, k, point, total, upto

A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [N, N])
F, x = Matrix(Float, "F", [M, K]), Vector(Double, "x", [K])
MN, SUM = [(i, upto(M)), (j, upto(N))], [(k, upto(K))]


def stage_of(found: Function) -> Stage:
    return build([found]).stages[-1]


def product(value: Any, **more: Any) -> Network | None:
    return network_of(stage_of(total("R", MN, SUM, value, **more)))


def below(value: Any) -> Stage:
    """A sum over the points on one side of a diagonal."""
    found = Reduction(([i, j], [upto(M), upto(N)]), ([i, j, k], [upto(M), upto(N), upto(K)]), Double, "R")
    found.defn = [Case(Condition(k, "<=", i), Reduce(found(i, j), value, Op.Sum))]
    return stage_of(found)


def texts(found: Network | None) -> tuple[list[str], list[str]]:
    """Scales and factors, as they are written."""
    assert found is not None
    return [*map(expr_text, found.scales)], [*map(expr_text, found.factors)]


def test_factors_and_scales_in_their_order() -> None:
    found = product(-(alpha * A(i, k) * 2.0) * (B(k, j) + 1.0))
    assert texts(found) == (["-1", "alpha", "2.0"], ["A(i, k)", "B(k, j) + 1.0"])
    assert found is not None
    assert (found.result, found.summed) == (("i", "j"), ("k",))
    assert [{*names} for names in found.names()] == [{"i", "k"}, {"k", "j"}]


def test_one_quotient_is_a_factor() -> None:
    assert texts(product(A(i, k) * B(k, j) / x(k)))[1] == ["A(i, k)", "B(k, j)", "1 / x(k)"]
    both = product(A(i, k) / x(k) * (B(k, j) / x(k)))  # two that nothing may multiply
    assert texts(both)[1] == ["A(i, k) / x(k)", "B(k, j) / x(k)"]
    alone = product(B(k, j) / A(i, k))  # the sum over rows of A is of 1 / d alone
    assert texts(alone)[1] == ["B(k, j) / A(i, k)"]


@pytest.mark.parametrize(
    "value",
    [
        F(i, k) * F(i, k),
        A(i, k) * Cos(1.0 * j * k),
        alpha * 2.0,
    ],
)
def test_what_is_no_network(value: Any) -> None:
    assert product(value) is None


def test_other_operations_and_changing_bounds_are_none() -> None:
    assert product(A(i, k) * B(k, j), op=Op.Max) is None
    triangle = total("R", MN, [(k, Interval(Int, 0, i))], A(i, k) * B(k, j))
    assert network_of(stage_of(triangle)) is None
    assert network_of(below(A(i, k) * B(k, j))) is None


@pytest.mark.parametrize(("count", "fits"), [(MOST_FACTORS, True), (MOST_FACTORS + 2, False)])
def test_no_more_factors_than_the_most(count: int, fits: bool) -> None:
    value: Any = A(i, k)
    for _ in range(count - 1):
        value = value * A(i, k)
    assert (product(value) is not None) == fits


def test_an_element_with_what_computes_it_in_its_place() -> None:
    inner = product(alpha * A(i, k) * B(k, j))
    P = Matrix(Double, "P", [M, N])
    outer = network_of(stage_of(total("Q", MN, [(k, upto(N))], P(i, k) * C(k, j))))
    assert inner is not None
    assert outer is not None
    both = outer.with_factor(0, inner)
    assert texts(both) == (["alpha"], ["A(i, k_)", "B(k_, k)", "C(k, j)"])
    assert both.summed == ("k", "k_")
    assert str(both.bounds["k_"][1]) == "K - 1"
    assert str(both.bounds["k"][1]) == "N - 1"
    assert both.with_factor(2, inner).summed == ("k", "k_", "k__")


def test_a_quotient_is_rounded_once() -> None:
    divided = one_over(x(k), Double)
    assert expr_text(times(A(i, k), divided)) == expr_text(times(divided, A(i, k))) == "A(i, k) / x(k)"
    assert expr_text(times(A(i, k), x(k))) == "A(i, k) * x(k)"
    found = divisor_of(divided)
    assert isinstance(found, Load)
    assert found.source.name == "x"
    assert divisor_of(A(i, k) / x(k)) is None


def test_sums_that_start_from_something_are_not_whole() -> None:
    for init, whole in ((None, True), (1.0, False)):
        stage = stage_of(total("R", MN, SUM, A(i, k) * B(k, j), init=init))
        found = network_of(stage)
        assert found is not None
        assert is_whole(stage, found) == whole


def test_points_without_a_condition_cover_their_box() -> None:
    assert covers_box(stage_of(point("R", MN, C(i, j))))
    assert covers_box(stage_of(total("R", MN, SUM, A(i, k))))
    assert not covers_box(below(A(i, k)))
