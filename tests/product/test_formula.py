"""Formulas: numbers and conditions that Python evaluates (in C: `tests/codegen/c/test_formulas.py`)."""

from __future__ import annotations

from polymat.product.formulanames import Fact, LetCondition, LetNumber, Name, lets, names
from polymat.product.numbers import quotient

A, B, F = Name("a"), Name("b"), Fact("f")
PARTS = LetNumber("parts", quotient(A, B + 1))
MANY = LetCondition("many", (PARTS > 2) | F)


def test_quotients_divide_exactly() -> None:
    assert (A / (B * 2)).at({"a": 3, "b": 2}) == 0.75


def test_names_are_listed_after_what_they_need() -> None:
    assert lets([MANY]) == [PARTS, MANY]
    assert names([MANY]) == ["a", "b", "f"]


def test_a_name_is_computed_once() -> None:
    values = {"a": 9.0, "b": 2.0, "f": 0.0}
    assert MANY.holds(values)
    assert values["parts"] == 3.0
