"""How far two correct results may differ: tolerances from the element type and the reduction length.

The a-priori bound is gamma_n = n u / (1 - n u), u the unit roundoff: a value reached through at most n
rounded operations from terms whose magnitudes sum to m is wrong by at most gamma_n m.  For a product A B, m
is the entry of |A| |B|; where a test does not give it, the largest magnitude of the expected array stands in
(norm-wise: sound for results of one scale).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

_COMPLEX_FACTOR = 2 * math.sqrt(2)


def unit_roundoff(dtype: npt.DTypeLike) -> float:
    """Half the distance from 1 to the next number: 2^-53 for float64; 0 for integers."""
    kind = np.dtype(dtype)
    return 0.0 if kind.kind in "biu" else float(np.finfo(kind).eps) / 2


def gamma(roundings: int, dtype: npt.DTypeLike) -> float:
    """Relative error that `roundings` operations in a row can make."""
    total = max(roundings, 1) * unit_roundoff(dtype)
    if total >= 1:
        return math.inf
    factor = _COMPLEX_FACTOR if np.dtype(dtype).kind == "c" else 1.0
    return factor * total / (1 - total)


def assert_close(
    actual: npt.NDArray[Any],
    expected: npt.NDArray[Any],
    *,
    roundings: int,
    magnitude: npt.NDArray[Any] | float | None = None,
    name: str = "result",
) -> None:
    """Fail unless dtype, shape and every element agree, both sides within `roundings` rounded operations.

    Integers must be equal.  NaN must meet NaN, and an infinity itself.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{name}: dtype {actual.dtype}, expected {expected.dtype}"
    assert actual.shape == expected.shape, f"{name}: shape {actual.shape}, expected {expected.shape}"
    if not actual.size:
        return
    finite = np.isfinite(expected)
    if magnitude is None:
        magnitude = float(np.max(np.abs(expected[finite]), initial=0.0))
    bound = np.broadcast_to(2 * gamma(roundings, expected.dtype) * np.asarray(magnitude), expected.shape)
    with np.errstate(invalid="ignore"):
        off = np.abs(actual - expected) if expected.dtype.kind != "b" else (actual != expected) * 1.0
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    wrong = ~(same | (finite & (off <= bound)))
    if np.any(wrong):
        where = tuple(int(index) for index in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{name}: {np.count_nonzero(wrong)} of {actual.size} elements differ; at {where} "
            f"{actual[where]!r}, expected {expected[where]!r}, difference {off[where]:.3g}, "
            f"allowed {bound[where]:.3g}"
        )
