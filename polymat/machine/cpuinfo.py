"""What the kernel says about the first processor."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

# The kernel lists one block a processor; the first is enough, and reading on costs time on every core.
_FIRST_BLOCK_BYTES = 8192


# The processor does not change while a process runs.
@lru_cache(maxsize=4)
def first_processor(path: Path = Path("/proc/cpuinfo")) -> Mapping[str, str]:
    """The fields of its block in `/proc/cpuinfo`; empty where there is none."""
    try:
        with path.open("rb", buffering=0) as stream:
            text = stream.read(_FIRST_BLOCK_BYTES).decode(errors="replace")
    except OSError:
        return {}
    fields: dict[str, str] = {}
    for line in text.split("\n\n", 1)[0].splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    return fields
