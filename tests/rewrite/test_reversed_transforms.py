"""Transforms whose samples run backwards, along one axis or several: of the other sign, or mirrored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Conj, Cos, Double, Exp, Function, Image, Int, Interval, Matrix, Sin, Vector
from tests.idiom.recognise import K, M, N, i, j, k, l, total, upto
from tests.rewrite.test_plaintransforms import BOTH, BOTH_IN, FORCED, IN, OUT, TURN, TURNS, check

z, x = Vector(Complex, "z", [N]), Vector(Double, "x", [N])
Z, X = Matrix(Complex, "Z", [M, N]), Matrix(Double, "X", [M, N])
FROM_ONE = [(k, Interval(Int, 1, N))]
BOTH_FROM_ONE, ROWS_FROM_ONE = [(l, Interval(Int, 1, M)), *FROM_ONE], [(l, Interval(Int, 1, M)), *IN]
HALF, HALF_ROWS = (j, Interval(Int, 0, N // 2)), (i, Interval(Int, 0, M // 2))
ACROSS = 2 * math.pi * (i * l / M - j * k / N)
FORWARD, CROSSED = Exp(-1j * TURNS), Exp(-1j * ACROSS)
LENGTHS = [{"N": n} for n in (0, 1, 2, 3, 5, 7, 16, 17, 97, 210)]
SHAPES = [
    {"M": m, "N": n} for m, n in ((0, 2), (2, 0), (1, 1), (2, 3), (5, 1), (1, 7), (7, 5), (3, 16), (4, 2))
]


def spectrum(value: Any, samples: Any, out: Any = BOTH, **other: Any) -> Function:
    return total("F", out, samples, value, **{"dtype": Complex, **other})


def test_one_dimension_from_its_other_end() -> None:
    wave = Exp(-1j * TURN)
    check(
        [
            total("F", OUT, FROM_ONE, z(N - k) * wave, dtype=Complex),
            total("G", OUT, FROM_ONE, z(k - 1) * wave, dtype=Complex),
            total("H", [HALF], FROM_ONE, x(N - k) * wave, dtype=Complex),
            total("P", OUT, FROM_ONE, Conj(z(N - k)) * wave / (N + 1), dtype=Complex),
        ],
        LENGTHS,
        calls=4,
    )
    check(total("S", OUT, FROM_ONE, x(N - k) * Sin(TURN)), LENGTHS)


REVERSED = {
    "both axes": spectrum(Z(M - l, N - k) * FORWARD, BOTH_FROM_ONE),
    "both axes, real": spectrum(X(M - l, N - k) * FORWARD, BOTH_FROM_ONE),
    "both axes, half": spectrum(X(M - l, N - k) * FORWARD, BOTH_FROM_ONE, [(i, upto(M)), HALF]),
    "one axis": spectrum(Z(M - l, k) * FORWARD / (M * N + 1), ROWS_FROM_ONE),
    "one axis, half": spectrum(X(M - l, k) * FORWARD, ROWS_FROM_ONE, [(i, upto(M)), HALF]),
    "two signs": spectrum(Z(l, k) * CROSSED, BOTH_IN),
    "two signs, real": spectrum(0.5 * X(l, k) * CROSSED, BOTH_IN),
    "two signs, half of the rows": spectrum(X(l, k) * CROSSED, BOTH_IN, [HALF_ROWS, *OUT]),
    "two signs, added": spectrum((2 - 1j) * Z(l, k) * CROSSED, BOTH_IN, init=Z(i, j)),
    "cosines": spectrum(X(l, k) * Cos(ACROSS), BOTH_IN, dtype=Double),
    "sines": spectrum(X(l, k) * Sin(ACROSS), BOTH_IN, dtype=Double),
    "sines, half": spectrum(X(l, k) * Sin(-ACROSS), BOTH_IN, [(i, upto(M)), HALF], dtype=Double),
    "sines, half of the rows": spectrum(X(l, k) * Sin(ACROSS), BOTH_IN, [HALF_ROWS, *OUT], dtype=Double),
}


@pytest.mark.parametrize("name", REVERSED)
def test_two_dimensions(name: str) -> None:
    check(REVERSED[name], SHAPES)


def test_two_signs_in_a_batch() -> None:
    B = Image(Complex, "B", [K, M, N])
    h = pm.Variable(Int, "h")
    check(
        spectrum(B(h, l, k) * CROSSED, BOTH_IN, [(h, upto(K)), *BOTH]),
        [{"K": 2, **shape} for shape in SHAPES],
    )


def test_large_ones_against_numpy() -> None:
    compiled = pm.compile(REVERSED["both axes"], name="both", options=FORCED)
    crossed = pm.compile(REVERSED["two signs"], name="crossed", options=FORCED)
    rng = np.random.default_rng(3)
    for shape in ((97, 210), (16, 97), (210, 17)):
        values = rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)
        backwards, across = compiled(values), crossed(values)
        np.testing.assert_allclose(backwards, np.fft.ifft2(values) * values.size, atol=1e-9)
        expected = np.fft.ifft(np.fft.fft(values, axis=0), axis=1) * shape[1]
        np.testing.assert_allclose(across, expected, atol=1e-9)
