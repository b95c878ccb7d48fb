"""How much memory of freed results is kept for new ones; the keeping is in `_launch_recycle.c`."""

from __future__ import annotations

from polymat.machine.memory import total_memory
from polymat.runtime.settings import settings

# Of the memory: the system takes back what is kept when it has none left, most of it at least.
_SHARE = 8


def kept_limit() -> int:
    """The most bytes to keep: POLYMAT_KEEP_LIMIT, else an eighth of the memory this process may use.

    0 under tools that watch every access: they know where an array ends that was freed and allocated.
    """
    asked = settings()
    if asked.keep_limit_bytes is not None:
        return asked.keep_limit_bytes
    return 0 if asked.memory_checker else total_memory() // _SHARE
