"""How many processors this process may use: its affinity and the CPU quota of its control groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from polymat.machine.cgroups import MEMBERSHIP, MOUNT, group_directories, read_text


def usable_cpus() -> int:
    """Processors in the affinity mask, but no more than the CPU quota rounded up."""
    available = len(affinity())
    quota = cpu_quota()
    return available if quota is None else max(1, min(available, -int(-quota // 1)))


def affinity() -> frozenset[int]:
    """The processors this process may run on."""
    try:
        return frozenset(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return frozenset(range(os.cpu_count() or 1))


def cpu_quota(membership: Path = MEMBERSHIP, mount: Path = MOUNT) -> float | None:
    """Processors' worth of time that the control groups (version 1 or 2) allow; None without a limit.

    membership: lists the groups of this process; mount: where the hierarchies are mounted.
    """
    directories = group_directories("cpu", membership, mount)
    return min((quota for directory in directories for quota in _quotas(directory)), default=None)


def _quotas(directory: Path) -> Iterator[float]:
    fields = read_text(directory / "cpu.max").split()
    if len(fields) != 2:
        fields = [
            *read_text(directory / "cpu.cfs_quota_us").split(),
            *read_text(directory / "cpu.cfs_period_us").split(),
        ]
    if len(fields) == 2 and fields[0].isdigit() and fields[1].isdigit():
        quota, period = int(fields[0]), int(fields[1])
        if quota > 0 and period > 0:
            yield quota / period
