"""The process of one peer: answers requests on a socket until the other end closes.

    python -m benchmarks.worker SOCKET

Requests are ("load", "module:function"), ("prepare", task) and ("round", seconds); answers are a verdict,
"done", "missing" or "failed", with a value or a text.  Needs NumPy alone, so that it runs in the peers'
environment.
"""

from __future__ import annotations

import ctypes
import importlib
import signal
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.task import MissingError, Prepared, Ready

BATCH_SECONDS = 20e-6
MOST_BATCHES = 50
_PR_SET_PDEATHSIG = 1


class Server:
    """The state of a worker: the peer's function, and what it prepared last."""

    def __init__(self) -> None:
        self._prepare: Callable[[Any], Prepared] | None = None
        self._prepared: Prepared | None = None
        self._estimate = 0.0

    def load(self, path: str) -> None:
        """Import the peer, "module:function"."""
        module, _, function = path.partition(":")
        self._prepare = getattr(importlib.import_module(module), function)

    def prepare(self, task: Any) -> Ready:
        """Prepare a task and call it once."""
        assert self._prepare is not None, "prepare before load"
        self._prepared = None  # frees the previous task first
        begin = time.perf_counter()
        prepared = self._prepare(task)
        between = time.perf_counter()
        result = prepared.call()
        end = time.perf_counter()
        self._prepared, self._estimate = prepared, end - between
        return Ready(result, prepared.note, between - begin, end - between, prepared.predicted)

    def round(self, seconds: float) -> float:
        """Median seconds per call over about `seconds`, in batches long enough for the clock.

        Where calls are short, one that does not count goes first.
        """
        assert self._prepared is not None, "round before prepare"
        timed = self._prepared.repeat or _repeat(self._prepared.call)
        if self._estimate < seconds:
            self._estimate = timed(1)
        size = max(1, round(BATCH_SECONDS / max(self._estimate, 1e-9)))
        batches = max(1, min(MOST_BATCHES, int(seconds / max(self._estimate * size, 1e-9))))
        self._estimate = statistics.median(timed(size) / size for _ in range(batches))
        return self._estimate

    def answer(self, verb: str, argument: Any) -> tuple[str, Any]:
        """Do what is asked; what goes wrong becomes a text."""
        try:
            return "done", getattr(self, verb)(argument)
        except (MissingError, ModuleNotFoundError) as error:
            return "missing", str(error)
        except Exception:
            return "failed", traceback.format_exc()


def _repeat(call: Callable[[], Any]) -> Callable[[int], float]:
    def timed(count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        return time.perf_counter() - begin

    return timed


def die_with_parent() -> None:
    """Have the kernel end this process, stopped or not, when the one that started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main() -> None:
    """Answer until the other end closes."""
    die_with_parent()
    connection = Connection(int(sys.argv[1]))
    server = Server()
    while True:
        try:
            verb, argument = connection.recv()
        except EOFError:
            return
        connection.send(server.answer(verb, argument))


if __name__ == "__main__":
    main()
