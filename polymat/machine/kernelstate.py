"""What the kernel says about this process and about what runs beside it."""

from __future__ import annotations

import os
from pathlib import Path

from polymat.machine.cgroups import read_text
from polymat.machine.cpus import affinity

_FORKED_WITHOUT_EXEC = 0x40  # PF_FORKNOEXEC of the kernel
_FLAGS = 6  # of the fields of /proc/self/stat behind the name, which may hold spaces
_IDLE = (3, 4)  # of the times of a processor: idle, and waiting for a disk
_GUESTS = 8  # times from here on are counted among the others already


def was_forked(stat: Path = Path("/proc/self/stat")) -> bool:
    """Whether this process is a copy of another one's memory, and runs no program of its own.

    Teams of threads that the other one had are not there, though the memory says so.
    """
    fields = read_text(stat).rpartition(")")[2].split()
    return (
        len(fields) > _FLAGS and fields[_FLAGS].isdigit() and bool(int(fields[_FLAGS]) & _FORKED_WITHOUT_EXEC)
    )


def others_seconds(stat: Path = Path("/proc/stat")) -> float:
    """Seconds since long ago for which others used the processors of this process; 0.0 where nobody says."""
    ours = {f"cpu{number}" for number in affinity()}
    lines = [line.split() for line in read_text(stat).splitlines() if line.startswith("cpu")]
    busy = sum(_busy(fields[1 : 1 + _GUESTS]) for fields in lines if fields[0] in ours)
    own = os.times()
    return busy / os.sysconf("SC_CLK_TCK") - own.user - own.system - own.children_user - own.children_system


def _busy(times: list[str]) -> int:
    return sum(int(ticks) for number, ticks in enumerate(times) if number not in _IDLE and ticks.isdigit())
