"""How far forms range over domains."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import Int, Parameter, Variable
from polymat.lang.affine import Affine
from polymat.lang.indices import as_affine
from polymat.poly import distance
from polymat.poly.distance import value_span
from polymat.poly.domain import Domain

N = Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")


def form(value: Any) -> Affine:
    return as_affine(value, None)


def box(*bounds: tuple[Any, Any]) -> Domain:
    return Domain.box(("N",), "ij"[: len(bounds)], [(form(lo), form(hi)) for lo, hi in bounds])


def test_spans_hold_for_all_sizes() -> None:
    rows = box((0, N - 1), (i - 2, i + 1))
    assert value_span(rows, form(j - i)) == (-2, 1)
    assert value_span(rows, form(3 * (i - j) + 1)) == (-2, 7)
    assert value_span(box((0, N - 1)), form(i - i // 4 * 4)) == (0, 3)


def test_what_grows_has_none() -> None:
    assert value_span(box((0, N - 1)), form(i)) is None
    assert value_span(box((0, N - 1)), form(i - N)) is None


def test_of_nothing() -> None:
    assert value_span(box((3, 2)), form(i)) == (0, -1)


def test_a_question_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = box((0, N - 1), (i - 2, i + 1))
    with monkeypatch.context() as patch:
        patch.setattr(distance, "MAX_OPERATIONS", 1)
        assert value_span(rows, form(j - i)) is None
    assert value_span(rows, form(j - i)) == (-2, 1)  # the bound goes with the question
