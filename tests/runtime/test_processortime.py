"""What a process group had of the processor, with its children."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest

from polymat.runtime.processortime import group_seconds


@pytest.mark.parametrize(("body", "works"), [("while :; do :; done", True), ("sleep 600", False)])
def test_children_that_work_and_that_sleep(body: str, works: bool) -> None:
    process = subprocess.Popen(["sh", "-c", f"({body}); true"], start_new_session=True)
    try:
        deadline = time.monotonic() + (60 if works else 0.5)
        while group_seconds(process.pid) < 0.2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert (group_seconds(process.pid) >= 0.2) == works
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
