"""Interpolation by convolutions with the periodic sinc: the samples that transforms of its lengths give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import signal

import polymat as pm
from polymat import Double, Float, Options
from polymat.lang.phases import interpolated_by_phases
from polymat.lang.signal import MAKERS


def error(result: Any, given: Any, length: int) -> float:
    """Of a result, relative to the norm of the samples as SciPy resamples them."""
    expected = signal.resample(given.astype(np.float64), length)
    return float(np.linalg.norm(result - expected) / np.linalg.norm(expected))


def by_convolutions(compiled: Any) -> bool:
    return "_pm_kept_give" in compiled.source


def values(count: int, dtype: Any) -> Any:
    return np.random.default_rng(count).standard_normal(count).astype(dtype.dtype)


@pytest.mark.parametrize(
    ("count", "factor", "points"),
    [(1, 2, 1), (2, 2, 3), (7, 3, 7), (7, 3, 13), (8, 2, 8), (8, 4, 16), (97, 5, 193), (100, 10, 208)],
)
def test_lengths(count: int, factor: int, points: int) -> None:
    for dtype, tolerance in ((Double, 1e-14), (Float, 3e-6)):
        x = pm.Signal(dtype, "x", count)
        y = interpolated_by_phases(MAKERS, x, count, factor, points)
        compiled = pm.compile(y, name="interpolated", options=Options(threads=1))
        given = values(count, dtype)
        assert error(compiled(given), given, count * factor) < tolerance


@pytest.mark.parametrize("dtype", [Double, Float])
def test_it_is_found(dtype: Any) -> None:
    x = pm.Signal(dtype, "x", 10007 + 4)
    y = pm.Signal.fir(x, np.hanning(5).astype(dtype.dtype))
    compiled = pm.compile(0.5 * y.interp_fft(5) + 1.0, name="interpolated")
    assert by_convolutions(compiled)
    given = values(10011, dtype)
    filtered = np.convolve(given.astype(np.float64), np.hanning(5), "valid")
    for _ in range(2):
        result = (compiled(given).astype(np.float64) - 1.0) / 0.5
        assert error(result, filtered, 50035) < (1e-13 if dtype is Double else 1e-5)
    assert np.allclose(compiled(given), compiled.reference(given), atol=1e-10 if dtype is Double else 1e-4)


def test_of_a_length_with_small_factors() -> None:
    x = pm.Signal(Double, "x", 4096)
    compiled = pm.compile(x.interp_fft(3), name="interpolated")
    given = values(4096, Double)
    assert error(compiled(given), given, 3 * 4096) < 1e-13


def test_switched_off() -> None:
    x = pm.Signal(Double, "x", 10007)
    for options in (Options(fft="never", threads=1), Options(keep=False)):
        assert not by_convolutions(pm.compile(x.interp_fft(2), name="interpolated", options=options))


def test_another_spectrum_is_another_signal() -> None:
    """All frequencies up to the last one that there is, which an interpolation of an even length halves."""
    x = pm.Signal(Double, "x", 10006)
    compiled = pm.compile(pm.irfft(pm.rfft(x), 20012), name="longer")
    assert not by_convolutions(compiled)
    given = values(10006, Double)
    assert np.allclose(compiled(given), np.fft.irfft(np.fft.rfft(given), 20012), atol=1e-12)
