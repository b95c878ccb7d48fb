"""Integers of 64 bits that fit 32 become floating-point numbers by way of these."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Clamp, Function, Int, Interval, Long, Options
from polymat.driver import levels, request_for

N = pm.Parameter(Int, "N")
i = pm.Variable(Int, "i")
x = pm.Vector(pm.Float, "x", [N])
large = pm.Vector(Long, "large", [N])
LENGTHS = (0, 1, 7, 8, 9, 61, 64, 67)


def scaled(number: Any, dtype: Any = pm.Float) -> Function:
    f = Function(([i], [Interval(Int, 0, N - 1)]), dtype, "f")
    f.defn = [Cast(dtype, number) / 8 * x(i)]
    return f


def values(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    whole = rng.integers(-(2**40), 2**40, n, dtype=np.int64)
    return {
        "x": rng.random(n, np.float32),
        "large": whole,
    }


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double])
@pytest.mark.parametrize(
    ("number", "narrow"),
    [
        (i % 8, True),
        (i & 1023, True),
        (i % 7 - 9, True),
        (Clamp(large(i), -5, 2**31 - 1), True),
        (Clamp(large(i), -5, 2**31), False),
        (large(i), False),
        (i, False),
        (large(i) % 2**33, False),
    ],
)
def test_what_fits_32_bits_becomes_such_a_number_first(number: Any, narrow: bool, dtype: Any) -> None:
    compiled = pm.compile(scaled(number, dtype), options=Options(cflags=("-O1",)))
    assert (f"({dtype.c})(int32_t)" in compiled.source) == narrow
    for n in LENGTHS:
        given = values(n)
        known = {each.name: given[each.name] for each in compiled.signature.inputs}
        found, expected = compiled(**known), compiled.reference(**known)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=2e-7)


@pytest.mark.parametrize(
    ("number", "traps"),
    [
        (Clamp(Cast(Int, x(i) * 9), 0, 5), False),
        (pm.Max(Cast(Int, x(i) * 9), 0), False),
        (pm.Max(1, Cast(Long, x(i))), False),
        (Clamp(Cast(Int, x(i) * 9), -1, 5), True),
        (pm.Min(Cast(Int, x(i) * 9), 5), True),
        (Cast(Int, x(i) * 9), True),
    ],
)
def test_zeros_of_truncated_numbers_have_no_sign(number: Any, traps: bool) -> None:
    f = Function(([i], [Interval(Int, 0, N - 1)]), pm.Float, "f")
    f.defn = [1.0 / Cast(pm.Float, number) + number * 0.5]
    compiled = pm.compile(f)
    *_, (_, program) = (level for level in levels(request_for(f)) if level[0] == "codegen")
    assert ("-ftrapping-math" in program.flags) == traps  # type: ignore[union-attr]
    rng = np.random.default_rng(0)
    special = [-0.3, -0.0, 0.0, 0.05, 3e9, -3e9, np.nan, np.inf, -np.inf]
    given = np.concatenate([rng.uniform(-2, 2, 61), np.array(special * 3)]).astype(np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(compiled(given), compiled.reference(given))
