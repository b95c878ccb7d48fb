"""The tolerance helper itself: it must not pass what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.tolerance import assert_close, gamma, unit_roundoff


def test_gamma_is_the_textbook_bound() -> None:
    u = 2.0**-53
    assert gamma(100, np.float64) == 100 * u / (1 - 100 * u)
    assert gamma(100, np.complex128) == pytest.approx(2 * 2**0.5 * gamma(100, np.float64))
    assert gamma(0, np.float32) == gamma(1, np.float32)
    assert gamma(7, np.int32) == 0.0
    assert gamma(2**60, np.float32) == float("inf")
    assert unit_roundoff(np.float32) == 2.0**-24


def test_rounding_passes_and_a_wrong_element_does_not() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.uniform(-1, 1, (30, 50)), rng.uniform(-1, 1, (50, 20))
    exact = (A.astype(np.longdouble) @ B.astype(np.longdouble)).astype(np.float64)
    magnitude = np.abs(A) @ np.abs(B)
    assert_close(A @ B, exact, roundings=50, magnitude=magnitude)
    wrong = A @ B
    wrong[3, 4] += 1e-12
    with pytest.raises(AssertionError, match=r"at \(3, 4\)"):
        assert_close(wrong, exact, roundings=50, magnitude=magnitude)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2, np.float32), np.zeros(2)),
        (np.array([np.nan]), np.array([1.0])),
        (np.array([1.0]), np.array([np.nan])),
        (np.array([np.inf]), np.array([1.0])),
        (np.array([np.inf]), np.array([-np.inf])),
        (np.array([3]), np.array([4])),
        (np.array([0, 255], np.uint8), np.array([1, 255], np.uint8)),
        (np.array([True]), np.array([False])),
    ],
)
def test_differences_fail(actual: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    with pytest.raises(AssertionError):
        assert_close(actual, expected, roundings=10)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((0, 3)),
        np.array(2.5),
        np.array([np.nan, np.inf, -np.inf]),
        np.array([1 + 2j]),
        np.array([-(2**31)], np.int32),
        np.array([True, False]),
    ],
)
def test_a_value_equals_itself(values: npt.NDArray[Any]) -> None:
    assert_close(values, values.copy(), roundings=1)
