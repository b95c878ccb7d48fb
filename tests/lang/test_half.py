"""Numbers of half precision: stored in sixteen bits, computed with in single precision, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Function, Half, Int, Interval, Matrix, Parameter, Variable, Vector

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i = Variable(Int, "i")
ALL = Interval(Int, 0, N - 1)


def _stored(name: str, value: Any, **more: Any) -> Any:
    f = Function(([i], [ALL]), Half, name, **more)
    f.defn = value if isinstance(value, list) else [value]
    return f


def test_every_number_is_read_and_stored_as_numpy_does() -> None:
    h, x, d = Vector(Half, "h", [N]), Vector(pm.Float, "x", [N]), Vector(pm.Double, "d", [N])
    outputs = [_stored("same", h(i)), _stored("rounded", x(i)), _stored("twice", d(i)), h.astype(pm.Float)]
    compiled = pm.compile([*outputs, pm.Cast(Half, x)], inputs=[h, x, d])
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    near = np.arange(2**16, dtype=np.uint32) * 0x10001
    singles = near.view(np.float32)
    with np.errstate(all="ignore"):
        doubles = singles.astype(np.float64) * (1 + 2.0**-40)
        expected = [halves, singles.astype(np.float16), doubles.astype(np.float32).astype(np.float16)]
        expected += [halves.astype(np.float32), singles.astype(np.float16)]
    for call in (compiled, compiled.reference):
        for one, other in zip(call(halves, singles, doubles), expected, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_arithmetic_is_of_single_precision() -> None:
    a, b = (Matrix(Half, name, [N, M]) for name in "ab")
    assert (a + b).dtype == (a(0, 0) * 2.5).dtype == a.sum(axis=1).dtype == (a @ b.T).dtype == pm.Float
    outputs = [a + 3 * b, a.sum(axis=1), a.mean(axis=0), a @ b.T, (pm.Sqrt(abs(a)) - b).astype(Half), a.max()]
    compiled = pm.compile(outputs, inputs=[a, b])
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (5, 7), (17, 33)):
        x, y = (rng.integers(-16, 17, shape).astype(np.float16) / 4 for _ in range(2))
        one, other = x.astype(np.float32), y.astype(np.float32)
        expected = [one + 3 * other, one.sum(axis=1), one.mean(axis=0), one @ other.T]
        expected += [(np.sqrt(abs(one)) - other).astype(np.float16), one.max()]
        for call in (compiled, compiled.reference):
            for found, wanted in zip(call(x, y), expected, strict=True):
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_stages_between_are_stored_in_half() -> None:
    """What is stored is rounded, also where nobody else reads it; a border and numbers as they are."""
    h = Vector(Half, "h", [N])
    scaled = _stored("scaled", h(i) / 3)
    inside = pm.Condition(i, ">", 0) & pm.Condition(i, "<", N - 1)
    value = scaled(i - 1) + scaled(i) + scaled(i + 1)
    out = _stored("out", [pm.Case(inside, value)], default=0.1)
    compiled = pm.compile(out, inputs=[h])
    for count in (0, 1, 2, 100):
        x = (np.arange(count) % 37 / 8).astype(np.float16)
        thirds = (x.astype(np.float32) / np.float32(3)).astype(np.float16).astype(np.float32)
        expected = np.full(count, 0.1, np.float16)
        if count > 2:
            expected[1:-1] = thirds[:-2] + thirds[1:-1] + thirds[2:]
        for call in (compiled, compiled.reference):
            np.testing.assert_array_equal(call(x), expected)


def test_scalars_of_half_precision_count_as_single_ones() -> None:
    f = Function(([i], [ALL]), pm.Float, "f")
    scalar: Any = np.float16(0.5)
    f.defn = [Vector(Half, "h", [N])(i) + scalar]
    compiled = pm.compile(f)
    for call in (compiled, compiled.reference):
        np.testing.assert_array_equal(call(np.array([1, 2], np.float16)), [1.5, 2.5])
    with pytest.raises(pm.DtypeError, match="a Parameter is computed with, and Half is for arrays"):
        Parameter(Half, "p")


def test_nothing_is_added_up_in_half() -> None:
    with pytest.raises(pm.DtypeError, match="s is Half, in which nothing is added up"):
        pm.Reduction(([], []), ([i], [ALL]), Half, "s")
