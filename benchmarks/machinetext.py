"""The machine, the compiler and the day, without which no figure means anything."""

from __future__ import annotations

import datetime
import os
import platform

import polymat
from polymat.machine.model import Machine
from polymat.runtime.toolchain import compiler_version, find_compiler


def about(machine: Machine) -> dict[str, str]:
    """What is to be known of the conditions of a run, by what it is."""
    caches = (
        f"L1d {machine.l1_bytes >> 10} KiB, L2 {machine.l2_bytes >> 10} KiB, L3 {machine.l3_bytes >> 20} MiB"
    )
    estimated = "estimated: `python -m polymat calibrate` measures them"
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{machine.name} ({machine.microarchitecture}), {machine.cores} cores, "
        f"{machine.vector_bits}-bit vectors, {caches}",
        "compiler": f"{compiler_version(find_compiler())}; Python {platform.python_version()}",
        "polymat": polymat.__version__,
        "limits": "calibrated" if machine.calibration else estimated,
        "load": f"{os.getloadavg()[0]:.1f} when the run began",
    }


def header(machine: Machine) -> str:
    """What stands above tables of figures."""
    return "\n".join(f"- {what}: {text}" for what, text in about(machine).items())
