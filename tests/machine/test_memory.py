"""Memory that may still be taken, in made-up containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymat.machine.memory import available_memory, total_memory
from tests.machine.test_probe import write

MEMINFO = "MemTotal:       8000000 kB\nMemFree:         100000 kB\nMemAvailable:    4000000 kB"


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("0::/", {}, 4_096_000_000),
        ("0::/", {"memory.max": "max", "memory.current": "5"}, 4_096_000_000),
        ("0::/a", {"a/memory.max": "1000000", "a/memory.current": "400000"}, 600_000),
        ("0::/a/b", {"a/memory.max": "1000000", "a/b/memory.max": "2000000"}, 1_000_000),
        ("0::/", {"memory.max": "1000", "memory.current": "4000"}, 0),
        (
            "4:memory:/x",
            {"memory/x/memory.limit_in_bytes": "900000", "memory/x/memory.usage_in_bytes": "100000"},
            800_000,
        ),
        ("4:memory:/x", {"memory/x/memory.limit_in_bytes": str(2**63 - 4096)}, 4_096_000_000),
        ("4:cpu:/x", {"cpu/x/memory.limit_in_bytes": "1"}, 4_096_000_000),
        ("nonsense", {"memory.max": "-1"}, 4_096_000_000),
    ],
)
def test_limits(membership: str, files: dict[str, str], expected: int, tmp_path: Path) -> None:
    write(tmp_path, {"cgroup": membership, "meminfo": MEMINFO})
    room = available_memory(tmp_path / "meminfo", tmp_path / "cgroup", write(tmp_path / "fs", files))
    assert room == expected


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("0::/", {}, 8_192_000_000),
        ("0::/a", {"a/memory.max": "1000000", "a/memory.current": "400000"}, 1_000_000),
        ("4:memory:/x", {"memory/x/memory.limit_in_bytes": "900000"}, 900_000),
        ("nonsense", {"memory.max": "max"}, 8_192_000_000),
    ],
)
def test_all_there_is(membership: str, files: dict[str, str], expected: int, tmp_path: Path) -> None:
    write(tmp_path, {"cgroup": membership, "meminfo": MEMINFO})
    most = total_memory(tmp_path / "meminfo", tmp_path / "cgroup", write(tmp_path / "fs", files))
    assert most == expected


def test_nothing_is_known(tmp_path: Path) -> None:
    assert total_memory(tmp_path / "a", tmp_path / "b", tmp_path) == 1 << 30
    assert available_memory(tmp_path / "a", tmp_path / "b", tmp_path) == 1 << 30


def test_this_machine() -> None:
    assert available_memory() > 1 << 20
