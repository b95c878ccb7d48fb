"""The control groups (version 1 or 2) this process is in: the files in which limits stand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MEMBERSHIP = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")


def group_directories(controller: str, membership: Path = MEMBERSHIP, mount: Path = MOUNT) -> Iterator[Path]:
    """Every directory of a group that may limit this process, from the mount point down.

    controller: "cpu" or "memory"; membership: lists the groups; mount: where the hierarchies are mounted.
    """
    for line in read_text(membership).splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and controller not in controllers.split(","):
            continue
        roots = [mount] if not controllers else [mount / controllers, mount / controller]
        inner = PurePosixPath(path.lstrip("/"))
        for root in roots:
            for part in (*reversed(inner.parents), inner):
                if ".." not in part.parts:
                    yield root / part


def read_text(path: Path) -> str:
    """The text of a file; empty where it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
