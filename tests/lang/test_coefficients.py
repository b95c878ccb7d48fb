"""What recursive filters are given: coefficients, divided by the first below, sections, axes and states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Int, LangError, Matrix, Parameter, ShapeError, Signal, Variable, Vector
from polymat.lang.coefficients import (
    Coefficients,
    axis_of,
    coefficients_of,
    kind_of,
    numbers,
    rows_of,
    state_of,
)
from polymat.lang.expressiontext import expr_text
from polymat.lang.firfilters import MAX_WRITTEN_TAPS

N = Parameter(Int, "N")
x, single = Signal(Double, "x", N), Signal(Float, "single", N)
b, a = Vector(Double, "b", [3]), Vector(Double, "a", [2])


def texts(found: Coefficients) -> tuple[list[str], list[str]]:
    return [*map(expr_text, found.forward)], [*map(expr_text, found.back)]


def test_numbers_are_divided_by_the_first_of_those_below() -> None:
    found = coefficients_of(np.array([4.0, 6.0]), np.array([2.0, 1.0, 8.0]), Double)
    assert texts(found) == (["2.0", "3.0"], ["0.5", "4.0"])
    assert (found.order, found.sources) == (2, ())


def test_elements_are_divided_where_they_are_read() -> None:
    assert texts(coefficients_of(b, np.array([2.0, 1.0]), Double)) == (
        ["b(0) / 2.0", "b(1) / 2.0", "b(2) / 2.0"],
        ["0.5"],
    )
    found = coefficients_of(np.array([3.0]), a, Double)
    assert texts(found) == (["3.0 / a(0)"], ["a(1) / a(0)"])
    assert found.sources == (a,)
    assert coefficients_of(b, a, Double).sources == (b, a)
    assert coefficients_of(b, a, Double).order == 2


def test_lists_of_real_numbers_and_vectors_of_a_known_length_are_taken() -> None:
    assert numbers(b, "b") is b
    np.testing.assert_array_equal(numbers(3, "b"), [3.0])
    np.testing.assert_array_equal(numbers([1, 2], "b"), [1.0, 2.0])


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ([], ""),
        ([1j], ""),
        ([[1.0], [2.0]], ""),
        ([0.0] * (MAX_WRITTEN_TAPS + 1), ""),
        (Vector(Double, "b", [N]), "a Vector of them has a length that is a number"),
        (Matrix(Double, "b", [3, 3]), "a Vector of them has a length that is a number"),
    ],
)
def test_others_are_refused(values: Any, hint: str) -> None:
    with pytest.raises(LangError, match=f"lfilter: b is a list of 1 to {MAX_WRITTEN_TAPS} real") as caught:
        numbers(values, "b")
    assert caught.value.hint == hint


def test_the_type_of_coefficients() -> None:
    assert kind_of(b, single) == Double
    assert kind_of([1.0], single) == Float
    assert kind_of(np.array([1.0]), single) == Double
    assert kind_of(np.array([1]), single) == Float
    assert kind_of([1.0], Signal(Int, "n", N)) == Double


def test_an_axis_may_count_from_the_end() -> None:
    image = Matrix(Double, "image", [N, N])
    assert [axis_of("f", image, axis) for axis in (0, 1, -1, -2, np.int64(1))] == [0, 1, 1, 0, 1]
    for axis in (2, -3, True, 1.0):
        with pytest.raises(LangError, match="f: axis is an integer from -2 to 1 for image "):
            axis_of("f", image, axis)


def test_sections_are_rows_of_six_of_which_the_fourth_divides() -> None:
    count, read = rows_of(Matrix(Double, "sos", [2, 6]), x)
    assert count == 2
    s = Variable(Int, "s")
    assert texts(read(s)) == (
        [f"sos(s - 1, {k}) / sos(s - 1, 3)" for k in (0, 1, 2)],
        [f"sos(s - 1, {k}) / sos(s - 1, 3)" for k in (4, 5)],
    )
    known, look = rows_of([[2.0, 4.0, 6.0, 2.0, 8.0, 10.0]], x)
    assert known == 1
    tables: list[Any] = [*look(s).forward, *look(s).back]
    assert [each.table.array.tolist() for each in tables] == [[0.0, v] for v in (1.0, 2.0, 3.0, 4.0, 5.0)]


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (Matrix(Double, "sos", [N, 6]), ShapeError, "sections are rows of six numbers, got sos "),
        (Matrix(Double, "sos", [N + 1, 6]), ShapeError, "sections are rows of six numbers"),
        (Matrix(Double, "sos", [2, 5]), ShapeError, "sections are rows of six numbers"),
        ([[1.0] * 5], ShapeError, "sections are rows of six numbers"),
        ([[1.0] * 6, [1.0] * 5], ShapeError, "sections are rows of six numbers"),
        ([[1.0] * 6, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], LangError, "a0 of section 1 is 0"),
        ([[1j] * 6], LangError, "sections are real numbers"),
    ],
)
def test_other_sections_are_refused(rows: Any, error: type[pm.PolymatError], message: str) -> None:
    with pytest.raises(error, match=f"sosfilt: {message}"):
        rows_of(rows, x)


def test_a_state_has_the_shape_that_is_wanted() -> None:
    zi = Vector(Double, "zi", [3])
    assert state_of("f", zi, x, zi.shape) is zi
    with pytest.raises(ShapeError, match=r"f: the state zi of .*, got a ") as caught:
        state_of("f", a, x, zi.shape)
    assert caught.value.hint.startswith("declare it as a Vector")
