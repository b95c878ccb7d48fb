"""Lengths, types and definitions of signals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.algebra import dims

N, T, P = (pm.Parameter(pm.Int, name) for name in "NTP")
x, y = pm.Signal(pm.Double, "x", N), pm.Signal(pm.Float, "y", [N])
c = pm.Signal(pm.Double, "c", 10)
h = pm.Vector(pm.Double, "h", [T])


@pytest.mark.parametrize(
    ("result", "length"),
    [
        (x + y, "N"),
        (2 / x - 1, "N"),
        (x[:], "N"),
        (x[2:], "N - 2"),
        (x[:-3], "N - 3"),
        (x[-4:], "4"),
        (x[2:7], "5"),
        (x[7:2], "0"),
        (x[P:N], "N - P"),
        (x[P : P + 5], "5"),
        (x[::2], "(N + 1)//2"),
        (x[1::3], "(N + 1)//3"),
        (x[::-1], "N"),
        (x[np.int64(1) : np.int32(3)], "2"),
        (c[2:99], "8"),
        (c[-99:4:2], "2"),
        (c[20:], "0"),
        (x.down(2), "(N + 1)//2"),
        (x.down(np.int64(10)), "(N + 9)//10"),
        (c.down(4), "3"),
        (x.up(3), "3*N"),
        (x.fir(h), "N - T + 1"),
        (x.fir(h, mode="causal"), "N"),
        (x.fir([1.0, 2.0, 3.0]), "N - 2"),
        (x.fir(np.ones(4)), "N - 3"),
        (x.fir((1, 2), "causal"), "N"),
        (x.fir(y), "1"),
        (c.fir([1] * 10), "1"),
    ],
)
def test_length(result: Any, length: str) -> None:
    assert dims(result.shape) == length
    assert result.algebra == "signal"
    assert result.dtype == pm.Double


def test_types_follow_numpy() -> None:
    short = pm.Signal(pm.Short, "s", N)
    assert (y + y).dtype == pm.Float
    assert (short * 2).dtype == pm.Short
    assert (short / short).dtype == pm.Double
    assert y.fir([0.5, 0.5]).dtype == pm.Float
    assert y.fir(np.array([0.5])).dtype == pm.Double
    assert y.up(2).dtype == pm.Float
    assert (1j * y).dtype == pm.ComplexFloat


def test_down_of_up_has_the_first_length() -> None:
    assert x.up(3).down(3).shape == x.shape


def test_labels_are_formulas() -> None:
    assert x[2:].down(3).label == "x[2:].down(3)"
    assert (x + 1).fir(h).label == "(x + 1).fir(h, 'valid')"
    assert x.down(2).named("half").label == "half"


def test_taps_in_a_list_take_the_type_of_the_signal() -> None:
    """Whichever function they are given to; an array keeps its own."""
    s = pm.Signal(pm.Float, "s", N)
    for function in (pm.convolve, pm.correlate):
        assert [function(s, taps).dtype for taps in ([1, 2, 3], (0.5, 1.0), [1.0] * 20)] == [pm.Float] * 3
        assert function(s, np.ones(3)).dtype == pm.Double
    complex_taps = pm.correlate(pm.Signal(pm.ComplexFloat, "c", N), [1.0, 2j])
    assert complex_taps.dtype == pm.ComplexFloat


def test_a_spectrum_without_values_has_no_samples() -> None:
    spectrum = pm.Signal(pm.Complex, "spectrum", N)
    pipeline = pm.compile(pm.irfft(spectrum))
    for call in (pipeline, pipeline.reference):
        assert [call(np.ones(count, complex)).shape for count in (0, 1, 2)] == [(0,), (0,), (2,)]
