"""Measuring this machine by itself, in short, when something is compiled and nobody has measured it yet.

Once a machine.  What goes wrong here fails no compilation: decisions then rest on estimates, as before.  What
matters most is measured first: rates of caches, memory and arithmetic, then what loops do beside it, then
whole products.  What found no time left is decided by prices, until a user asks for all of it.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path

from polymat.errors import ToolchainError
from polymat.machine.calibrate import LEVELS, Calibration
from polymat.machine.kernelstate import others_seconds, was_forked
from polymat.machine.model import Machine
from polymat.machine.probe import probe
from polymat.machine.twice import better_of
from polymat.measuring.effort import LONG, SHORT, Effort
from polymat.measuring.measuremachine import measure, measured_threads
from polymat.measuring.measuremachine import measure as measure_again
from polymat.measuring.timedproducts import SHORT as TIMED
from polymat.measuring.timedproducts import blas_in_use, with_products
from polymat.runtime.cachedir import prepare_directory
from polymat.runtime.calibration import (
    calibration_path,
    failed_lately,
    failure_path,
    keep_failure,
    lacks_parts_of_before,
    missing_parts,
    store_calibration,
    stored_calibration,
)
from polymat.runtime.filelock import bucket_lock
from polymat.runtime.logs import tell_user
from polymat.runtime.settings import settings
from polymat.runtime.toolchain import find_compiler

_log = logging.getLogger("polymat.calibrate")
_SECONDS = 5.0  # by the clock, of everything, with the C compiler's
# For another process that measures, twice as long as it may take.
_WAIT_SECONDS = 10.0
_LEAST_AGAIN = 0.3  # five rounds of all figures, on a quiet machine
# Of the estimate: simple processors reach more than an eighth of what is estimated for unknown ones, and
# programs under emulators do not.
_LEAST_SHARE = 0.125
# Of all cores together, in what they do not share.  Half of it is what two threads of one core reach that a
# virtual machine shows as two cores; others who used processors meanwhile are a likelier cause.
_LEAST_SPEEDUP, _LEAST_SPEEDUP_BESIDE = 0.4, 0.75
_PRIVATE = (1, 2)
# Of all over one, in what they share: no more threads are slower than one, but for noise.
_LEAST_SHARED_SPEEDUP = 0.9
_MUCH_USE = 0.1  # of one processor, by others
_asked: set[Path] = set()  # the files that this process has asked for


def measure_first() -> bool:
    """Measure this machine and keep the figures, unless that was done, tried lately, or cannot be kept.

    Tell whether there are figures now.  One process measures at a time.  Others wait for it, not for long:
    what they would compute meanwhile would disturb it, and they decide by the same figures then.
    """
    path = calibration_path()
    if path in _asked:
        return False
    try:
        if not _may_measure():
            return False
        find_compiler()
        prepare_directory(path.parent)
        with bucket_lock(path.with_suffix(".lock"), _WAIT_SECONDS) as locked:
            if locked and stored_calibration() is None and not failed_lately():
                _measure(path)
        return stored_calibration() is not None
    except Exception as error:  # estimates do
        _log.debug("not calibrated: %s: %s", type(error).__name__, error)
        return False
    finally:
        _asked.add(path)


def _may_measure() -> bool:
    """Unless the user refuses, and not in a forked process, which would wait for threads of its parent.

    Nor where every access to memory is watched; and what did not come to its end long ago will not.
    """
    asked = settings()
    if asked.calibrate_mode == "off" or asked.cache_mode != "on" or asked.memory_checker:
        return False
    return not failed_lately(least_seconds=_WAIT_SECONDS) and not was_forked()


def _measure(path: Path) -> None:
    tell_user(
        "calibrate",
        f"measuring this machine once, for a few seconds; kept in {path} (POLYMAT_CALIBRATE=off refuses)",
    )
    # Before the work, too: a process that dies of it is the last one for a while.
    keep_failure("it did not come to its end")
    begin = time.perf_counter()
    try:
        machine, others = probe(), others_seconds()
        measured = measure(machine, measured_threads(), effort=_effort(machine))
        spent = time.perf_counter() - begin
        reason = doubt(measured, machine, (others_seconds() - others) / spent)
    except Exception as error:
        keep_failure(f"{type(error).__name__}: {error}")
        raise
    if reason:
        keep_failure(reason)
        _log.debug("not calibrated: %s", reason)
        return
    whole = _with_products(measured, begin + _SECONDS)
    whole = _measured_again(whole, machine, begin + _SECONDS)
    store_calibration(whole)
    failure_path().unlink(missing_ok=True)
    _tell_missing(whole)


def measure_rest() -> bool:
    """Measure what a calibration of another day found no time for; tell whether there is more now."""
    path, stored = calibration_path(), stored_calibration()
    if path in _asked or stored is None or not missing_parts(stored):
        return False
    _asked.add(path)
    try:
        if not _may_measure():
            return False
        find_compiler()
        with bucket_lock(path.with_suffix(".lock"), _WAIT_SECONDS) as locked:
            known = stored_calibration()
            if locked and known is not None and lacks_parts_of_before(known):
                _measure_rest(known, path)
        return stored_calibration() != stored
    except Exception as error:  # what is known does
        _log.debug("not calibrated further: %s: %s", type(error).__name__, error)
        return False


def _measure_rest(known: Calibration, path: Path) -> None:
    parts = " and ".join(missing_parts(known))
    where = f"kept in {path} (POLYMAT_CALIBRATE=off refuses)"
    tell_user("calibrate", f"measuring {parts}, for which there was no time before; {where}")
    store_calibration(known)  # before the work, which is not begun again that day whatever becomes of it
    end, whole = time.perf_counter() + _SECONDS, known if known.vectors else _with_loops(known)
    whole = whole if known.products else _with_products(whole, end)
    store_calibration(whole)
    _tell_missing(whole)


def _tell_missing(found: Calibration) -> None:
    """Say what is left to estimates."""
    if missing := missing_parts(found):
        told = f"found no time for {' and '.join(missing)}: `python -m polymat calibrate` measures all"
        tell_user("calibrate", told)


def _with_loops(known: Calibration) -> Calibration:
    """With what loops do beside multiply-adds, where times agree; estimates do without."""
    machine = probe()
    try:
        found = measure(machine, known.threads, effort=_effort(machine))
    except ToolchainError as error:
        _log.debug("loops were not measured: %s", error.message)
        return known
    return better_of(known, found)


def _measured_again(found: Calibration, machine: Machine, end: float) -> Calibration:
    """With the better of each figure and of another one, measured behind products, until then.

    Times that do not agree say nothing then: those that are known did.
    """
    left = end - time.perf_counter()
    if left < _LEAST_AGAIN:
        return found
    try:
        effort = replace(_effort(machine), seconds=min(SHORT.seconds, left / 2.0), most_seconds=left)
        again = measure_again(machine, found.threads, effort=effort)
    except Exception as error:
        _log.debug("not measured again: %s: %s", type(error).__name__, error)
        return found
    return better_of(found, again)


def _with_products(measured: Calibration, end: float) -> Calibration:
    """With times of whole products, where these can be had until then; prices do without."""
    try:
        found = blas_in_use()
        return with_products(measured, found, replace(TIMED, whole=end - time.perf_counter()))
    except Exception as error:
        _log.debug("products were not timed: %s: %s", type(error).__name__, error)
        return measured


def _effort(machine: Machine) -> Effort:
    """The short one, with memory enough that most of it is in no cache."""
    return replace(SHORT, memory=max(SHORT.memory, min(LONG.memory, 4 * machine.l3_bytes)))


def doubt(measured: Calibration, machine: Machine, others: float = 0.0) -> str:
    """Why one should rather decide by the estimates of `machine`; empty where nothing speaks against figures.

    They may be far from estimates, which is why one measures; but not as far as no processor is.
    others: processors that other processes used meanwhile, on average.
    """
    together = min(measured.threads, machine.cores)
    own = together * (_LEAST_SPEEDUP_BESIDE if others > _MUCH_USE else _LEAST_SPEEDUP)
    rates = [
        ("float32 arithmetic", measured.flops32, machine.peak_flops(4), own),
        ("float64 arithmetic", measured.flops64, machine.peak_flops(8), own),
    ]
    for level, (name, rate) in enumerate(zip(LEVELS, measured.read, strict=True), start=1):
        least = own if level in _PRIVATE else _LEAST_SHARED_SPEEDUP
        rates.append((f"reading from {name}", rate, machine.bandwidth(level), least))
    for name, rate, estimate, least in rates:
        if rate.one < _LEAST_SHARE * estimate:
            return f"{name} is {estimate / rate.one:.0f} times slower than estimated"
        if together > 1 and rate.all < least * rate.one:
            speedup = f"{rate.all / rate.one:.1f} times as fast on {together} cores as on one"
            return f"{name} is {speedup}, while others used {max(0.0, others):.1f}"
    return ""
