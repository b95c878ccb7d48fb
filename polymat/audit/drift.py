"""Whether a machine is still as fast as when it was calibrated: what was measured then, beside the same now.

Nothing tells that a calibration no longer holds: other guests of a machine take its last level of caches or
leave it, and predictions are then of an hour that is over.
"""

from __future__ import annotations

from collections.abc import Iterator

from polymat.errors import ToolchainError
from polymat.machine.calibrate import LEVELS, Calibration, Rate
from polymat.machine.probe import probe
from polymat.measuring.effort import SHORT
from polymat.measuring.measuremachine import measure
from polymat.runtime.calibration import stored_calibration

CHANGED = 1.15  # times as fast, or as slow: less is what two calibrations of one hour differ by


def since_calibration() -> str:
    """When this machine was calibrated, and what is slower or faster now; takes seconds of measuring."""
    stored = stored_calibration()
    if stored is None:
        return "not calibrated: predictions are estimates"
    taken = f"calibrated {stored.date}"
    try:
        now = measure(probe(), stored.threads, effort=SHORT)
    except ToolchainError as error:
        return f"{taken}; what has changed since is not known: {error.message}"
    changes = [f"{name} {times:.2f}" for name, times in changed(stored, now)]
    if not changes:
        return f"{taken}; rates are those of then"
    listed = ", ".join(changes)
    advice = "`python -m polymat calibrate --force` measures anew, while nothing else runs"
    return f"{taken}; times as fast now: {listed}; {advice}"


def changed(then: Calibration, now: Calibration) -> Iterator[tuple[str, float]]:
    """The rates that differ, and by what: those of now over those of then."""
    rates = zip(_rates(then), _rates(now), strict=True)
    for (name, before), (_, after) in rates:
        pairs = [("", before.one, after.one)]
        if then.threads == now.threads > 1:
            pairs.append((f" on {then.threads} threads", before.all, after.all))
        for where, old, new in pairs:
            if not 1.0 / CHANGED <= new / old <= CHANGED:
                yield name + where, new / old


def _rates(found: Calibration) -> Iterator[tuple[str, Rate]]:
    """Of arithmetic and of reading each level, by name."""
    yield "float32", found.flops32
    yield "float64", found.flops64
    yield from zip(LEVELS, found.read, strict=True)
