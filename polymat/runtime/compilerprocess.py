"""Running the C compiler: in a process group of its own, for so long, and ended with others."""

from __future__ import annotations

import logging
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext
from threading import Lock

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.runtime.processortime import group_seconds
from polymat.runtime.settings import compiler_environment

_log = logging.getLogger("polymat.runtime")
_PATIENCE_SECONDS = 10.0  # after which the log says what takes so long
# A compiler that has had less of the processor than it may take goes on for so many times as long, where it
# had some seconds of it since it was last looked at: one that hangs takes none.
_LONGEST, _LEAST_USED = 10, 0.05
INSTALL_HINT = 'install one ("apt install gcc", "dnf install gcc") or name it in POLYMAT_CC'


class TimeIsUpError(ToolchainError):
    """The compiler was stopped since the time was over that `limited` gave it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Give all that this thread compiles, and what is compiled for it meanwhile, so many seconds together.

    What would take longer is a `TimeIsUpError`.
    """
    before = _deadline()
    _thread.deadline = min(before, time.monotonic() + seconds)
    try:
        yield
    finally:
        _thread.deadline = before


def _deadline() -> float:
    """When whatever this thread runs is stopped."""
    found: float = getattr(_thread, "deadline", float("inf"))
    return found


class Together:
    """The compilers that run at the same time for one library: one that fails, or an interrupt, ends all.

    Their threads begin with `join`.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._deadline = _deadline()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def join(self) -> None:
        """Let what this thread runs from now on be one of them."""
        _thread.together = self
        _thread.deadline = self._deadline

    def end(self) -> None:
        """End those that run; no further one runs."""
        with self._lock:
            self._ended = True
            for process in self._processes:
                _kill_group(process)

    @contextmanager
    def running(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """While a process runs; `CancelledError` where all were ended meanwhile."""
        with self._lock:
            self._processes.add(process)
            if self._ended:
                _kill_group(process)
        try:
            yield
        finally:
            with self._lock:
                self._processes.discard(process)
        if self._ended:
            raise CancelledError


_thread = threading.local()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended; `returncode` None means that it was stopped for taking too long."""

    returncode: int | None
    text: str


def run_compiler(command: tuple[str, ...], timeout: float, place: str = "") -> Outcome:
    """Run a command in a process group of its own, so that nothing it started outlives it.

    timeout: seconds, of the processor where other programs leave it little.
    place: a directory for its temporary files, which goes with what it makes.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=compiler_environment(place),
            start_new_session=True,
        )
    except OSError as error:
        raise ToolchainError(
            f"cannot start the C compiler: {error}", command=command, hint=INSTALL_HINT
        ) from error
    together: Together | None = getattr(_thread, "together", None)
    left = max(0.0, _deadline() - time.monotonic())
    with nullcontext() if together is None else together.running(process):
        outcome = _outcome(process, timeout, left, command)
    if outcome.returncode is None and _deadline() <= time.monotonic():
        raise TimeIsUpError("the C compiler was stopped: the time that it was given is over", command=command)
    return outcome


def _outcome(
    process: subprocess.Popen[bytes], timeout: float, left: float, command: tuple[str, ...]
) -> Outcome:
    """How a process ends."""
    try:
        output = _patiently(process, timeout, left, command)
        returncode: int | None = process.returncode
    except subprocess.TimeoutExpired:
        _kill_group(process)
        output, _ = process.communicate()
        returncode = None
    except BaseException:
        _kill_group(process)
        process.communicate()
        raise
    return Outcome(returncode, output.decode(errors="replace"))


def _patiently(
    process: subprocess.Popen[bytes], timeout: float, left: float, command: tuple[str, ...]
) -> bytes:
    """What a process wrote until it ended; left: seconds that it may take, however busy the machine is."""
    begun, wait, before = time.monotonic(), min(timeout, left), 0.0
    if wait > _PATIENCE_SECONDS:
        try:
            return process.communicate(timeout=_PATIENCE_SECONDS)[0]
        except subprocess.TimeoutExpired:
            _log.warning(
                "the C compiler has been running for %g s, and is stopped after %g s%s: %s",
                _PATIENCE_SECONDS,
                wait,
                ", or later where the machine is busy" if wait < left else "",
                shlex.join(command),
            )
            wait -= _PATIENCE_SECONDS
            before = group_seconds(process.pid)
    while True:
        try:
            return process.communicate(timeout=wait)[0]
        except subprocess.TimeoutExpired:
            passed, used = time.monotonic() - begun, group_seconds(process.pid)
            is_slowed = used < timeout and used - before >= _LEAST_USED
            if passed >= min(left, _LONGEST * timeout) or not is_slowed:
                raise
            wait, before = min(_PATIENCE_SECONDS, left - passed), used


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
