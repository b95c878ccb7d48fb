"""Times several ways of computing the same thing, each in a process of its own, in interleaved rounds.

Two thread pools in one process spin against each other, and the speed of a shared machine drifts: so every
peer lives in a worker process, the workers are asked for rounds in turn, and compared round by round.

    with Worker(Peer("numpy", prepare_numpy)) as a, Worker(Peer("polymat", prepare_polymat)) as b:
        a.prepare(workload), b.prepare(workload)
        first, second = interleave([a, b], seconds=4.0)
        print(first.seconds, second.seconds, ratio(first, second))
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import statistics
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

ROUND_SECONDS = 0.06
SETTLE_SECONDS = 0.03
ANSWER_SECONDS = 600.0
_BATCH_SECONDS = 20e-6
_MOST_BATCHES = 50


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a peer makes of a workload: the call to time, and a remark for the reader."""

    call: Callable[[], Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Peer:
    """One way of computing workloads.

    prepare: a function of an importable module, called in the worker with the workload (which is pickled).
    environment: variables set before the worker starts, and so before it loads any library.
    """

    name: str
    prepare: Callable[[Any], Prepared]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker's answer to a workload: the result of one call, how long preparing and that call took."""

    result: Any
    note: str
    prepare_seconds: float
    first_seconds: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call of one peer, one number per round."""

    peer: str
    rounds: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """The median round."""
        return statistics.median(self.rounds)


class PeerError(RuntimeError):
    """A peer failed at what it was asked; the text is its traceback."""


def ratio(base: Timing, other: Timing) -> float:
    """How many times faster `other` is than `base`: the median over rounds of their quotients."""
    return statistics.median(b / o for b, o in zip(base.rounds, other.rounds, strict=True))


class Worker:
    """A peer in a process of its own; a context manager, the process ends with the block."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, peer), daemon=True)
        with _environment(peer.environment):
            self._process.start()
        theirs.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._connection.close()
        self._process.join(1.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def prepare(self, workload: Any) -> Ready:
        """Prepare a workload, call it once, and return what came out."""
        ready: Ready = self._ask("prepare", workload)
        return ready

    def round(self, seconds: float = ROUND_SECONDS) -> float:
        """Median seconds per call over about `seconds` of calls, at least one."""
        measured: float = self._ask("round", seconds)
        return measured

    def _ask(self, verb: str, argument: Any) -> Any:
        try:
            self._connection.send((verb, argument))
            if not self._connection.poll(ANSWER_SECONDS):
                raise PeerError(f"{self.peer.name}: no answer within {ANSWER_SECONDS:.0f} s")
            failed, answer = self._connection.recv()
        except (EOFError, OSError):
            self._process.join(1.0)
            status = self._process.exitcode
            raise PeerError(f"{self.peer.name}: its process ended with status {status}") from None
        if failed:
            raise PeerError(f"{self.peer.name}: {answer}")
        return answer


def interleave(workers: Sequence[Worker], *, seconds: float, most: int = 15) -> tuple[Timing, ...]:
    """Rounds of all workers in turn, alternately forwards and backwards, for about `seconds`.

    At least one round, at most `most`; the second and third may take up to twice the time.
    """
    rounds: list[list[float]] = [[] for _ in workers]
    begin = time.perf_counter()
    while True:
        order = list(enumerate(workers))
        for position, worker in order if len(rounds[0]) % 2 == 0 else reversed(order):
            time.sleep(SETTLE_SECONDS)  # the other peer's threads stop spinning meanwhile
            rounds[position].append(worker.round())
        done = len(rounds[0])
        spent = time.perf_counter() - begin
        if done >= most or spent * (done + 1) / done > (seconds if done >= 3 else 2 * seconds):
            break
    return tuple(Timing(worker.peer.name, tuple(r)) for worker, r in zip(workers, rounds, strict=True))


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the processes started inside the block."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(connection: Connection, peer: Peer) -> None:
    """Answer requests until the other end closes; an interrupt is the other end's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    call: Callable[[], Any] | None = None
    estimate = 0.0
    while True:
        try:
            verb, argument = connection.recv()
        except EOFError:
            return
        try:
            if verb == "prepare":
                call = None  # frees the previous workload first
                call, ready = _prepare(peer, argument)
                estimate = ready.first_seconds
                connection.send((False, ready))
            else:
                assert call is not None, "round before prepare"
                estimate = _round(call, argument, estimate)
                connection.send((False, estimate))
        except Exception:
            connection.send((True, traceback.format_exc()))


def _prepare(peer: Peer, workload: Any) -> tuple[Callable[[], Any], Ready]:
    begin = time.perf_counter()
    prepared = peer.prepare(workload)
    between = time.perf_counter()
    result = prepared.call()
    end = time.perf_counter()
    return prepared.call, Ready(result, prepared.note, between - begin, end - between)


def _round(call: Callable[[], Any], seconds: float, estimate: float) -> float:
    """Time calls, in batches long enough for the clock; a call that is not timed goes before short ones."""
    if estimate < seconds:
        estimate = _timed(call, 1)
    size = max(1, round(_BATCH_SECONDS / max(estimate, 1e-9)))
    batches = max(1, min(_MOST_BATCHES, int(seconds / max(estimate * size, 1e-9))))
    return statistics.median(_timed(call, size) for _ in range(batches))


def _timed(call: Callable[[], Any], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count
