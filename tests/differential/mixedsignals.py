"""Steps of random mixtures that filter, transform and sample signals."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import polymat as pm
from polymat.lang.types import computed_with
from tests.differential.mixeddraw import Draw, Value

MODES = ("valid", "causal", "same", "full")


def _step(rng: random.Random, s: Any, whole: bool) -> tuple[Any, float, bool]:
    """What is made of a signal (whole: of integers), how many times as large it may be, and whether integers stay such."""
    count = rng.choice((1, 2, 3, 5, 9, 20))
    low = 0 if s.dtype.kind in "ub" else -2
    taps = np.array([rng.randint(low, 2) for _ in range(count)], dtype=computed_with(s.dtype).dtype)
    mode = rng.choice(MODES)
    rounded: Any = pm.Round if whole and s.dtype.kind != "c" else lambda value: value
    choices: tuple[Callable[[], tuple[Any, float, bool]], ...] = (
        lambda: (s.fir(taps, mode), 40.0, False),
        lambda: (s.up(2).fir(taps, mode), 40.0, False),
        lambda: (s.fir(taps, mode).down(2), 40.0, False),
        lambda: (rounded(s.fir(taps, mode)), 40.0, rounded is pm.Round),
        lambda: (s.down(rng.choice((2, 3))), 1.0, True),
        lambda: (s.up(rng.choice((2, 3))), 1.0, True),
        lambda: (s[:: rng.choice((2, -1))], 1.0, True),
        lambda: (pm.pad(s, rng.choice((1, 2)), rng.choice(("constant", "edge"))), 1.0, True),
        lambda: (pm.concatenate([s, s]), 1.0, True),
        lambda: (pm.fft(s), 40.0, False),
        lambda: (pm.ifft(s), 1.0, False),
        lambda: (pm.rfft(s), 40.0, False),
        lambda: (pm.Real(pm.ifft(pm.fft(s))), 1.0, False),
        lambda: (rounded(pm.Real(pm.ifft(pm.fft(s) * pm.fft(s)))), 400.0, rounded is pm.Round),
        lambda: (pm.lfilter([1.0, 0.5], [1.0, -0.5], s), 4.0, False),
        lambda: (pm.sosfilt([[1.0, 0.5, 0.0, 1.0, -0.25, 0.125]], s), 4.0, False),
        lambda: (pm.convolve(s, taps, rng.choice(("full", "same"))), 40.0, False),
        lambda: (pm.correlate(s, taps, rng.choice(("full", "same"))), 40.0, False),
        lambda: (pm.frames(s, 2, 1), 1.0, True),
        lambda: (s + s[::-1], 2.0, True),
    )
    return rng.choice(choices)()


def signalled(draw: Draw) -> Value:
    """A filter, transform or other sampling of a signal."""
    a = draw.pick(lambda v: v.source.algebra == "signal")
    a = draw.small(a) if a.dtype.kind != "c" else a
    found, largest, exact = _step(draw.rng, a.source, a.exact)
    return Value(found, largest * a.largest, a.exact and exact)
