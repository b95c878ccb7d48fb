"""The machine, the compiler and the day, without which no figure means anything."""

from __future__ import annotations

import datetime
import os
import platform

from polymat.machine.model import Machine
from polymat.runtime.toolchain import compiler_version, find_compiler


def header(machine: Machine) -> str:
    """What stands above tables of figures."""
    limits = "calibrated" if machine.calibration else "estimated: `python -m polymat calibrate` measures them"
    lines = [
        f"- date: {datetime.date.today().isoformat()}",
        f"- machine: {machine.name}, {machine.cores} cores, {machine.vector_bits}-bit vectors, "
        f"L1d {machine.l1_bytes >> 10} KiB, L2 {machine.l2_bytes >> 10} KiB, L3 {machine.l3_bytes >> 20} MiB",
        f"- compiler: {compiler_version(find_compiler())}; Python {platform.python_version()}",
        f"- limits: {limits}",
        f"- load: {os.getloadavg()[0]:.1f} when the run began",
    ]
    return "\n".join(lines)
