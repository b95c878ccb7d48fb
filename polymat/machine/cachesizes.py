"""The data caches as sysfs describes them, or the C library, or the table; no further than is plausible."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from polymat.dataclass import dataclass
from polymat.machine.model import Machine

_KIB, _MIB = 1 << 10, 1 << 20
_UNITS = {"": 1, "K": _KIB, "M": _MIB, "G": 1 << 30}
_LEAST_L1, _MOST_L1 = 4 * _KIB, 512 * _KIB
_MOST_L2_PER_CORE = 4 * _MIB
# A virtual machine may report the whole host's last level, 480 MB for two cores say, and neighbours fill it.
_MOST_L3_PER_CORE = 4 * _MIB
_MOST_WAYS = 128
# _SC_LEVEL1_DCACHE_SIZE of glibc; associativity and line size follow it, then the next levels.
_SYSCONF_FIRST = 188


@dataclass(frozen=True, slots=True)
class FoundCaches:
    """One level as it was read: sharers is how many processors have it together, 0 if that is not known."""

    bytes: int
    ways: int = 0
    line_bytes: int = 0
    sharers: int = 0


@dataclass(frozen=True, slots=True)
class CacheSharing:
    """Who uses the caches: processors of this process, threads of one core, cores it may keep busy."""

    cpus: int
    threads: int
    cores: int


def read_caches(directory: Path) -> dict[int, FoundCaches]:
    """Data and unified caches by level, from the `cache` directory of a processor in sysfs."""
    found: dict[int, FoundCaches] = {}
    for index in range(8):
        entry = directory / f"index{index}"
        level, size = read_line(entry / "level"), _bytes(read_line(entry / "size"))
        if not level:
            break
        if read_line(entry / "type") == "Instruction" or level not in ("1", "2", "3"):
            continue
        found[int(level)] = FoundCaches(
            size,
            _count(read_line(entry / "ways_of_associativity")),
            _count(read_line(entry / "coherency_line_size")),
            len(cpu_list(read_line(entry / "shared_cpu_list"))),
        )
    return found


def caches_of_the_c_library() -> dict[int, FoundCaches]:
    """The caches that glibc knows from the processor itself; empty on other systems."""
    if platform.libc_ver()[0] != "glibc":
        return {}
    try:
        values = [os.sysconf(_SYSCONF_FIRST + offset) for offset in range(9)]
    except (OSError, ValueError):
        return {}
    levels = (values[at : at + 3] for at in (0, 3, 6))
    return {
        level: FoundCaches(max(0, size), max(0, ways), max(0, line))
        for level, (size, ways, line) in enumerate(levels, 1)
    }


def with_caches(
    row: Machine, read: Mapping[int, FoundCaches], asked: Mapping[int, FoundCaches], sharing: CacheSharing
) -> Machine:
    """A row of the table with the caches that are here.

    read: from sysfs; asked: from the C library; what neither tells stays as in the row.
    """
    l1, l2, l3 = (_first(read.get(n), asked.get(n)) for n in (1, 2, 3))
    l1_bytes = _at_least(_private(l1, sharing) or row.l1_bytes, _LEAST_L1)
    if l1_bytes > _MOST_L1:
        l1_bytes = row.l1_bytes
    l2_bytes = _at_least(min(_private(l2, sharing) or row.l2_bytes, _MOST_L2_PER_CORE), 2 * l1_bytes)
    l3_bytes = _last_level(l3, sharing) if l2.bytes else row.l3_bytes * sharing.cores // row.cores
    return replace(
        row,
        l1_bytes=l1_bytes,
        l2_bytes=l2_bytes,
        l3_bytes=_at_least(min(l3_bytes, _MOST_L3_PER_CORE * sharing.cores), l2_bytes),
        l1_ways=_ways(l1, row.l1_ways),
        l2_ways=_ways(l2, row.l2_ways),
        l3_ways=_ways(l3, row.l3_ways),
        line_bytes=_line(l1, row.line_bytes),
    )


def cpu_list(text: str) -> frozenset[int]:
    """The numbers of a list such as "0-3,8"; empty when it is anything else."""
    numbers: set[int] = set()
    for part in text.split(","):
        matched = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if matched is None or int(matched[2] or matched[1]) > 1 << 20:
            return frozenset()
        numbers.update(range(int(matched[1]), int(matched[2] or matched[1]) + 1))
    return frozenset(numbers)


def read_line(path: Path) -> str:
    """The text of a small file of the kernel; empty where there is none."""
    try:
        with path.open("rb", buffering=0) as stream:
            return stream.read(4096).decode(errors="replace").strip()
    except OSError:
        return ""


def _first(*found: FoundCaches | None) -> FoundCaches:
    return next((cache for cache in found if cache is not None and cache.bytes), FoundCaches(0))


def _private(found: FoundCaches, sharing: CacheSharing) -> int:
    """What one core has of a cache that it may share with a cluster of others."""
    return found.bytes // max(1, found.sharers // sharing.threads)


def _last_level(found: FoundCaches, sharing: CacheSharing) -> int:
    """Several such caches, one a cluster of cores, count as far as the processors of this process reach."""
    clusters = -(-sharing.cpus // found.sharers) if found.sharers else 1
    return found.bytes * max(1, clusters)


def _ways(found: FoundCaches, fallback: int) -> int:
    return found.ways if 1 <= found.ways <= _MOST_WAYS else fallback


def _line(found: FoundCaches, fallback: int) -> int:
    size = found.line_bytes
    return size if 16 <= size <= 512 and size & (size - 1) == 0 else fallback


def _at_least(value: int, least: int) -> int:
    return max(value, least)


def _bytes(text: str) -> int:
    matched = re.fullmatch(r"(\d+)([KMG]?)", text)
    return int(matched[1]) * _UNITS[matched[2]] if matched else 0


def _count(text: str) -> int:
    return int(text) if text.isdigit() and len(text) < 9 else 0
