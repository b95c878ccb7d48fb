"""Sums whose index is turned or moved: which are, how, and that they mean the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from polymat import Case, Condition, Cos, Double, Int, Interval, Matrix, Op, Reduce, Reduction, Vector
from polymat.graph.build import build
from polymat.graph.product import Product, product_of
from polymat.idiom.lineup import from_zero, lined_up
from tests.graph.products import evaluate
from tests.idiom.recognise import K, M, i, k, total, upto

A, x = Matrix(Double, "A", [M, K]), Vector(Double, "x", [K])
ROWS, SUM = [(i, upto(M))], [(k, upto(K))]
SIZES = {"M": 4, "K": 6}
ARRAYS = {
    "A": np.arange(24.0).reshape(4, 6) + 1.0,
    "x": np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0]),
}


def product(value: Any, summed: Any = None) -> Product:
    built = build([total("R", ROWS, summed or SUM, value)])
    found = product_of(built.stages[-1], built.context)
    assert found is not None
    return found


def factors(found: Product) -> list[str]:
    return [str(factor) for term in found.terms for factor in term.factors]


@pytest.mark.parametrize(
    ("value", "ends", "now"),
    [
        (A(i, K - 1 - k) * x(K - 1 - k), (0, K - 1), ["0", "K - 1"]),
        (A(i, k - 1) * x(k - 1), (1, K), ["0", "K - 1"]),
        (A(i, 5 - k) * x(5 - k), (2, 4), ["1", "3"]),
    ],
)
def test_an_index_becomes_the_form_in_which_it_occurs(value: Any, ends: Any, now: list[str]) -> None:
    before = product(value, [(k, Interval(Int, *ends))])
    after = lined_up(before)
    assert factors(after) == ["A(i, k)", "x(k)"]
    assert [str(end) for end in after.terms[0].range_of("k")] == now
    for one, other in zip(evaluate(before, ARRAYS, SIZES), evaluate(after, ARRAYS, SIZES), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "value",
    [
        A(i, k) * x(k),
        A(i, k) * x(K - 1 - k),  # two forms
        A(i, 2 * k) * x(2 * k),  # every other element
        A(i, k - 1) * x(k - 1) * Cos(1.0 * k),  # weights, which would have to be moved
        A(0, i + k) * x(i + k),  # a window
    ],
)
def test_others_stay_as_they_are(value: Any) -> None:
    found = product(value)
    assert lined_up(found) is found


@pytest.mark.parametrize(("backwards", "forms"), [((), ["A(i, k)", "x(k + 1)"]), (("k",), None)])
def test_summed_indices_begin_at_zero(backwards: tuple[str, ...], forms: list[str] | None) -> None:
    before = product(A(i, k - 1) * x(k) * Cos(1.0 * k), [(k, Interval(Int, 1, K - 1))])
    (term,) = before.terms
    moved = from_zero(term, backwards)
    assert [str(end) for end in moved.range_of("k")] == ["0", "K - 2"]
    assert [str(each) for each in moved.factors] == (forms or ["A(i, K - k - 2)", "x(K - k - 1)"])
    after = replace(before, terms=(moved,))
    for one, other in zip(evaluate(before, ARRAYS, SIZES), evaluate(after, ARRAYS, SIZES), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_points_that_are_left_out_are_turned_too() -> None:
    few = Reduction(([i], [upto(M)]), ([i, k], [upto(M), upto(K)]), Double, "R")
    few.defn = [Case(Condition(k, "<=", i), Reduce(few(i), A(i, k) * x(k), Op.Sum))]
    built = build([few])
    before = product_of(built.stages[-1], built.context)
    assert before is not None
    after = replace(before, terms=tuple(from_zero(term, ("k",)) for term in before.terms))
    np.testing.assert_array_equal(evaluate(before, ARRAYS, SIZES)[0], np.tril(ARRAYS["A"]) @ ARRAYS["x"])
    np.testing.assert_array_equal(evaluate(after, ARRAYS, SIZES)[0], np.tril(ARRAYS["A"]) @ ARRAYS["x"])


def test_what_begins_at_zero_is_kept() -> None:
    (term,) = product(A(i, k) * x(k)).terms
    assert from_zero(term) is term
    assert from_zero(term, ("k",)) is not term
