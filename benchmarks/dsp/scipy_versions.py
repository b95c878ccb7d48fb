"""The pipelines in SciPy: sample by sample with lfilter, the best that SciPy offers, and block by block."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.dsp.programs import CHAINS, SUB_BAND, half_bands
from benchmarks.task import Array

BLOCK = 1 << 16
signal: Any = importlib.import_module("scipy.signal")  # its types tell scalars from arrays too finely


def solve(name: str, x: Array, way: str) -> tuple[Array, ...]:
    """The results of a pipeline; `way` is direct, best or streaming."""
    if name == SUB_BAND:
        return _sub_band(x, way)
    chain = CHAINS[name]()
    y = _down(x, chain.first, chain.factor, way)
    for taps in chain.others:
        y = _valid(y, taps, way)
    return (signal.resample(y, len(y) * chain.factor),)


def _down(x: Array, taps: Array, factor: int, way: str) -> Array:
    """The samples of a delay-compensated filter that are kept."""
    if way != "best":
        return _valid(x, taps, way)[::factor]
    # upfirdn keeps the multiples of the factor of the delayed output: zeros in front move the delay to one.
    front = -(len(taps) - 1) % factor
    kept = -(-max(0, len(x) - len(taps) + 1) // factor)
    delayed = signal.upfirdn(np.concatenate([np.zeros(front), taps]), x, down=factor)
    first = (len(taps) - 1 + front) // factor
    return np.asarray(delayed[first : first + kept])


def _valid(x: Array, taps: Array, way: str) -> Array:
    if way == "best":
        return np.asarray(signal.oaconvolve(x, taps, mode="valid"))
    causal = _streamed(x, taps) if way == "streaming" else signal.lfilter(taps, 1.0, x)
    return np.asarray(causal[len(taps) - 1 :])


def _streamed(x: Array, taps: Array) -> Array:
    """A causal filter that is given one block after the other and keeps its state between them."""
    state = np.zeros(len(taps) - 1)
    result = np.empty_like(x)
    for begin in range(0, len(x), BLOCK):
        block = slice(begin, begin + BLOCK)
        result[block], state = signal.lfilter(taps, 1.0, x[block], zi=state)
    return result


def _sub_band(x: Array, way: str) -> tuple[Array, ...]:
    low, high = half_bands()

    def split(y: Array) -> tuple[Array, Array]:
        return _causal_down(y, low, way), _causal_down(y, high, way)

    def join(a: Array, b: Array, length: int) -> Array:
        return _up_causal(a, 2 * low, length, way) + _up_causal(b, 2 * high, length, way)

    halves = split(x)
    bands = (*split(halves[0]), *split(halves[1]))
    back = (join(bands[0], bands[1], len(halves[0])), join(bands[2], bands[3], len(halves[1])))
    return (join(*back, len(x)), *bands)


def _causal_down(x: Array, taps: Array, way: str) -> Array:
    if way == "best":
        return np.asarray(signal.upfirdn(taps, x, down=2)[: -(-len(x) // 2)])
    return np.asarray((_streamed(x, taps) if way == "streaming" else signal.lfilter(taps, 1.0, x))[::2])


def _up_causal(x: Array, taps: Array, length: int, way: str) -> Array:
    if way == "best":
        return np.asarray(signal.upfirdn(taps, x, up=2)[:length])
    stuffed = np.zeros(length)
    stuffed[::2] = x
    return np.asarray(_streamed(stuffed, taps) if way == "streaming" else signal.lfilter(taps, 1.0, stuffed))


def reference(name: str, x: Any) -> tuple[Array, ...]:
    """The results that others are compared with."""
    return solve(name, x, "best")
