"""What the kernel says about this process and others, read from files that a test writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polymat.machine import kernelstate
from polymat.machine.kernelstate import others_seconds, was_forked


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # pytest has threads
def test_a_forked_child_knows_it() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if was_forked() else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("text", "forked"),
    [
        ("12 (py) R 1 2 3 4 5 4194368 0", True),
        ("12 (a) b) R 1 2 3 4 5 4194304 0", False),
        ("12 (py) R 1 2", False),
        ("", False),
    ],
)
def test_forked_by_what_the_kernel_wrote(tmp_path: Path, text: str, forked: bool) -> None:
    file = tmp_path / "stat"
    file.write_text(text)
    assert was_forked(file) == forked


def test_what_others_use_of_these_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernelstate, "affinity", lambda: frozenset({0, 2}))
    monkeypatch.setattr(os, "times", lambda: os.times_result((1.0, 0.5, 0.25, 0.25, 9.0)))
    tick = os.sysconf("SC_CLK_TCK")
    file = tmp_path / "stat"
    times = f"{2 * tick} {tick} 0 {100 * tick} {100 * tick} 0 0 {tick} 0 0"
    file.write_text(f"cpu 5 5 5\ncpu0 {times}\ncpu1 {times}\ncpu2 {times}\nintr 7\n")
    assert others_seconds(file) == pytest.approx(2 * 4.0 - 2.0)


def test_no_file_says_nothing(tmp_path: Path) -> None:
    assert others_seconds(tmp_path / "none") <= 0.0
