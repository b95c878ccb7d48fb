"""Indices that are computed from data, as forms with a value in them."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Cast, Clamp, Int, UChar
from polymat.lang.affine import Affine, computed_in
from polymat.lang.computed import index_form

N = pm.Parameter(Int, "N")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
level, number = pm.Vector(UChar, "level", [N]), pm.Vector(Int, "number", [N])
table, real = pm.Vector(pm.Float, "table", [256]), pm.Vector(pm.Float, "real", [N])


@pytest.mark.parametrize(
    ("index", "values"),
    [
        (2 * i + N, []),
        (level(i), ["level(i)"]),
        (Cast(Int, level(i)) + i - 1, ["level(i)"]),
        (N - 1 - Clamp(number(i), 0, N - 1), ["Min(Max(number(i), 0), N - 1)"]),
        (Cast(Int, level(i)) // 16, ["level(i)"]),
        (level(i) + 1, ["(level(i) + 1)"]),  # which wraps around
        (Cast(Int, level(i)) - Cast(Int, level(j)), ["(Cast(Int, level(i)) - Cast(Int, level(j)))"]),
        (Cast(Int, level(i)) % 16, ["(Cast(Int, level(i)) % 16)"]),
    ],
)
def test_affine_parts_stay_affine(index: Any, values: list[str]) -> None:
    assert [str(atom) for atom in computed_in([index_form(index, 0, None)])] == values


def test_forms_are_put_into_a_value_with_all_that_it_reads() -> None:
    form = index_form(Cast(Int, level(i)) + i, 0, None)
    moved = form.substitute({"i": Affine.name("k") + 1})
    assert str(moved) == "level(k + 1) + k + 1"
    assert set(moved.names()) == {"k"}


def test_equal_values_are_equal() -> None:
    one, other = (index_form(Clamp(number(i), 0, 9), 0, None) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != index_form(Clamp(number(j), 0, 9), 0, None)


def test_values_of_functions_without_names_are_told_apart() -> None:
    one, other = level + 1, level + 2
    assert index_form(one(i), 0, None) != index_form(other(i), 0, None)


def test_what_is_no_integer_is_refused() -> None:
    with pytest.raises(pm.NotAffineError, match=r"not affine: real\(i\) \* 10") as caught:
        table(real(i) * 10)
    assert caught.value.hint == (
        "an index is an integer: Cast(Int, ...), and Clamp(..., 0, N - 1) where it may be outside"
    )


def test_what_depends_on_no_data_has_to_be_affine() -> None:
    with pytest.raises(pm.NotAffineError, match=r"not affine: i \* j"):
        table(i * j)


REFUSED = [
    ((pm.Float, [N], (0, 3)), pm.DtypeError, "values= declares what integers lie between, and q is Float"),
    ((Int, [N], 3), pm.LangError, "values= of q is a pair, got 3"),
    ((Int, [N], (0, i)), pm.ShapeError, "the limit i of q uses the variable i"),
]


@pytest.mark.parametrize(("given", "kind", "message"), REFUSED)
def test_declared_values(given: Any, kind: Any, message: str) -> None:
    dtype, dims, values = given
    with pytest.raises(kind) as caught:
        pm.Vector(dtype, "q", dims, values=values)
    assert caught.value.message == message
