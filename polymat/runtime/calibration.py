"""The calibration of this machine: where it is kept, and the machine as it was measured."""

from __future__ import annotations

from pathlib import Path

from polymat.machine.calibrate import LEVELS, Calibration, Rate, load, store
from polymat.machine.model import Machine
from polymat.machine.probe import probe
from polymat.runtime.cachedir import directory_trusted
from polymat.runtime.cpu import native_cpu
from polymat.runtime.measurementfiles import keep_measured, measured_path
from polymat.runtime.settings import settings


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


def calibration_lines(calibration: Calibration) -> tuple[str, ...]:
    """The figures for people, a line each."""
    threads = calibration.threads
    head = f"measured {calibration.date} with {calibration.compiler}, one thread"
    lines = [head + (f" and {threads}" if threads > 1 else "")]
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
    if threads > 1:
        awake, asleep = calibration.region_seconds * 1e6, calibration.wake_seconds * 1e6
        lines.append(f"region  {awake:.1f} us to enter and leave, {asleep:.1f} us when the threads sleep")
    return tuple(lines)


def _pair(rate: Rate, threads: int) -> str:
    one = f"{rate.one / 1e9:7.1f}"
    return f"{one} {rate.all / 1e9:7.1f}" if threads > 1 else one
