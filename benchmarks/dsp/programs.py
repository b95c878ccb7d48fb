"""The three pipelines as chains of steps, of which polymat's and SciPy's versions are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from scipy import signal

from benchmarks.dsp.design import RATE, band_stop, low_pass
from benchmarks.task import Array

BANDS = ((215, 255), (425, 505), (650, 750), (870, 990), (1325, 1465), (1780, 1940))


@dataclass(frozen=True, slots=True)
class Chain:
    """A low-pass filter, fewer samples, band-stop filters, and band-limited interpolation back.

    Every filter compensates its delay: of N samples and T taps come N - T + 1.
    """

    name: str
    first: Array
    factor: int
    others: tuple[Array, ...]


@cache
def unwanted_spectral() -> Chain:
    """1 kHz low-pass, every 10th sample, 60 Hz removed, back to the full rate."""
    return Chain("unwanted-spectral", low_pass(1000), 10, (band_stop(3999, 55, 65, RATE // 10, 60),))


@cache
def vuvuzela() -> Chain:
    """4 kHz low-pass, every 5th sample, six harmonics removed, back to the full rate."""
    stops = tuple(band_stop(7239, low, high, RATE // 5, 48) for low, high in BANDS)
    return Chain("vuvuzela", low_pass(4000), 5, stops)


CHAINS: Mapping[str, Callable[[], Chain]] = {"unwanted-spectral": unwanted_spectral, "vuvuzela": vuvuzela}
SUB_BAND = "sub-band"


@cache
def half_bands() -> tuple[Any, Any]:
    """Low-pass and high-pass filters at half the band, 24 and 25 taps."""
    return signal.firwin(24, 1 / 2), signal.firwin(25, 1 / 2, pass_zero=False)


def valid_length(samples: int, taps: int) -> int:
    """Samples that a delay-compensated filter leaves."""
    return max(0, samples - taps + 1)


def useful_flops(name: str, samples: int) -> int:
    """Operations of the filters tap by tap on the samples that are kept, interpolation not counted."""
    if name == SUB_BAND:
        return 2 * (24 + 25) * (samples // 2 + 2 * samples // 4 + 2 * samples // 2 + samples)
    chain = CHAINS[name]()
    kept = -(-valid_length(samples, len(chain.first)) // chain.factor)
    total = 2 * len(chain.first) * kept
    for taps in chain.others:
        kept = valid_length(kept, len(taps))
        total += 2 * len(taps) * kept
    return total
