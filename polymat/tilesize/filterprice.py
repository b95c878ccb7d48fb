"""The predicted time of filters around register blocks: for their plans, and beside that of transforms."""

from __future__ import annotations

from math import log2

from polymat.lang.types import ScalarType, real_part
from polymat.machine.model import Machine
from polymat.tilesize.filterblock import register_lanes, square_side
from polymat.tilesize.loopprice import Rates

SHARE = 0.85  # of the peak that register blocks reach
ROW = 400.0  # multiplications that a row takes beside its results


def filter_seconds(
    machine: Machine,
    dtype: ScalarType,
    threads: int,
    *,
    taps: float,
    results: float,
    samples: float,
    rows: float = 1.0,
) -> float:
    """Seconds of a filter of so many taps, which has so many results and samples in each row."""
    filters = 4.0 if dtype.kind == "c" else 1.0  # real ones
    size = real_part(dtype).size
    alone, together = machine.peak_flops(size), machine.peak_flops(size, threads)
    multiplying = 2.0 * (results * taps + ROW) / (alone * SHARE)
    moving = (results + samples) * _moved_seconds(machine, size)
    return filters * rows * (multiplying + moving) * alone / together


def _moved_seconds(machine: Machine, element_bytes: int) -> float:
    """Seconds to transpose a sample, or a result, among others of a square of vectors.

    As many shuffles of each vector as its side has binary digits, and it is loaded and stored.
    """
    side = square_side(register_lanes(machine, element_bytes))
    rates = Rates.of(machine, element_bytes)
    return (log2(side) * rates.shuffle + 2.0 * rates.load) / side
