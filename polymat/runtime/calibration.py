"""The calibration of this machine: where it is kept, and the machine as it was measured."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from polymat.machine.calibrate import LEVELS, Calibration, Rate, load, store
from polymat.machine.keptfile import read_text, write_text
from polymat.machine.model import Machine
from polymat.machine.probe import probe
from polymat.machine.producttimes import speed_lines
from polymat.machine.twice import DIFFERS
from polymat.runtime.cachedir import directory_trusted
from polymat.runtime.cpu import native_cpu
from polymat.runtime.measurementfiles import keep_measured, measured_path
from polymat.runtime.settings import settings

# How long after a calibration that came to nothing none begins by itself: nobody waits for it again and
# again, and on another day the machine may be less busy.
_AGAIN_SECONDS = 86400.0
_MOST_REASON = 1000


def calibrated_machine() -> Machine:
    """This machine with the measured figures that are kept for it, or with estimates."""
    return probe().with_calibration(stored_calibration())


def fingerprint() -> str:
    """The processor that a calibration holds for: its model, its features and its private caches."""
    machine = probe()
    return f"{native_cpu()}|{machine.l1_bytes} {machine.l2_bytes}".replace("\t", " ")


def calibration_path() -> Path:
    """The file of this processor."""
    return measured_path("calibration", fingerprint())


def stored_calibration() -> Calibration | None:
    """The calibration measured on this processor; None when none was, or the cache is off."""
    path = calibration_path()
    if settings().cache_mode == "off" or not directory_trusted(path.parent):
        return None
    return load(path, fingerprint())


def store_calibration(calibration: Calibration) -> Path | None:
    """Keep a calibration and return its file; None when the cache is off or readonly."""
    return keep_measured(calibration_path(), lambda path: store(path, calibration))


def missing_parts(calibration: Calibration) -> tuple[str, ...]:
    """Names of the parts that a calibration which began by itself found no time for."""
    parts = (("loops", calibration.vectors), ("products", calibration.products))
    return tuple(name for name, found in parts if not found)


def lacks_parts_of_before(calibration: Calibration) -> bool:
    """Whether parts are missing for which there was no time on another day."""
    if not missing_parts(calibration):
        return False
    with suppress(OSError):
        return time.time() - os.stat(calibration_path()).st_mtime >= _AGAIN_SECONDS
    return False


def failure_path() -> Path:
    """The file that says why a calibration which began by itself came to nothing."""
    return calibration_path().with_suffix(".failed")


def keep_failure(reason: str) -> None:
    """Keep what `failed_lately` tells."""
    text = reason.encode("ascii", errors="replace").decode()[:_MOST_REASON]
    keep_measured(failure_path(), lambda path: write_text(path, text))


def failed_lately(*, least_seconds: float = 0.0) -> str:
    """Why the last calibration that began by itself came to nothing, for a day; empty when none did.

    least_seconds: it was kept so long ago at least.
    """
    path = failure_path()
    with suppress(OSError, ValueError):
        if not directory_trusted(path.parent):
            return ""
        if least_seconds <= time.time() - os.stat(path).st_mtime < _AGAIN_SECONDS:
            return read_text(path, most_bytes=2 * _MOST_REASON).strip()
    return ""


def calibration_lines(calibration: Calibration) -> tuple[str, ...]:
    """The figures for people, a line each."""
    threads = calibration.threads
    head = f"measured {calibration.date} with {calibration.compiler}, one thread"
    part = "" if calibration.blocks else "; in part: `python -m polymat calibrate` measures more"
    lines = [head + (f" and {threads}" if threads > 1 else "") + part]
    lines.append(_passes_line(calibration))
    if calibration.reach_bytes:
        lines.append(f"{calibration.reach_bytes / 2**20:.0f} MiB come as fast as from L3")
    if calibration.rows_rate:
        lines.append(f"memory  read {calibration.rows_rate / 1e9:7.1f} GB/s along several rows at a time")
    if calibration.pieces_rate:
        lines.append(f"memory  read {calibration.pieces_rate / 1e9:7.1f} GB/s along rows in pieces")
    if calibration.requests_gain:
        lines.append(f"tiles that ask for their next rows are {calibration.requests_gain:.2f} times as fast")
    for level, read, copy in zip(LEVELS, calibration.read, calibration.copy, strict=True):
        lines.append(f"{level:<7} read {_pair(read, threads)}  copy {_pair(copy, threads)} GB/s")
    for name, flops in (("float32", calibration.flops32), ("float64", calibration.flops64)):
        lines.append(f"{name:<7} peak {_pair(flops, threads)} GFLOP/s")
    cycles = calibration.fma_seconds * calibration.hertz
    lines.append(f"clock   {calibration.hertz / 1e9:.2f} GHz, FMA latency {cycles:.1f} cycles")
    for name, size in (("float32", 4), ("float64", 8)):
        rates = [rate for rate in calibration.blocks if rate.element_bytes == size]
        if rates:
            best = max(rates, key=lambda rate: rate.flops)
            shape = f"{best.rows} rows x {best.vectors} vectors"
            lines.append(f"{name:<7} register blocks {best.flops / 1e9:.1f} GFLOP/s at best ({shape})")
    lines.extend(_loop_lines(calibration))
    lines.extend(speed_lines(calibration.products))
    if threads > 1:
        awake, asleep = calibration.region_seconds * 1e6, calibration.wake_seconds * 1e6
        lines.append(f"region  {awake:.1f} us to enter and leave, {asleep:.1f} us when the threads sleep")
        if calibration.share_seconds:
            lines.append(
                f"sharing {calibration.share_seconds * 1e6:.1f} us with a page of data for each thread"
            )
    return tuple(lines)


def _passes_line(calibration: Calibration) -> str:
    """How often it was measured, and the figures of which the passes disagree."""
    if calibration.passes < 2:
        return "measured once: a busy minute would not be seen"
    head = "measured " + ("twice" if calibration.passes == 2 else f"{calibration.passes} times")
    if not calibration.differing:
        return f"{head}, alike"
    found = ", ".join(f"{each.name} {each.times:.2g}" for each in calibration.differing)
    return f"{head}; differed by more than {DIFFERS} times, the better is kept: {found}"


def _loop_lines(calibration: Calibration) -> Iterator[str]:
    """What loops do beside multiply-adds, in cycles."""
    for each in calibration.vectors:
        figures = zip(
            ("division", "shuffle", "every fifth", "gathered"),
            (each.division, each.shuffle, each.picked, each.gathered),
            strict=True,
        )
        told = ", ".join(f"{name} {seconds * calibration.hertz:.1f}" for name, seconds in figures)
        yield f"float{8 * each.element_bytes} cycles of a vector or an element: {told}"
    if calibration.pair_seconds:
        yield f"pairs   {calibration.pair_seconds * 1e9:.1f} ns more a vector of two rows side by side"
    if calibration.row_seconds:
        yield f"row     {calibration.row_seconds * 1e9:.1f} ns beside its vectors"
    for crossing in calibration.crossings:
        name = f"L{crossing.level}, vectors of {8 * crossing.vector_bytes} bits off the lines"
        yield f"{name}: {crossing.rate / 1e9:.1f} GB/s"


def _pair(rate: Rate, threads: int) -> str:
    one = f"{rate.one / 1e9:7.1f}"
    return f"{one} {rate.all / 1e9:7.1f}" if threads > 1 else one
