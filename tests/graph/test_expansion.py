"""Right-hand sides multiplied out: which products they become, and which are none."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import Condition, Double, Exp, Float, Int, Matrix, Parameter, Select, Variable, Vector
from polymat.graph.expansion import MOST, expand
from polymat.lang.expr import Expr

N = Parameter(Int, "N")
i, j, k = (Variable(Int, name) for name in "ijk")
A, B, C = (Matrix(Double, name, [N, N]) for name in "ABC")
x, count = Vector(Double, "x", [N]), Vector(Int, "count", [N])
alpha = Parameter(Double, "alpha")


def products(expr: Expr, dtype: Any = Double, inside: tuple[str, ...] = ()) -> list[str] | None:
    """Each monomial in words: its scale, factors, divisors and how many weights it has."""
    found = expand(expr, ("i", "j", "k"), dtype, inside)
    if found is None:
        return None
    texts = []
    for each in found:
        words = [] if each.scale is None else [str(each.scale)]
        words += [*map(str, each.factors), *(f"/{d}" for d in each.divisors), *("w" for _ in each.weights)]
        texts.append(" ".join(words))
    return texts


def test_sums_are_multiplied_out_in_order_with_their_signs() -> None:
    found = products((A(i, k) + B(i, k)) * (C(k, j) - x(j)))
    assert found == ["A(i, k) C(k, j)", "-1 A(i, k) x(j)", "B(i, k) C(k, j)", "-1 B(i, k) x(j)"]


@pytest.mark.parametrize("least", [2.0**-1024, 2.0**-1074])
def test_numbers_whose_inverse_is_none_divide_no_product(least: float) -> None:
    """Of numbers that small the inverse is beyond all numbers, and so is what it is multiplied by."""
    assert products(A(i, k) / 2.0**-1023) is not None
    assert products(A(i, k) / 2.0**1022) is not None
    assert products(A(i, k) / least) is None
    assert products(A(i, k) / -least) is None
    assert products(A(i, k) / 1.7e308) is None  # the inverse has fewer digits


def test_constants_whose_product_is_no_number_scale_no_product() -> None:
    """From left to right each of these quotients and products is one."""
    assert products(A(i, k) / 1e150 / 1e150) is not None
    assert products(A(i, k) / 1e200 / 1e200 * 1e250) is None
    assert products(A(i, k) * 1e-200 * (alpha * 1e-200)) is None
    assert products(A(i, k) * 1e200 * x(0) * 1e200) is None
    assert products(A(i, k) * 0.0 * 1e300) is not None


def test_what_no_index_moves_is_a_scale() -> None:
    assert products(alpha * A(i, j) * 2.0 + x(0)) == ["alpha * 2.0 A(i, j)", "x(0)"]
    assert products(x(0) * A(i, j), inside=("x",)) == ["x(0) A(i, j)"]
    (scaled,) = expand(x(0) * A(i, j), ("i", "j"), Double) or ()
    (factor,) = expand(x(0) * A(i, j), ("i", "j"), Double, ("x",)) or ()
    assert [len(each.factors) for each in (scaled, factor)] == [1, 2]


def test_indices_alone_are_weights() -> None:
    assert products(A(i, j) * Exp(1.0 * i)) == ["A(i, j) w"]


def test_one_product_may_be_divided_by_and_no_sum() -> None:
    assert products(A(i, j) / (x(i) * x(j))) == ["A(i, j) /x(i) /x(j)"]
    assert products(A(i, j) / (x(i) + x(j))) is None


def test_squares_are_products_and_other_powers_are_none() -> None:
    assert products((A(i, j) - x(i)) ** 2) == [
        "A(i, j) A(i, j)",
        "-1 A(i, j) x(i)",
        "-1 x(i) A(i, j)",
        "1 x(i) x(i)",
    ]
    assert products(A(i, j) ** 3) is None


def test_a_choice_by_indices_guards_both_branches() -> None:
    upper = Condition(i, "<=", j)
    found = expand(Select(upper, A(i, j), -B(i, j)), ("i", "j"), Double)
    assert found is not None
    assert [[truth for _, truth in each.guards] for each in found] == [[True], [False]]
    assert [str(each.factors[0]) for each in found] == ["A(i, j)", "B(i, j)"]
    assert expand(Select(Condition(x(i), "<=", 0.0), A(i, j), B(i, j)), ("i", "j"), Double) is None


def test_elements_of_another_precision_are_no_factors() -> None:
    single = Vector(Float, "single", [N])
    assert products(A(i, j) * single(i)) is None
    assert products(single(i) * single(j), Float) == ["single(i) single(j)"]


def test_elements_at_computed_places_are_no_factors() -> None:
    assert products(A(i, j) * x(count(i))) is None
    assert products(count(count(i)), Int) is None


@pytest.mark.parametrize(("addends", "fits"), [(4, True), (5, False)])
def test_no_more_products_than_the_most(addends: int, fits: bool) -> None:
    total: Any = sum((A(i, k + n) for n in range(1, addends)), A(i, k))
    found = products(total * total)
    assert (found is not None) == fits == (addends**2 <= MOST)
