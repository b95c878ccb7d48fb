"""Control groups: the directories in which limits of this process stand, of both versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymat.machine.cgroups import group_directories, read_text


@pytest.mark.parametrize(
    ("membership", "found"),
    [
        ("0::/user/run\n", ["", "user", "user/run"]),
        ("0::/\n", [""]),
        ("5:cpu,cpuacct:/job\n", ["cpu,cpuacct", "cpu,cpuacct/job", "cpu", "cpu/job"]),
        ("4:memory:/job\n", []),
        ("0::/../other\n", [""]),  # outside what is mounted here
        ("", []),
        ("nonsense\n", [""]),
    ],
)
def test_directories_from_the_mount_down(membership: str, found: list[str], tmp_path: Path) -> None:
    file, mount = tmp_path / "cgroup", tmp_path / "mount"
    file.write_text(membership)
    assert list(group_directories("cpu", file, mount)) == [mount / part for part in found]


def test_no_file_is_no_group(tmp_path: Path) -> None:
    assert list(group_directories("cpu", tmp_path / "none", tmp_path)) == []
    assert read_text(tmp_path) == ""  # a directory
