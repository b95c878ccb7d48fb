"""Fourier transforms written as sums and computed by FFTW: against the interpreter, on odd lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Complex,
    ComplexFloat,
    Conj,
    Double,
    Exp,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Matrix,
    Options,
    Variable,
    Vector,
)
from polymat.lang.affine import Affine
from polymat.lang.fouriertransforms import half_wave
from polymat.lang.makers import index_expression
from tests.idiom.recognise import L, M, N, alpha, i, j, k, l, total, upto
from tests.tolerance import assert_close

SERIAL = Options(fft="always", threads=1)
THREADS = Options(fft="always", threads=2, parallel_threshold=0)
LENGTHS = (0, 1, 2, 3, 7, 8, 31, 64, 97)
z, x = Vector(Complex, "z", [N]), Vector(Double, "x", [N])
OUT, IN = [(j, upto(N))], [(k, upto(N))]
HALF = [(j, Interval(Int, 0, N // 2))]


def wave(sign: int, length: Any = N, output: Variable = j, index: Variable = k) -> Any:
    return Exp(sign * 2j * math.pi * output * index / length)


def values(shape: Sequence[int], dtype: str, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    array = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        array = array + 1j * rng.uniform(-1, 1, shape)
    return array.astype(dtype)


def check(
    output: Function,
    array: Any,
    sizes: Sequence[dict[str, int]],
    options: Options = SERIAL,
    **scalars: Any,
) -> None:
    """FFTW is called, and the result is the interpreter's."""
    compiled = pm.compile(output, name="transform", inputs=[array], options=options)
    (group,) = compiled.explain().groups
    assert group.library_calls == ("fft",)
    for each in sizes:
        given = values([int(e.evaluate(each)) for e in array.shape], array.dtype.dtype)
        expected = compiled.reference(given, **scalars)
        terms = max(given.size, 1)
        assert_close(compiled(given, **scalars), expected, roundings=40 + 4 * terms, magnitude=3.0 * terms)


@pytest.mark.parametrize("sign", [-1, 1])
def test_complex(sign: int) -> None:
    check(total("F", OUT, IN, z(k) * wave(sign), dtype=Complex), z, [{"N": n} for n in LENGTHS])


@pytest.mark.parametrize("sign", [-1, 1])
def test_conjugates(sign: int) -> None:
    """Those of the source, which FFTW does not take: the conjugate of the transform the other way."""
    plain = total("F", OUT, IN, Conj(z(k)) * wave(sign), dtype=Complex)
    check(plain, z, [{"N": n} for n in LENGTHS])
    scaled = total("F", OUT, IN, 2j * Conj(z(k)) * wave(sign) / N, dtype=Complex)
    check(scaled, z, [{"N": n} for n in (1, 5, 16)])


@pytest.mark.covering
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("out", [OUT, HALF], ids=["whole", "half"])
def test_real(sign: int, out: Any) -> None:
    lengths = LENGTHS if out is OUT else LENGTHS[1:]
    check(total("F", out, IN, x(k) * wave(sign), dtype=Complex), x, [{"N": n} for n in lengths])


def test_scales() -> None:
    sizes = [{"N": n} for n in LENGTHS[1:]]
    check(total("F", OUT, IN, (0.5 - 1j) * z(k) * wave(1), dtype=Complex), z, sizes)
    check(total("F", OUT, IN, alpha * x(k) * wave(-1), dtype=Complex), x, sizes, alpha=-1.5)


@pytest.mark.parametrize(("real", "dtype"), [(False, ComplexFloat), (True, Float)])
def test_single_precision(real: bool, dtype: Any) -> None:
    v = Vector(dtype, "v", [N])
    factor = pm.Cast(ComplexFloat, wave(-1))
    check(total("F", OUT, IN, v(k) * factor, dtype=ComplexFloat), v, [{"N": n} for n in LENGTHS])


@pytest.mark.covering
@pytest.mark.parametrize("options", [SERIAL, THREADS], ids=["serial", "threads"])
@pytest.mark.parametrize("turned", [False, True])
def test_batches(turned: bool, options: Options) -> None:
    Z = Matrix(Complex, "Z", [N, M] if turned else [M, N])
    element = Z(k, i) if turned else Z(i, k)
    rows = total("F", [(i, upto(M)), *OUT], IN, element * wave(-1), dtype=Complex)
    sizes = [{"M": m, "N": n} for m, n in ((0, 3), (3, 0), (1, 8), (2, 7), (5, 16), (7, 9))]
    check(rows, Z, sizes, options)


@pytest.mark.parametrize("options", [SERIAL, THREADS], ids=["serial", "threads"])
def test_batches_of_real_values(options: Options) -> None:
    X = Image(Double, "X", [L, M, N])
    r = Variable(Int, "r")
    value = X(r, i, k) * wave(1)
    rows = total("F", [(r, upto(L)), (i, upto(M)), *OUT], IN, value, dtype=Complex)
    check(rows, X, [{"L": 3, "M": m, "N": n} for m, n in ((2, 1), (1, 8), (4, 7))], options)


def test_two_dimensions() -> None:
    Z = Matrix(Complex, "Z", [M, N])
    value = Z(k, l) * wave(-1, M, i, k) * wave(-1, N, j, l)
    both = total("F", [(i, upto(M)), (j, upto(N))], [(k, upto(M)), (l, upto(N))], value, dtype=Complex)
    check(both, Z, [{"M": m, "N": n} for m, n in ((0, 2), (1, 1), (3, 8), (7, 5))])


def test_never_means_never() -> None:
    dft = total("F", OUT, IN, z(k) * wave(-1), dtype=Complex)
    compiled = pm.compile(dft, inputs=[z], options=Options(fft="never"))
    assert "fftw" not in compiled.source


def test_a_long_prime_length() -> None:
    dft = total("F", OUT, IN, z(k) * wave(-1), dtype=Complex)
    compiled = pm.compile(dft, inputs=[z])
    given = values((4099,), "c16")
    assert_close(compiled(given), np.fft.fft(given), roundings=200, magnitude=200.0)


@pytest.mark.covering
@pytest.mark.parametrize("options", [SERIAL, THREADS], ids=["serial", "threads"])
@pytest.mark.parametrize(("dtype", "part"), [(Complex, Double), (ComplexFloat, Float)])
def test_real_values_from_half_a_spectrum(dtype: Any, part: Any, options: Options) -> None:
    half = Matrix(dtype, "half", [M, N // 2 + 1])
    inner = [(k, Interval(Int, 0, N // 2))]
    value = half_wave(half(i, k), j, k, N)
    rows = total("x", [(i, upto(M)), (j, upto(N))], inner, value, dtype=part)
    compiled = pm.compile(rows, name="transform", inputs=[half, N], options=options)
    assert compiled.explain().groups[0].library_calls == ("fft",)
    for length in (1, 2, 3, 8, 31, 96):
        for count in (0, 1, 5):
            given = values((count, length // 2 + 1), dtype.dtype)
            kept = given.copy()
            expected = np.fft.irfft(given, length, norm="forward").astype(part.dtype)
            assert_close(compiled.reference(given, length), expected, roundings=200, magnitude=3.0 * length)
            assert_close(compiled(given, length), expected, roundings=200, magnitude=3.0 * length)
            assert np.array_equal(given, kept)


def test_a_sum_that_only_looks_like_half_a_spectrum() -> None:
    half = Vector(Complex, "half", [501])
    for length, last in ((1001, 499), (1002, 500), (1000, 500)):
        value = half_wave(half(k), j, k, index_expression(Affine((), length), {}))
        inner = [(k, Interval(Int, 0, last))]
        rows = total("x", [(j, Interval(Int, 0, length - 1))], inner, value, dtype=Double)
        compiled = pm.compile(rows, name="transform", inputs=[half], options=SERIAL)
        assert ("fft" in compiled.explain().groups[0].library_calls) == (last == length // 2)
        given = values((501,), "c16")
        assert_close(compiled(given), compiled.reference(given), roundings=2000, magnitude=3000.0)
