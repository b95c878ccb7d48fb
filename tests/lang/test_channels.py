"""Signals of several channels, frames and their sum, compiled and interpreted, against SciPy and NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from tests.tolerance import assert_close

signal: Any = importlib.import_module("scipy.signal")
Array = npt.NDArray[Any]

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
x = pm.Signal(pm.Double, "x", [M, N])
FEW, MANY = signal.firwin(5, 0.3), signal.firwin(33, 0.3)
WINDOW = np.hanning(16)


def stuffed(a: Array, up: int) -> Array:
    result = np.zeros((a.shape[0], a.shape[1] * up))
    result[:, ::up] = a
    return result


def full(a: Array, h: Array) -> Array:
    return np.array([np.convolve(row, h) for row in a]).reshape(len(a), a.shape[1] + len(h) - 1)


ALONG: dict[str, tuple[Any, Callable[[Array], Array]]] = {
    "causal": (x.fir(MANY, "causal"), lambda a: signal.lfilter(MANY, 1.0, a)),
    "few, full": (x.fir(FEW, "full"), lambda a: full(a, FEW)),
    "every third": (x.fir(FEW, "full").down(3), lambda a: full(a, FEW)[:, ::3]),
    "between": (x.up(2).fir(MANY, "causal"), lambda a: signal.lfilter(MANY, 1.0, stuffed(a, 2))),
    "zeros": (x.up(3), lambda a: stuffed(a, 3)),
    "upfirdn": (pm.upfirdn(FEW, x, 2, 3), lambda a: signal.upfirdn(FEW, a, 2, 3)),
    "slice": (2 * x[1:] - x[:-1], lambda a: 2 * a[:, 1:] - a[:, :-1]),
    "both": (pm.concatenate([x, -x]), lambda a: np.concatenate([a, -a], 1)),
    "lfilter": (
        pm.lfilter([1, 0.2], [1, -0.5, 0.3], x),
        lambda a: signal.lfilter([1, 0.2], [1, -0.5, 0.3], a),
    ),
    "rfft": (pm.rfft(x), np.fft.rfft),
    "ifft": (pm.ifft(pm.fft(x)), lambda a: a.astype(complex)),
    "irfft": (pm.irfft(pm.rfft(x), 10), lambda a: np.fft.irfft(np.fft.rfft(a), 10)),
}


@pytest.fixture(scope="module")
def compiled() -> pm.Compiled:
    outputs = [output for output, _ in ALONG.values()]
    return pm.compile(outputs, inputs=[x], options=pm.Options(fuse=False))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 7), (5, 64), (2, 257)])
def test_along_every_channel(compiled: pm.Compiled, shape: tuple[int, int]) -> None:
    samples = np.random.default_rng(shape).standard_normal(shape)
    for found in (compiled(samples), compiled.reference(samples)):
        for one, (name, (_, formula)) in zip(found, ALONG.items(), strict=True):
            wanted = formula(samples)
            assert_close(one, wanted, roundings=64 + shape[1], magnitude=4.0 * shape[1], name=name)


@pytest.mark.parametrize("hop", [1, 5, 16, 20])
def test_frames_and_their_sum(hop: int) -> None:
    s = pm.Signal(pm.Double, "s", N)
    parts = pm.frames(s, 16, hop, WINDOW)
    compiled = pm.compile([parts, pm.overlap_add(parts, hop), pm.stft(s, WINDOW, hop)], inputs=[s])
    for length in (16, 17, 100, 333):
        samples = np.random.default_rng(length).standard_normal(length)
        cut = np.lib.stride_tricks.sliding_window_view(samples, 16)[::hop] * WINDOW
        added = np.zeros(hop * (len(cut) - 1) + 16)
        for m, frame in enumerate(cut):
            added[hop * m : hop * m + 16] += frame
        for found in (compiled(samples), compiled.reference(samples)):
            np.testing.assert_array_equal(found[0], cut)
            assert_close(found[1], added, roundings=32, magnitude=64.0)
            assert_close(found[2], np.fft.rfft(cut), roundings=64, magnitude=64.0)


@pytest.mark.parametrize(
    ("window", "hop"), [(np.ones(16), 16), (np.hamming(16), 4), (np.hamming(15), 5), (WINDOW, 20)]
)
def test_spectra_of_frames_and_back(window: Array, hop: int) -> None:
    """SciPy's istft, scaled as its stft is, and the samples themselves where no window is 0."""
    s = pm.Signal(pm.Double, "s", N)
    count = len(window)
    spectra = pm.stft(s, window, hop)
    compiled = pm.compile([spectra, pm.istft(spectra, window, hop)], inputs=[s])
    for length in (count, 17, 100, 333):
        samples = np.random.default_rng(length).standard_normal(length)
        number = (length - count) // hop + 1
        above, below = np.zeros((2, hop * (number - 1) + count))
        for m in range(number):
            inside = slice(hop * m, hop * m + count)
            above[inside] += window**2 * samples[inside]
            below[inside] += window**2
        wanted = np.where(below > 1e-10, above / np.where(below > 1e-10, below, 1.0), above)
        for found in (compiled(samples), compiled.reference(samples)):
            assert_close(found[1], wanted, roundings=256, magnitude=8.0 / max(1e-3, window[window > 0].min()))
        if hop < count:
            _, other = signal.istft(
                compiled(samples)[0].T / window.sum(), 1.0, window, count, count - hop, boundary=False
            )
            inner = slice(count, -count)
            np.testing.assert_allclose(compiled(samples)[1][inner], other[inner], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(other[inner], samples[: len(other)][inner], rtol=1e-9, atol=1e-9)


def test_spectra_of_another_length_are_refused() -> None:
    s = pm.Signal(pm.Double, "s", N)
    with pytest.raises(pm.ShapeError, match="has 9 values a frame, 8 are needed for a window of 14"):
        pm.istft(pm.stft(s, WINDOW, 4), np.ones(14), 4)
    with pytest.raises(pm.ShapeError, match="no complex Signal of several channels"):
        pm.istft(pm.frames(s, 16, 4), WINDOW, 4)


def test_what_is_refused() -> None:
    s = pm.Signal(pm.Double, "s", 10)
    with pytest.raises(pm.ShapeError, match="shorter than 16"):
        pm.frames(s, 16, 4)
    with pytest.raises(pm.ShapeError, match="does not have 8 elements"):
        pm.frames(s, 8, 4, WINDOW)
    with pytest.raises(pm.LangError, match="positive integers, got 0"):
        pm.frames(s, 8, 0)
    with pytest.raises(pm.ShapeError, match="no Signal of several channels"):
        pm.overlap_add(s, 4)
    with pytest.raises(pm.ShapeError, match="no Signal of one channel"):
        pm.stft(x, WINDOW, 4)
    with pytest.raises(pm.ShapeError, match="has several channels"):
        x.interp_fft(2)
    with pytest.raises(pm.ShapeError, match="got 3 extents"):
        pm.Signal(pm.Double, "y", [M, N, 2])
    with pytest.raises(pm.ShapeError, match="other channels"):
        pm.concatenate([x, s])
