"""The predicted time of filters around register blocks: for their plans, and beside that of transforms."""

from __future__ import annotations

from polymat.lang.types import ScalarType, real_part
from polymat.machine.model import Machine

SHARE = 0.85  # of the peak that register blocks reach
MOVED = 12.0  # multiplications that it takes to transpose a sample, or a result
ROW = 400.0  # that a row takes beside its results


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
    operations = 2.0 * filters * rows * (results * taps + MOVED * (results + samples) + ROW)
    return operations / (machine.peak_flops(real_part(dtype).size, threads) * SHARE)
