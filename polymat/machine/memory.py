"""How much memory this process may still take, by the kernel and by its control groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from polymat.machine.cgroups import MEMBERSHIP, MOUNT, group_directories, read_text

_UNKNOWN_BYTES = 1 << 30
_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))


def available_memory(
    meminfo: Path = Path("/proc/meminfo"), membership: Path = MEMBERSHIP, mount: Path = MOUNT
) -> int:
    """Bytes that can be allocated and used without reaching a limit; a plausible number if nothing says."""
    free = [*_stated("MemAvailable", meminfo)]
    free += [room for path in group_directories("memory", membership, mount) for room in _room(path)]
    return max(0, min(free, default=_UNKNOWN_BYTES))


def total_memory(
    meminfo: Path = Path("/proc/meminfo"), membership: Path = MEMBERSHIP, mount: Path = MOUNT
) -> int:
    """Bytes that this process may use if nobody else takes any; a plausible number if nothing says."""
    limits = [*_stated("MemTotal", meminfo)]
    for directory in group_directories("memory", membership, mount):
        texts = [read_text(directory / limit).strip() for limit, _ in _FILES]
        limits += [int(text) for text in texts if text.isdigit()]
    return min(limits, default=_UNKNOWN_BYTES)


def _stated(name: str, meminfo: Path) -> Iterator[int]:
    matched = re.search(rf"^{name}:\s*(\d+) kB$", read_text(meminfo), re.MULTILINE)
    if matched:
        yield int(matched[1]) << 10


def _room(directory: Path) -> Iterator[int]:
    for limit, usage in _FILES:
        most, used = read_text(directory / limit).strip(), read_text(directory / usage).strip()
        if most.isdigit():
            yield int(most) - (int(used) if used.isdigit() else 0)
