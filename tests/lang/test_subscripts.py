"""Parts of whole arrays in brackets: what they read, the sizes they ask for, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polymat import (
    Bool,
    BoundsError,
    Double,
    Image,
    Int,
    LangError,
    Matrix,
    Parameter,
    ShapeError,
    Variable,
    Vector,
)
from polymat.graph.build import build
from polymat.lang.subscripts import slice_text, subscripted

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i = Variable(Int, "i")
A, x = Matrix(Double, "A", [N, M]), Vector(Double, "x", [10])
cube = Image(Double, "cube", [N, M, 7])


def read(source: Any, index: Any) -> tuple[list[str], str]:
    """The extents of the result, and the element that it reads, by the result's indices i, j, ..."""
    (stage,) = build([subscripted(source, index).named("part")]).stages
    text = str(stage.parts[0].expr)
    for number, dim in enumerate(stage.dims):
        text = text.replace(dim, "ijkl"[number])
    return [*map(str, stage.extents)], text


@pytest.mark.parametrize(
    ("source", "index", "extents", "element"),
    [
        (A, 2, ["M"], "A(2, i)"),
        (A, -1, ["M"], "A(N - 1, i)"),
        (A, (slice(None), N - 1), ["N"], "A(i, N - 1)"),
        (A, (slice(1, -1), None, slice(None, None, -1)), ["N - 2", "1", "M"], "A(i + 1, -k + M - 1)"),
        (x, slice(1, 9, 3), ["3"], "x(3*i + 1)"),
        (cube, (Ellipsis, 0), ["N", "M"], "cube(i, j, 0)"),
        (cube, (0, Ellipsis, -1), ["M"], "cube(0, i, 6)"),
        (cube, (Ellipsis, None), ["N", "M", "7", "1"], "cube(i, j, k)"),
        (cube, np.int64(3), ["M", "7"], "cube(3, i, j)"),
    ],
)
def test_what_brackets_read(source: Any, index: Any, extents: list[str], element: str) -> None:
    assert read(source, index) == (extents, element)


def required(index: Any, source: Any = A) -> list[str]:
    return [str(each) for each in subscripted(source, index).requires]


def test_sizes_must_hold_what_is_selected() -> None:
    assert required(3) == ["(-4) + N >= 0"]
    assert required(-3) == ["(-3) + N >= 0"]
    assert required((slice(None), slice(2, None))) == ["(-2) + M >= 0"]
    assert required((slice(None), slice(None))) == []
    assert required(slice(5, 100), x) == []


@pytest.mark.parametrize(
    ("source", "index", "error", "message"),
    [
        (x, (0, 0), ShapeError, "has 1 dimension, got 2 indices"),
        (cube, (Ellipsis, 0, Ellipsis), LangError, "cube: brackets have one ... at most"),
        (x, 10, BoundsError, r"x\[10\]: 10 is outside a dimension of extent 10"),
        (x, -11, BoundsError, r"x\[-11\]: -11 is outside a dimension of extent 10"),
        (A, i, LangError, "A is read with parentheses, not brackets, at indices that vary"),
        (x, True, LangError, r"x\[True\]: brackets take integers, slices, None and ..."),
        (x, 1.5, LangError, "brackets take integers, slices, None and ..."),
    ],
)
def test_what_is_refused(source: Any, index: Any, error: type[LangError], message: str) -> None:
    with pytest.raises(error, match=message):
        subscripted(source, index)


@pytest.mark.parametrize(
    ("index", "form", "hint"),
    [
        (slice(-M, None), "-M", "N - M counts from the end"),
        (slice(None, -M - 2), "-M - 2", "N - M - 2 counts from the end"),
        (slice(None, -(N // 2)), "-((N)//2)", "N - (N)//2 counts from the end"),
        (slice(None, None, None), "", ""),
        (slice(1 - M, None), "", ""),
        (slice(N - M, None), "", ""),
        (-M, "-M", "N - M counts from the end"),
        (slice(-1, -N - 1, -1), "-N - 1", "leave it out for all elements"),
    ],
)
def test_sizes_do_not_count_from_the_end(index: Any, form: str, hint: str) -> None:
    if not form:
        assert subscripted(A, index) is not None
        return
    with pytest.raises(LangError, match="in brackets of A counts from the start, as sizes do") as caught:
        subscripted(A, index)
    assert caught.value.message.startswith(f"{form} in brackets")
    assert caught.value.hint == hint


def test_selection_by_arrays_has_a_hint() -> None:
    for chosen, hint in (
        (Vector(Bool, "mask", [10]), "pm.where(condition, x, 0) keeps what a condition selects"),
        (Vector(Int, "places", [10]), "nothing is read at indices that an array holds"),
    ):
        with pytest.raises(LangError) as caught:
            subscripted(x, chosen)
        assert caught.value.hint.startswith(hint)


def test_slices_as_they_are_written() -> None:
    texts = [slice_text(each) for each in (slice(None), slice(1, -1), slice(None, None, 2), slice(N, None))]
    assert texts == [":", "1:-1", "::2", "N:"]
