"""What Linux says of the memory of this process."""

from __future__ import annotations

from pathlib import Path


def lazily_freed(address: int) -> int:
    """Bytes of the mapping with that address that the system may take."""
    inside, found = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in (first := line.split()[0]):
            low, high = (int(end, 16) for end in first.split("-"))
            inside = low <= address < high
        elif inside and line.startswith("LazyFree:"):
            found += int(line.split()[1]) << 10
    return found
