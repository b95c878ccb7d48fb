"""The filters of the pipelines, for a sample rate of 44.1 kHz."""

from __future__ import annotations

from typing import Any

from scipy import signal

RATE = 44100
FIRST_TAPS = 670


def low_pass(cutoff: float) -> Any:
    """670 taps that keep what lies below `cutoff` Hz."""
    return signal.firwin(FIRST_TAPS, cutoff / (RATE / 2), window=("kaiser", signal.kaiser_beta(95)))


def band_stop(taps: int, low: float, high: float, rate: float, attenuation: float) -> Any:
    """A filter that removes `low` to `high` Hz at a sample rate."""
    cutoff = (low / (rate / 2), high / (rate / 2))
    return signal.firwin(taps, cutoff, window=("kaiser", signal.kaiser_beta(attenuation)))
