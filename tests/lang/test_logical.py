"""The operators of truth values, on Bool arrays and Bool elements, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Bool, Float, Function, Int, Interval, Long, Matrix, Select, Variable

M, N, p = pm.Parameter(Int, "M"), pm.Parameter(Int, "N"), pm.Parameter(pm.UInt64, "p")
A, B, X = Matrix(Bool, "A", [M, N]), Matrix(Bool, "B", [M, N]), Matrix(Float, "X", [M, N])
Q = Matrix(Long, "Q", [M, N])
i, j = Variable(Int, "i"), Variable(Int, "j")


def _combined(a: Any, b: Any, x: Any) -> list[Any]:
    """What NumPy and polymat write alike."""
    positive = x > 0
    return [
        *(a ^ b, positive ^ a, positive ^ (x < 1), ~positive ^ a, a[:1] ^ b),
        *(np.bitwise_xor(a, positive), np.where(~a ^ b, x, -x), (a ^ b).sum(axis=0)),
    ]


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (17, 33)])
def test_bool_arrays_are_combined_as_numpys(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, *shape)).astype(bool)
    x = (rng.integers(-4, 5, shape) / 2).astype(np.float32)
    x[:, 1::3] = np.nan
    compiled = pm.compile(_combined(A, B, X), inputs=[A, B, X])
    expected = _combined(a, b, x)
    for found in (compiled(a, b, x), compiled.reference(a, b, x)):
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_bool_elements_are_conditions() -> None:
    f = Function(([i, j], [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]), Int, "f")
    a, b, positive = A(i, j), B(i, j), pm.Condition(X(i, j), ">", 0)
    f.defn = [
        Select(~a, 1, 0)
        + Select(a & b, 2, 0)
        + Select(a | positive, 4, 0)
        + Select(positive & b, 8, 0)
        + Select(a ^ b, 16, 0)
        + Select(positive ^ a, 32, 0)
    ]
    rng = np.random.default_rng(1)
    c, d = rng.integers(0, 2, (2, 5, 7)).astype(bool)
    x = rng.standard_normal((5, 7)).astype(np.float32)
    compiled = pm.compile(f, inputs=[A, B, X])
    y = x > 0
    expected = 1 * ~c + 2 * (c & d) + 4 * (c | y) + 8 * (y & d) + 16 * (c ^ d) + 32 * (y ^ c)
    np.testing.assert_array_equal(compiled(c, d, x), expected)
    np.testing.assert_array_equal(compiled.reference(c, d, x), expected)


def test_scalars_beyond_64_bits_with_a_sign_are_refused() -> None:
    """They count as Long in expressions: 2**64 - 1 was taken for -1."""
    compiled = pm.compile(Q + p, inputs=[Q])
    q = np.zeros((1, 2), np.int64)
    np.testing.assert_array_equal(compiled(q, p=2**63 - 1), q + (2**63 - 1))
    for value in (2**63, np.uint64(2**64 - 1)):
        for call in (compiled, compiled.reference):
            with pytest.raises(pm.ArgumentError, match=r"argument p is .* scalars count as int64, up to 922"):
                call(q, p=value)


def test_the_hint_for_bool_names_what_every_numpy_has() -> None:
    compiled = pm.compile(~A, inputs=[A])
    with pytest.raises(pm.ArgumentError, match=r"A\.astype\(np\.bool_\)"):
        compiled(np.ones((2, 2), np.uint8))


def test_what_is_not_below_nan() -> None:
    """No number is, so that the opposite holds everywhere."""
    f = Function(([i], [Interval(Int, 0, N - 1)]), Int, "f")
    x = pm.Vector(Float, "x", [N])
    below = [pm.Condition(x(i), "<", float("nan")), pm.Condition(float("nan"), ">=", x(i))]
    f.defn = [Select(~below[0], 1, 0) + Select(~below[1], 2, 0) + Select(~pm.Condition(x(i), "<", 1.0), 4, 0)]
    compiled, given = pm.compile(f), np.array([0.0, 2.0, np.nan], np.float32)
    for call in (compiled, compiled.reference):
        assert call(given).tolist() == [3, 7, 7]
