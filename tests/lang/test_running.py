"""Running sums, products and extremes of whole arrays are NumPy's, in values, types and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Bool, Complex, Double, Float, Image, Int, Parameter, UChar, Vector

N, M = Parameter(Int, "N"), Parameter(Int, "M")
SHAPES = ((0, 3), (3, 0), (1, 1), (5, 7), (33, 17))
Arrays = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def running(A: Any, v: Any, double: Any) -> list[Any]:
    """What is computed by polymat and by NumPy alike."""
    return [
        *(np.cumsum(A, axis=0), A.cumsum(-1), np.cumprod(A, axis=1), v.cumsum(), v.cumprod()),
        *(np.add.accumulate(A), np.multiply.accumulate(A, axis=-1), A.cumsum(1, dtype=double)),
    ]


def extremes(A: Any, v: Any) -> list[Any]:
    return [np.maximum.accumulate(A, axis=1), np.minimum.accumulate(A), np.minimum.accumulate(v)]


def given(rng: np.random.Generator, dtype: Any, shape: tuple[int, int]) -> Arrays:
    """Small integers, whose sums are exact, or fractions near 1, and NaN among those."""
    if dtype in (Double, Float, Complex):
        numbers: Any = rng.integers(-3, 4, shape) + (
            1j * rng.integers(-3, 4, shape) if dtype == Complex else 0
        )
    else:
        numbers = rng.integers(0, 2 if dtype == Bool else 200, shape)
    made = numbers.astype(dtype.dtype)
    return made, made[:, 0].copy() if shape[1] else np.zeros(shape[0], made.dtype)


@pytest.mark.parametrize("dtype", [Double, Float, Int, UChar, Bool, Complex])
def test_they_are_those_of_numpy(dtype: Any) -> None:
    A, v = Image(dtype, "A", [N, M]), Vector(dtype, "v", [N])
    wide = (Complex, np.complex128) if dtype == Complex else (Double, np.float64)
    ordered = dtype != Complex
    outputs = [*running(A, v, wide[0]), *(extremes(A, v) if ordered else [])]
    run = pm.compile(outputs, inputs=[A, v])
    for shape in SHAPES:
        rows, row = given(np.random.default_rng(shape[0]), dtype, shape)
        wanted = [*running(rows, row, wide[1]), *(extremes(rows, row) if ordered else [])]
        for found, right in zip(run(rows, row), wanted, strict=True):
            assert (found.dtype, found.shape) == (right.dtype, right.shape)
            np.testing.assert_array_equal(found, right)


def test_nan_stays_in_extremes() -> None:
    v: Any = Vector(Double, "v", [N])
    largest: Any = np.maximum.accumulate(v)
    run = pm.compile(largest, inputs=[v])
    values = np.array([1.0, -np.inf, 3.0, np.nan, 7.0, np.inf])
    np.testing.assert_array_equal(run(values), np.maximum.accumulate(values))


def test_an_integral_image_is_a_sum_of_sums() -> None:
    A = Image(Double, "A", [N, M])
    run = pm.compile(A.cumsum(0).cumsum(1), inputs=[A])
    values = np.random.default_rng(3).integers(-9, 9, (31, 45)).astype(float)
    np.testing.assert_array_equal(run(values), values.cumsum(0).cumsum(1))
