"""What is said while a compilation takes long."""

from __future__ import annotations

import io
import logging
import sys
import threading
import time

import pytest

from polymat.runtime import logs
from polymat.runtime.logs import SlowCompile


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_SLOW_SECONDS", 0.05)


def test_a_slow_compilation_says_where_it_is(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with caplog.at_level(logging.INFO, logger="polymat.compile"), SlowCompile("blur") as slow:
        slow.last = "source"
        while not terminal.getvalue():
            time.sleep(0.01)
    (said,) = caplog.messages
    assert said == "blur: compiling takes longer than 0 s, waiting for the C compiler"
    assert terminal.getvalue() == f"polymat: {said}\r\x1b[K"


def test_a_file_gets_no_line(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with caplog.at_level(logging.INFO, logger="polymat.compile"), SlowCompile("blur"):
        while not caplog.messages:
            time.sleep(0.01)
    assert file.getvalue() == ""


def test_a_quick_one_says_nothing_and_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_SLOW_SECONDS", 60.0)
    before = threading.active_count()
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with SlowCompile("blur") as slow:
        pass
    slow._timer.join()
    assert (threading.active_count(), terminal.getvalue()) == (before, "")


def test_without_threads_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with SlowCompile("blur"):
        pass
