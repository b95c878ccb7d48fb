"""Numbers of bfloat16: stored as the upper halves of single precision, and computed with in that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import BFloat16, Function, Half, Int, Interval, Matrix, Parameter, Variable, Vector
from polymat.lang.types import from_bfloat16, to_bfloat16

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i = Variable(Int, "i")
ALL = Interval(Int, 0, N - 1)


def _stored(name: str, value: Any, **more: Any) -> Any:
    f = Function(([i], [ALL]), BFloat16, name, **more)
    f.defn = value if isinstance(value, list) else [value]
    return f


def _nearest(value: float) -> int:
    """The bits of the nearest of all numbers, by search; of two the even one."""
    upper = int(np.float32(abs(value)).view(np.uint32)) >> 16
    around = [upper, upper + 1]
    with np.errstate(all="ignore"):
        sizes = [float(np.uint32(each << 16).view(np.float32)) for each in around]
    sizes = [2.0**128 if size == np.inf else size for size in sizes]
    apart = [abs(size - abs(value)) for size in sizes]
    best = around[apart[0] > apart[1]] if apart[0] != apart[1] else next(e for e in around if e % 2 == 0)
    return best | (0x8000 if np.signbit(value) else 0)


def test_conversions_round_to_the_nearest() -> None:
    rng = np.random.default_rng(0)
    given = rng.integers(0, 2**32, 2000, dtype=np.uint32).view(np.float32)
    ties = (rng.integers(0, 2**15, 500, dtype=np.uint32) << 16 | 0x8000).view(np.float32)
    finite = [float(x) for x in (*given, *ties) if np.isfinite(x)]
    assert to_bfloat16(np.array(finite)).tolist() == [_nearest(x) for x in finite]
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 3.4e38, 1e-45], np.float32)
    assert to_bfloat16(special).tolist() == [0x7F80, 0xFF80, 0x7FC0, 0, 0x8000, 0x7F80, 0]


def test_every_number_is_read_and_stored() -> None:
    types = (BFloat16, pm.Float, pm.Double, Half)
    b, x, d, h = (Vector(dtype, name, [N]) for dtype, name in zip(types, "bxdh", strict=True))
    outputs = [_stored("same", b(i)), _stored("rounded", x(i)), _stored("twice", d(i)), b.astype(pm.Float)]
    outputs += [pm.Cast(BFloat16, x), _stored("from_half", h(i)), b.astype(Half)]
    compiled = pm.compile(outputs, inputs=[b, x, d, h])
    bits = np.arange(2**16, dtype=np.uint16)
    singles = (np.arange(2**16, dtype=np.uint32) * 0x10001).view(np.float32)
    with np.errstate(all="ignore"):
        doubles, halves = singles.astype(np.float64) * (1 + 2.0**-40), bits.view(np.float16)
        as_half = from_bfloat16(bits).astype(np.float16)
        twice = to_bfloat16(doubles.astype(np.float32))
    quiet = np.where((bits & 0x7FFF) > 0x7F80, bits | 0x40, bits)
    expected = [quiet, to_bfloat16(singles), twice, from_bfloat16(bits)]
    expected += [to_bfloat16(singles), to_bfloat16(halves.astype(np.float32)), as_half]
    for call in (compiled, compiled.reference):
        for one, other in zip(call(bits, singles, doubles, halves), expected, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_arithmetic_is_of_single_precision() -> None:
    a, b = (Matrix(BFloat16, name, [N, M]) for name in "ab")
    assert (a + b).dtype == (a(0, 0) * 2.5).dtype == a.sum(axis=1).dtype == (a @ b.T).dtype == pm.Float
    halves = [_border(a)]
    outputs = [a + 3 * b, a.sum(axis=1), a @ b.T, (pm.Sqrt(abs(a)) - b).astype(BFloat16), a.max(), *halves]
    compiled = pm.compile(outputs, inputs=[a, b])
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (5, 7), (17, 33)):
        one, other = (rng.integers(-16, 17, shape).astype(np.float32) / 4 for _ in range(2))
        expected = [one + 3 * other, one.sum(axis=1), one @ other.T]
        expected += [to_bfloat16(np.sqrt(abs(one)) - other), one.max()]
        inner = to_bfloat16(one[:, 0] / np.float32(3))
        inner[0] = to_bfloat16(0.1)
        for call in (compiled, compiled.reference):
            *found, border = call(to_bfloat16(one), to_bfloat16(other))
            for each, wanted in zip(found, expected, strict=True):
                assert each.dtype == wanted.dtype
                np.testing.assert_allclose(each, wanted, rtol=1e-6)
            np.testing.assert_array_equal(border, inner)


def _border(a: Any) -> Any:
    """A third of the first column, and a number at the border."""
    inside = pm.Case(pm.Condition(i, ">", 0), a(i, 0) / 3)
    return _stored("border", [pm.Case(pm.Condition(i, "==", 0), 0.1), inside])


def test_what_is_computed_with_is_of_another_type() -> None:
    with pytest.raises(pm.DtypeError, match="a Parameter is computed with, and BFloat16 is for arrays"):
        Parameter(BFloat16, "p")
    with pytest.raises(pm.DtypeError, match="s is BFloat16, in which nothing is added up"):
        pm.Reduction(([], []), ([i], [ALL]), BFloat16, "s")


def test_arrays_of_ml_dtypes_are_views() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    b = Vector(BFloat16, "b", [N])
    halved = pm.compile(_stored("halved", b(i) / 3), inputs=[b])
    values = np.arange(-9, 9).astype(ml_dtypes.bfloat16)
    found = halved(values.view(np.uint16)).view(ml_dtypes.bfloat16)
    assert np.array_equal(found, values / ml_dtypes.bfloat16(3))
    with pytest.raises(pm.ArgumentError, match="has dtype bfloat16: expected uint16") as caught:
        halved(values)
    assert caught.value.hint.startswith("b.view(np.uint16), the sixteen bits of each number")
    singles = np.random.default_rng(0).standard_normal(1000).astype(np.float32) * 1e3
    assert np.array_equal(to_bfloat16(singles), singles.astype(ml_dtypes.bfloat16).view(np.uint16))
