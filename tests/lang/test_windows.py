"""Filter design inside a pipeline and of known numbers, against SciPy."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import signal, special

import polymat as pm

RATE = 44100.0
Fs, A = pm.Parameter(pm.Double, "Fs"), pm.Parameter(pm.Double, "i")
BANDS: dict[str, tuple[int, Any, dict[str, Any]]] = {
    "low-pass": (24, lambda r: 4000 / (r / 2), {}),
    "band-stop": (25, lambda r: [4000 / (r / 2), 9000 / (r / 2)], {}),
    "band-pass": (31, lambda r: [4000 / (r / 2), 9000 / (r / 2)], {"pass_zero": False}),
    "high-pass": (31, lambda r: 8000 / (r / 2), {"pass_zero": "highpass"}),
    "three edges": (33, lambda r: [3000 / (r / 2), 6000 / (r / 2), 9000 / (r / 2)], {"pass_zero": False}),
    "one tap": (1, lambda r: 4000 / (r / 2), {}),
    "not scaled": (12, lambda r: 4000 / (r / 2), {"scale": False}),
}


@pytest.mark.covering
@pytest.mark.parametrize("attenuation", [None, 10.0, 21.0, 40.0, 95.0])
@pytest.mark.parametrize("name", BANDS)
def test_inside(name: str, attenuation: float | None) -> None:
    taps, cutoff, settings = BANDS[name]
    own: Any = "hamming" if attenuation is None else ("kaiser", pm.kaiser_beta(A))
    theirs: Any = "hamming" if attenuation is None else ("kaiser", signal.kaiser_beta(attenuation))
    compiled = pm.compile(pm.firwin(taps, cutoff(Fs), window=own, **settings), name="taps")
    known: dict[str, Any] = {"Fs": RATE, "i": attenuation}
    values = {
        p.name: known[p.name] for p in (Fs, A) if p.name == "Fs" or (attenuation is not None and taps > 1)
    }
    expected = signal.firwin(taps, cutoff(RATE), window=theirs, **settings)
    np.testing.assert_allclose(compiled.reference(**values), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(compiled(**values), expected, rtol=0, atol=1e-14)


def test_sample_rate() -> None:
    compiled = pm.compile(pm.firwin(31, [1000, 2000], fs=Fs), name="taps")
    np.testing.assert_allclose(compiled(Fs=8000.0), signal.firwin(31, [1000, 2000], fs=8000.0), atol=1e-15)


@pytest.mark.parametrize("fftbins", [True, False])
def test_windows(fftbins: bool) -> None:
    compiled = pm.compile(pm.get_window(("kaiser", A), 12, fftbins=fftbins), name="window")
    expected = signal.get_window(("kaiser", 7.5), 12, fftbins=fftbins)
    np.testing.assert_allclose(compiled(i=7.5), expected, atol=1e-15)


def test_known_numbers_are_scipys() -> None:
    assert pm.kaiser_beta(95) == signal.kaiser_beta(95)
    window = ("kaiser", pm.kaiser_beta(60))
    np.testing.assert_array_equal(
        pm.firwin(25, 0.5, pass_zero=False), signal.firwin(25, 0.5, pass_zero=False)
    )
    np.testing.assert_array_equal(
        pm.firwin(25, [0.2, 0.4], window=window), signal.firwin(25, [0.2, 0.4], window=window)
    )
    np.testing.assert_array_equal(pm.get_window("blackman", 9), signal.get_window("blackman", 9))
    np.testing.assert_array_equal(pm.kaiser(9, 3.0), signal.windows.kaiser(9, 3.0))


@pytest.mark.parametrize("kind", [pm.Float, pm.Double])
def test_bessel(kind: Any) -> None:
    x = pm.Signal(kind, "x", 12)
    i = pm.Variable(pm.Int, "i")
    f = pm.Function(([i], [pm.Interval(pm.Int, 0, 11)]), kind, "f")
    f.defn = [pm.I0(x(i))]
    a = np.array([0, 1e-30, -1, 3, 7.99, 8, 8.01, -20, 80, np.nan, 1e-3, 0.5], dtype=kind.dtype)
    tolerance = 1e-5 if kind is pm.Float else 1e-14
    compiled = pm.compile(f)
    np.testing.assert_allclose(compiled(a), special.i0(a), rtol=tolerance)
    np.testing.assert_allclose(compiled.reference(a), special.i0(a), rtol=tolerance)


def test_no_scipy_until_it_is_needed() -> None:
    use = "pm.Signal(pm.Double, 'x', 9).fir([1.0] * 9)"
    code = f"import sys, polymat as pm; {use}; assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
