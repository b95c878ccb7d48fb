"""Times several ways of computing the same thing, each in a process of its own, in interleaved rounds.

Two thread pools in one process spin against each other, and the speed of a shared machine drifts: so every
peer lives in a worker process that is stopped while it is not asked, the workers are asked for rounds in
turn, and compared round by round.

    with Worker(Peer("NumPy", "module:function")) as a, Worker(Peer("polymat", ...)) as b:
        a.prepare(task), b.prepare(task)
        first, second = interleave([a, b], seconds=4.0)
        print(first.seconds, second.seconds, ratio(first, second))
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from multiprocessing import Pipe
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.task import Ready

ROOT = Path(__file__).resolve().parents[1]
ROUND_SECONDS = 0.06
PATIENCE = (
    5.0  # times as long as the rounds of a case should take, for three of them: fewer say nothing of noise
)
ANSWER_SECONDS = 600.0
LOG_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Peer:
    """One way of computing tasks.

    prepare: "module:function", imported in the worker and called with the task (which is pickled).
    environment: variables set before the worker starts, and so before it loads any library.
    python: the interpreter of the worker; this one when empty.
    root: the checkout that it runs in; this one when empty.
    """

    name: str
    prepare: str
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    root: str = ""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call of one peer, one number per round.

    counts: how many of the rounds each visit had, in processes of its own; of one visit alone ().
    """

    peer: str
    rounds: tuple[float, ...]
    counts: tuple[int, ...] = ()

    @property
    def seconds(self) -> float:
        """The median round."""
        return statistics.median(self.rounds)

    @property
    def by_visit(self) -> tuple[float, ...]:
        """The median round of each visit."""
        ends = (*accumulate(self.counts or (len(self.rounds),), initial=0),)
        return tuple(statistics.median(self.rounds[begin:end]) for begin, end in pairwise(ends))

    def with_visit(self, later: Timing) -> Timing:
        """These rounds and those of a later visit."""
        counts = (*(self.counts or (len(self.rounds),)), len(later.rounds))
        return Timing(self.peer, (*self.rounds, *later.rounds), counts)


class PeerError(RuntimeError):
    """A peer failed at what it was asked; the text is its traceback."""


class PeerMissingError(PeerError):
    """A peer is not installed here, or has no way to do what it was asked; the text says which."""


class PeerSlowError(PeerError):
    """A peer did not answer in the time that it was given; the text says how long that was."""


def ratio(base: Timing, other: Timing) -> float:
    """How many times faster `other` is than `base`: the median over rounds of their quotients.

    A peer that left early, being far behind, is compared over the rounds it took part in.
    """
    return statistics.median(b / o for b, o in zip(base.rounds, other.rounds, strict=False))


# They make OpenBLAS use the kernels of another processor, or other block sizes than its own.
_FOREIGN = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def _environment(peer: Peer) -> dict[str, str]:
    """What a worker is started with: every library chooses its own kernels."""
    inherited = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return {**inherited, **peer.environment}


class Worker:
    """A peer in a process of its own; a context manager, the process ends with the block."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        python = peer.python or sys.executable
        if not Path(python).exists():
            raise PeerMissingError(f"{peer.name}: its Python is not here; `make peers` installs it")
        self._connection, theirs = Pipe()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", str(theirs.fileno())],
            cwd=peer.root or ROOT,
            env=_environment(peer),
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # an interrupt is this process's business; a signal reaches all of theirs
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        theirs.close()
        try:
            self._ask("load", peer.prepare)
        except PeerError:
            self.close()
            raise

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._connection.close()
        if self._process.poll() is None:
            self._signal(signal.SIGCONT)
            try:
                self._process.wait(1.0)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait()
        self._log.close()

    def prepare(self, task: Any, within: float = ANSWER_SECONDS) -> Ready:
        """Prepare a task, call it once, and return what came out; `PeerSlowError` after so many seconds."""
        ready: Ready = self._ask("prepare", task, within)
        return ready

    def round(self, seconds: float = ROUND_SECONDS) -> float:
        """Median seconds per call over about `seconds` of calls, at least one."""
        measured: float = self._ask("round", seconds)
        return measured

    def _ask(self, verb: str, argument: Any, within: float = ANSWER_SECONDS) -> Any:
        """The answer; before and after it the process is stopped, so that no thread of it spins."""
        try:
            self._signal(signal.SIGCONT)
            self._connection.send((verb, argument))
            if not self._connection.poll(within):
                raise PeerSlowError(f"{self.peer.name}: no answer within {within:g} s")
            verdict, answer = self._connection.recv()
            self._signal(signal.SIGSTOP)
        except (EOFError, OSError):
            status = self._process.wait(10.0)
            raise PeerError(
                f"{self.peer.name}: its process ended with status {status}{self._said()}"
            ) from None
        if verdict == "missing":
            raise PeerMissingError(f"{self.peer.name}: {answer}")
        if verdict == "failed":
            raise PeerError(f"{self.peer.name}: {answer}")
        return answer

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _said(self) -> str:
        """What the process wrote last, for people."""
        self._log.seek(0)
        text = self._log.read().decode(errors="replace")[-LOG_CHARACTERS:].strip()
        return f"\n{text}" if text else ""


def interleave(
    workers: Sequence[Worker], *, seconds: float, most: int = 15, behind: float = 8.0
) -> tuple[Timing, ...]:
    """Rounds of all workers in turn, alternately forwards and backwards, for about `seconds`.

    At least one round, at most `most`; the second and third may take up to `PATIENCE` times the time.  A
    worker that took more than `behind` times as long as the first one in the first round, and longer than a
    round should, is not asked again, and its round counts for nothing: it would take the time of all others.
    """
    rounds: list[list[float]] = [[] for _ in workers]
    spent = [0.0] * len(workers)
    while True:
        order = [at for at in range(len(workers)) if not _left(rounds, at, behind)]
        for at in order if len(rounds[0]) % 2 == 0 else reversed(order):
            begin = time.perf_counter()
            rounds[at].append(workers[at].round())
            spent[at] += time.perf_counter() - begin
        done = len(rounds[0])
        whole = sum(each for at, each in enumerate(spent) if not _left(rounds, at, behind))
        if done >= most or whole * (done + 1) / done > (seconds if done >= 3 else PATIENCE * seconds):
            break
    return tuple(Timing(worker.peer.name, tuple(r)) for worker, r in zip(workers, rounds, strict=True))


def _left(rounds: Sequence[Sequence[float]], at: int, behind: float) -> bool:
    return bool(rounds[at]) and rounds[at][0] > max(behind * rounds[0][0], ROUND_SECONDS)
