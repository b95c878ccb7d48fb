"""The processor time of programs that run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROCESSES = Path("/proc")
# The group of a process among the words behind its name in `stat`, and the ticks that it had: in user and
# system mode, of itself and of children that have ended.
_GROUP, _TICKS = 2, slice(11, 15)


def group_seconds(group: int) -> float:
    """Seconds of the processor that a process group has had so far; 0 where the system does not say."""
    ticks = sum(sum(map(int, words[_TICKS])) for words in _running() if words[_GROUP] == str(group))
    return ticks / os.sysconf("SC_CLK_TCK")


def _running() -> Iterator[list[str]]:
    """What the system says of each process, behind its name, in which there may be anything."""
    try:
        names = os.listdir(_PROCESSES)
    except OSError:
        return
    for name in filter(str.isdigit, names):
        try:
            text = (_PROCESSES / name / "stat").read_text(errors="replace")
        except OSError:  # it has ended
            continue
        yield text.rpartition(")")[2].split()
