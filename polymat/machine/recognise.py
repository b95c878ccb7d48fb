"""Which known machine a processor is, by what the kernel says of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from polymat.machine.known import APPLE, APPLE_IMPLEMENTER, GENERIC, GENERIC_ARM, SKYLAKE_AVX512, TABLE
from polymat.machine.model import Machine


def recognise(cpuinfo: Mapping[str, str], architecture: str) -> Machine:
    """The row of the table that a processor belongs to or a generic one, with the vectors it has here."""
    features = frozenset(cpuinfo.get("flags", cpuinfo.get("Features", "")).split())
    row = _row(cpuinfo, features)
    if architecture in ("aarch64", "arm64"):
        if row is None:
            row = APPLE if cpuinfo.get("CPU implementer") == APPLE_IMPLEMENTER else GENERIC_ARM
        return row
    known = features if "flags" in cpuinfo else frozenset({"fma"})
    return _with_vectors(row or _unknown_x86(features), known)


def narrowed(machine: Machine, features: Collection[str]) -> Machine:
    """A machine whose code may use no more of its vectors than these features have; "avx512f", "avx", "fma".

    What was measured with all of them says nothing of narrower ones.
    """
    found = _with_vectors(machine, features)
    fewer = found.vector_bits < machine.vector_bits or found.fma_units < machine.fma_units
    return replace(found, calibration=None) if fewer else machine


def _row(cpuinfo: Mapping[str, str], features: frozenset[str]) -> Machine | None:
    vendor = cpuinfo.get("vendor_id", cpuinfo.get("CPU implementer", ""))
    family = _integer(cpuinfo.get("cpu family", cpuinfo.get("CPU part", "")))
    model = _integer(cpuinfo.get("model", ""))
    for row in TABLE:
        if (row.vendor, row.family) != (vendor, family) or (row.feature and row.feature not in features):
            continue
        if not row.models or any(model in numbers for numbers in row.models):
            return row.machine
    return None


def _unknown_x86(features: frozenset[str]) -> Machine:
    """The oldest of the processors that have its vectors: what is said of it is true of newer ones."""
    return replace(SKYLAKE_AVX512, microarchitecture="generic") if "avx512f" in features else GENERIC


def _with_vectors(row: Machine, features: Collection[str]) -> Machine:
    """The row with the vectors that the kernel reports: a virtual machine may hide the wide ones."""
    bits, registers = 128, 16
    if "avx512f" in features:
        bits, registers = 512, 32
    elif "avx" in features:
        bits = 256
    units = row.fma_units
    if bits < row.vector_bits:
        units = 2  # every processor with 512-bit vectors has two units of 256
    if "fma" not in features:
        units = 1  # a multiplication and an addition a cycle make one multiply-add
    bandwidth = row.l1_bandwidth * min(1.0, bits / row.vector_bits)
    return replace(row, vector_bits=bits, vector_registers=registers, fma_units=units, l1_bandwidth=bandwidth)


def _integer(text: str) -> int:
    """A decimal or hexadecimal number; -1 for anything else."""
    try:
        return int(text, 0)
    except ValueError:
        return -1
