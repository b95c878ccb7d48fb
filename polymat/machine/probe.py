"""The machine this process runs on, as the kernel describes it, with plausible values for what is missing."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from polymat.machine.cachesizes import (
    CacheSharing,
    FoundCaches,
    caches_of_the_c_library,
    cpu_list,
    read_caches,
    read_line,
    with_caches,
)
from polymat.machine.cpuinfo import first_processor
from polymat.machine.cpus import affinity, usable_cpus
from polymat.machine.model import Machine
from polymat.machine.recognise import recognise

_CPU_ROOT = Path("/sys/devices/system/cpu")
_PLAUSIBLE_HERTZ = (8e8, 7e9)


# The machine does not change while a process runs.
@lru_cache(maxsize=1)
def probe() -> Machine:
    """This machine; asked once a process."""
    asked = caches_of_the_c_library()
    return machine_from(first_processor(), _CPU_ROOT, platform.machine(), affinity(), usable_cpus(), asked)


def machine_from(
    cpuinfo: Mapping[str, str],
    root: Path,
    architecture: str,
    cpus: frozenset[int],
    usable: int,
    asked: Mapping[int, FoundCaches] | None = None,
) -> Machine:
    """The machine that these files describe.

    cpuinfo: fields of the first processor; root: the `cpu` directory of sysfs; cpus: those this process may
    run on; usable: how many of them it may use at once; asked: caches by the C library, where sysfs has none.
    """
    row = recognise(cpuinfo, architecture)
    directory = root / f"cpu{min(cpus, default=0)}"
    siblings = cpu_list(read_line(directory / "topology" / "thread_siblings_list")) & cpus
    threads = max(1, len(siblings))
    cores = max(1, min(usable, -(-len(cpus) // threads)))
    sharing = CacheSharing(max(1, len(cpus)), threads, cores)
    hertz = _hertz(cpuinfo, directory, row.hertz)
    scale = hertz / row.hertz
    return replace(
        with_caches(row, read_caches(directory / "cache"), asked or {}, sharing),
        name=_name(cpuinfo, architecture),
        cores=cores,
        hertz=hertz,
        l1_bandwidth=row.l1_bandwidth * scale,
        l2_bandwidth=row.l2_bandwidth * scale,
        l3_bandwidth=row.l3_bandwidth * scale,
        memory_bandwidth_total=min(cores * row.memory_bandwidth, row.memory_bandwidth_total),
    )


def _hertz(cpuinfo: Mapping[str, str], directory: Path, row: float) -> float:
    """The highest clock the kernel knows of, else that of the table's row or of the moment, the higher one.

    A virtual machine always shows the clock that a processor is sold with, and runs at what it rises to.
    """
    highest = _clock(read_line(directory / "cpufreq" / "cpuinfo_max_freq"), 1e3)
    return highest or max(_clock(cpuinfo.get("cpu MHz", ""), 1e6), row)


def _clock(text: str, unit: float) -> float:
    """A clock in hertz, or 0 where a text is none."""
    low, high = _PLAUSIBLE_HERTZ
    hertz = float(text) * unit if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII) else 0.0
    return hertz if low <= hertz <= high else 0.0


def _name(cpuinfo: Mapping[str, str], architecture: str) -> str:
    for key in ("model name", "cpu model", "Processor"):
        if cpuinfo.get(key):
            return cpuinfo[key]
    part = " ".join(cpuinfo[key] for key in ("CPU implementer", "CPU part") if cpuinfo.get(key))
    return f"{architecture} {part}".strip()
