"""Large transforms, axis by axis in blocks of lines: against the interpreter with small ones called large."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Cast,
    Complex,
    ComplexFloat,
    Double,
    Float,
    Image,
    Int,
    Interval,
    Matrix,
    Options,
    Vector,
)
from polymat.codegen.routines import fftlarge
from polymat.decide import callplans
from polymat.idiom.parts import Least
from tests.codegen.signals.test_transforms import OUT, SERIAL, THREADS, check, values, wave
from tests.differential.under_sanitizers import clean_output
from tests.idiom.recognise import L, M, N, i, j, k, l, total, upto
from tests.tolerance import assert_close

m, n = pm.Variable(Int, "m"), pm.Variable(Int, "n")
z, Z, B = Vector(Complex, "z", [N]), Matrix(Complex, "Z", [M, N]), Image(Complex, "B", [L, M, N])
X, S = Matrix(Double, "X", [M, N]), Matrix(ComplexFloat, "S", [M, N])
PLANE, SUMMED = [(i, upto(M)), (j, upto(N))], [(m, upto(M)), (k, upto(N))]
HALF = [(i, upto(M)), (j, Interval(Int, 0, N // 2))]
SIZES = [{"M": a, "N": b, "L": 2} for a, b in ((0, 3), (1, 1), (3, 5), (15, 17), (16, 16), (33, 40), (50, 7))]


@pytest.fixture(params=[SERIAL, THREADS], ids=["one thread", "two threads"])
def options(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Options:
    """Every size counts as large."""
    monkeypatch.setattr(callplans, "least_of", lambda *_: Least(1, 1, 1, 1, 1, 1, 1, 1))
    for name in ("COLLIDING", "EVEN"):
        monkeypatch.setattr(fftlarge, name, 1)
    monkeypatch.setattr(fftlarge, "SHORTEST", 2)
    chosen: Options = request.param
    return chosen


def both(sign: int) -> Any:
    """The factors of two axes."""
    return wave(sign, M, i, m) * wave(sign)


def test_in_tiles_with_other_stages(options: Options) -> None:
    """One after the other in the tiles of a group, which has writers of its own."""
    rows = pm.Signal(Complex, "rows", [M, N])
    compiled = pm.compile(pm.ifft(pm.fft(rows)), name="there_and_back", inputs=[rows], options=options)
    for a, b in ((0, 3), (1, 1), (3, 5), (33, 40)):
        given = values([a, b], "complex128", 1)
        assert_close(compiled(given), compiled.reference(given), roundings=200, magnitude=8.0)


@pytest.mark.parametrize("sign", [-1, 1])
def test_one_axis(sign: int, options: Options) -> None:
    lengths = (0, 1, 2, 4, 6, 31, 64, 97, 15 * 16, 17 * 19, 34 * 33)
    output = total("F", OUT, [(k, upto(N))], z(k) * wave(sign), dtype=Complex)
    check(output, z, [{"N": length} for length in lengths], options)


@pytest.mark.parametrize("dtype", [Double, Float])
def test_one_axis_of_real_values(dtype: Any, options: Options) -> None:
    """As half as many pairs: odd and even numbers of them, the whole spectrum and half of it."""
    kind, r = Complex if dtype is Double else ComplexFloat, Vector(dtype, "r", [N])
    whole = total("F", OUT, [(k, upto(N))], r(k) * Cast(kind, wave(-1)), dtype=kind)
    turned = total("F", OUT, [(k, upto(N))], r(k) * Cast(kind, wave(1)), dtype=kind)
    sizes = [{"N": length} for length in (0, 1, 2, 7, 8, 12, 62, 194, 30 * 16, 2 * 17 * 19, 700)]
    for output in (whole, turned):
        check(output, r, sizes, options)
    check(pm.rfft(r), r, sizes[1:], options)


def test_back_to_real_values(options: Options) -> None:
    """From half a spectrum whose ends need not be real."""
    h = Vector(Complex, "h", [N // 2 + 1])
    compiled: Any = pm.compile(pm.irfft(h, N), name="back", inputs=[h], options=options)
    for length in (1, 2, 7, 8, 12, 62, 194, 30 * 16, 2 * 17 * 19, 700):
        given = values((length // 2 + 1,), "complex128")
        expected = compiled.reference(given, N=length)
        assert_close(compiled(given, N=length), expected, roundings=40 + 4 * length, magnitude=9.0)


def test_a_batch_of_real_values(options: Options) -> None:
    shape = [(i, upto(M)), (j, Interval(Int, 0, N // 2))]
    output = total("F", shape, [(k, upto(N))], X(i, k) * wave(-1, N, j, k), dtype=Complex)
    check(output, X, [{"M": a, "N": b} for a, b in ((1, 4), (3, 12), (2, 9), (5, 96))], options)


@pytest.mark.parametrize("sign", [-1, 1])
def test_two_axes(sign: int, options: Options) -> None:
    check(total("F", PLANE, SUMMED, Z(m, k) * both(sign), dtype=Complex), Z, SIZES, options)


def test_two_axes_turned(options: Options) -> None:
    check(
        total("F", [(j, upto(N)), (i, upto(M))], SUMMED, Z(m, k) * both(-1), dtype=Complex), Z, SIZES, options
    )


def test_half_the_spectrum_of_real_values(options: Options) -> None:
    check(total("F", HALF, SUMMED, X(m, k) * both(-1), dtype=Complex), X, SIZES[1:], options)


def test_single_precision(options: Options) -> None:
    factor = Cast(ComplexFloat, both(-1))
    check(total("F", PLANE, SUMMED, S(m, k) * factor, dtype=ComplexFloat), S, SIZES, options)


def test_a_batch(options: Options) -> None:
    output = total("F", [(l, upto(L)), *PLANE], SUMMED, B(l, m, k) * both(-1), dtype=Complex)
    check(output, B, SIZES, options)


def test_three_axes(options: Options) -> None:
    output = total(
        "F",
        [(l, upto(L)), *PLANE],
        [(n, upto(L)), *SUMMED],
        B(n, m, k) * wave(-1, L, l, n) * both(-1),
        dtype=Complex,
    )
    sizes = [{"L": a, "M": b, "N": c} for a, b, c in ((1, 1, 1), (2, 3, 4), (5, 17, 3), (3, 4, 18))]
    check(output, B, sizes, options)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(1 << 18,), (100_000,), (256, 256), (130, 1021)])
def test_lengths_that_are_large(shape: tuple[int, ...], threads: int) -> None:
    """As they are, against NumPy."""
    line = total("F", OUT, [(k, upto(N))], z(k) * wave(-1), dtype=Complex)
    plane = total("F", PLANE, SUMMED, Z(m, k) * both(-1), dtype=Complex)
    output, array = (line, z) if len(shape) == 1 else (plane, Z)
    compiled: Any = pm.compile(output, name="transform", inputs=[array], options=Options(threads=threads))
    given = values(shape, "complex128")
    result, expected = compiled(given), np.fft.fftn(given)
    assert np.linalg.norm(result - expected) <= 1e-15 * math.log2(given.size) * np.linalg.norm(expected)
    np.testing.assert_array_equal(compiled(given), result)


@pytest.mark.turns(2)
def test_no_access_outside_an_array() -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_transforms"])
    assert printed.split() == ["line", "plane", "real", "back"]
