"""Operations on the bits of integers, quotients and remainders, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Int, Parameter, Variable, Vector
from polymat.lang.types import ScalarType

N = Parameter(Int, "N")
i = Variable(Int, "i")
INTEGERS = (pm.Int8, pm.Short, Int, pm.Long, pm.UChar, pm.UInt16, pm.UInt, pm.UInt64)


def _written(a: Any, b: Any, s: Any) -> list[Any]:
    """What NumPy and polymat write alike; s: shifts."""
    quotients = [a // b, a % b, a // 16, a % 16]
    shifts = [a << s, a >> s, a >> 1, a << 3, 3 << s]
    return [*quotients, *shifts, a & b, a | b, a ^ b, ~a, a & 15, 5 | a, 7 ^ a, (a >> 2 & 3) | (b ^ ~s)]


def _values(dtype: ScalarType, count: int, rng: np.random.Generator) -> list[Any]:
    info = np.iinfo(dtype.dtype)
    a, b = (rng.integers(info.min, info.max, count, dtype=dtype.dtype, endpoint=True) for _ in range(2))
    signed = info.min < 0
    a[:4], a[4:6], b[1::7] = info.min, info.max, 0
    b[::5] = -1 if signed else 1
    shifts = rng.integers(-3 if signed else 0, info.bits + 3, count)
    return [a, b, shifts.astype(dtype.dtype)]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_arrays_equal_numpys(dtype: ScalarType) -> None:
    inputs = [Vector(dtype, name, [N]) for name in "abs"]
    found = pm.compile(_written(*inputs), inputs=inputs, options=pm.Options(fuse=False))
    for count in (0, 1, 101):
        arrays = _values(dtype, count, np.random.default_rng(count))
        with np.errstate(all="ignore"):
            expected = _written(*arrays)
        for results in (found(*arrays), found.reference(*arrays)):
            for one, other in zip(results, expected, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


def test_types_are_numpys() -> None:
    level, number, large = (Vector(t, n, [N])(i) for t, n in ((pm.UChar, "u"), (Int, "n"), (pm.Long, "l")))
    assert (level & 15).dtype == pm.UChar
    assert (level | number).dtype == Int
    assert (number ^ large).dtype == pm.Long
    assert (np.int16(3) & level).dtype == pm.Short
    assert (i & 1).dtype == pm.Long
    assert (N & level).dtype == pm.Long
    assert (~level).dtype == pm.UChar


def test_elements_are_written_as_python_reads_them() -> None:
    a, b = (Vector(Int, name, [N])(i) for name in "ab")
    for expr, text in (
        ((a & 1) + (b << 2), "(a(i) & 1) + (b(i) << 2)"),
        (a + 1 << b * 2 & 7 ^ 3 | ~b, "a(i) + 1 << b(i) * 2 & 7 ^ 3 | ~b(i)"),
        (a >> (b >> 1), "a(i) >> (b(i) >> 1)"),
        (
            pm.Select(pm.Condition(a & 1, "==", 0), ~a, ~(a + b)),
            "Select((a(i) & 1) == 0, ~a(i), ~(a(i) + b(i)))",
        ),
        (~Vector(pm.UChar, "u", [N])(i), "~u(i)"),
    ):
        assert str(expr) == text


def test_bits_of_variables_are_indices() -> None:
    """A shift is a product or a quotient, a mask of low bits a remainder: those are affine."""
    a = Vector(Int, "a", [N])
    f = pm.Function(([i], [pm.Interval(Int, 0, N - 1)]), Int, "f")
    f.defn = [a(i >> 1) + 10 * a(i - (i & 3)) + 100 * a((i << 1) >> 1) + 1000 * a(i - (3 & i))]
    x = np.arange(11, dtype=np.int32)
    at = np.arange(11)
    expected = x[at >> 1] + 1010 * x[at - (at & 3)] + 100 * x
    np.testing.assert_array_equal(pm.compile(f, inputs=[a]).reference(x), expected)


def test_what_has_no_bits_is_refused() -> None:
    truth, number, real = (Vector(t, n, [N]) for t, n in ((pm.Bool, "t"), (Int, "n"), (pm.Float, "r")))
    unsigned, long = Vector(pm.UInt64, "u", [N]), Vector(pm.Long, "l", [N])
    for attempt, text in (
        (lambda: real(i) & 1, r"r\(i\) & 1: & is for two truth values or for two integers"),
        (lambda: 1 | real(i), r"1 \| r\(i\): \| is for two truth values or for two integers"),
        (lambda: ~real(i), r"~r\(i\): ~ is for two truth values or for two integers"),
        (lambda: real(i) << 1, r"r\(i\) << 1: << shifts the bits of integers"),
        (lambda: number << real, r"n << r: << shifts the bits of integers"),
        (lambda: truth(i) | number(i), r"\| is for two truth values or for two integers"),
        (lambda: number & (number > 0), r"& is for two truth values or for two integers"),
        (lambda: number(i) & True, r"& is for two truth values or for two integers"),
        (lambda: ~real, r"~r: it is Float, and ~ is of truth values and of integers"),
        (lambda: unsigned & long, r"u\(i\) & l\(i\): UInt64 and Long make a Double, which has no bits"),
        (
            lambda: long(i) << unsigned(i),
            r"l\(i\) << u\(i\): Long and UInt64 make a Double, which has no bits",
        ),
    ):
        with pytest.raises(pm.LangError, match=text):
            attempt()
    with pytest.raises(pm.DtypeError, match="the integer 256 does not fit UChar"):
        Vector(pm.UChar, "u", [N])(i) & 256


def _saturated(values: Any, dtype: ScalarType) -> Any:
    """The same element by element, with Python's numbers."""
    info = np.iinfo(dtype.dtype)
    whole = [0 if value != value else value for value in values.tolist()]
    ends = [min(max(value, int(info.min)), int(info.max)) for value in whole]
    return np.array([int(value) for value in ends], dtype.dtype)


@pytest.mark.parametrize("source", [*INTEGERS, pm.Float, pm.Double], ids=str)
def test_conversions_saturate(source: ScalarType) -> None:
    a = Vector(source, "a", [N])
    compiled = pm.compile([pm.Cast(target, a, saturate=True) for target in INTEGERS], inputs=[a])
    if source.kind == "f":
        powers = 2.0 ** np.array([7, 8, 15, 16, 31, 32, 63, 64])
        near = np.concatenate(
            [powers, np.nextafter(powers.astype(source.dtype), 0), [0.9, 1.5, 1e30, np.inf]]
        )
        values = np.array([*near, *-near, np.nan], source.dtype)
    else:
        values = _values(source, 77, np.random.default_rng(3))[0]
    for results in (compiled(values), compiled.reference(values)):
        for found, target in zip(results, INTEGERS, strict=True):
            np.testing.assert_array_equal(found, _saturated(values, target))


def test_to_what_does_not_saturate() -> None:
    with pytest.raises(pm.DtypeError, match="saturate=True goes to an integer type, got Float"):
        pm.Cast(pm.Float, i, saturate=True)
