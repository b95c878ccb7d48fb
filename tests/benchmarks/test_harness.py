"""The interleaving runner: what peers see, and how their failures arrive."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.harness import (
    Peer,
    PeerError,
    PeerMissingError,
    PeerSlowError,
    Timing,
    Worker,
    interleave,
    ratio,
)
from benchmarks.task import MissingError, Prepared


def prepare_variable(name: str) -> Prepared:
    return Prepared(lambda: os.environ.get(name), note=f"reads {name}")


def prepare_sleep(seconds: float) -> Prepared:
    return Prepared(lambda: time.sleep(seconds))


def prepare_failure(workload: Any) -> Prepared:
    raise ValueError(f"cannot do {workload}")


def prepare_exit(status: int) -> Prepared:
    return Prepared(lambda: os._exit(status))


def prepare_missing(workload: Any) -> Prepared:
    raise MissingError(f"no kernel {workload}")


def prepare_spin(workload: Any) -> Prepared:
    threading.Thread(target=_count, daemon=True).start()
    return Prepared(time.process_time)


def _count() -> None:
    while True:
        pass


def prepare_clock(seconds: float) -> Prepared:
    return Prepared(lambda: None, repeat=lambda count: count * seconds)


def test_worker_prepares_in_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYMAT_TEST_PEER", raising=False)
    with Worker(Peer("reader", f"{__name__}:prepare_variable", {"POLYMAT_TEST_PEER": "yes"})) as worker:
        ready = worker.prepare("POLYMAT_TEST_PEER")
        assert (ready.result, ready.note) == ("yes", "reads POLYMAT_TEST_PEER")
        assert worker.round(0.001) > 0
    assert "POLYMAT_TEST_PEER" not in os.environ


def test_rounds_are_paired() -> None:
    peer = Peer("sleeper", f"{__name__}:prepare_sleep")
    with Worker(peer) as first, Worker(peer) as second:
        first.prepare(0.0)
        second.prepare(0.0)
        timings = interleave([first, second], seconds=0.0, most=2)
    assert [len(timing.rounds) for timing in timings] == [1, 1]
    assert timings[0].peer == "sleeper"


def test_failure_of_a_peer_carries_its_text() -> None:
    with Worker(Peer("broken", f"{__name__}:prepare_failure")) as worker:
        with pytest.raises(PeerError, match="cannot do that"):
            worker.prepare("that")
        with pytest.raises(PeerError, match="round before prepare"):
            worker.round()


def test_death_of_a_peer_is_an_error() -> None:
    with (
        Worker(Peer("mortal", f"{__name__}:prepare_exit")) as worker,
        pytest.raises(PeerError, match=r"mortal: .* status 3"),
    ):
        worker.prepare(3)


def test_what_a_peer_lacks_is_no_failure() -> None:
    with (
        Worker(Peer("poor", f"{__name__}:prepare_missing")) as worker,
        pytest.raises(PeerMissingError, match="poor: no kernel 7"),
    ):
        worker.prepare(7)
    with pytest.raises(PeerMissingError, match="nothing_of_that_name"):
        Worker(Peer("absent", "nothing_of_that_name:prepare"))
    with pytest.raises(PeerMissingError, match="make peers"):
        Worker(Peer("elsewhere", f"{__name__}:prepare_sleep", python="/nowhere/python"))


def test_a_peer_that_takes_too_long_says_so() -> None:
    with (
        Worker(Peer("sleeper", f"{__name__}:prepare_sleep")) as worker,
        pytest.raises(PeerSlowError, match=r"sleeper: no answer within 0\.2 s"),
    ):
        worker.prepare(60.0, 0.2)


def test_a_worker_is_stopped_while_it_is_not_asked() -> None:
    with Worker(Peer("spinner", f"{__name__}:prepare_spin")) as worker:
        first = worker.prepare(None).result
        time.sleep(0.6)
        second = worker.prepare(None).result
    # A thread of it counts all the time; while it was stopped, for 0.6 s, it did not.
    assert second - first < 0.4


def test_one_far_behind_is_asked_once() -> None:
    peer = Peer("sleeper", f"{__name__}:prepare_sleep")
    with Worker(peer) as fast, Worker(peer) as slow:
        fast.prepare(0.001)
        slow.prepare(0.2)
        timings = interleave([fast, slow], seconds=0.5, most=3)
    assert [len(timing.rounds) for timing in timings] == [3, 1]
    assert ratio(timings[1], timings[0]) > 20


@dataclass
class Counted:
    """A worker whose rounds take as long as it says, by a clock that nobody waits for."""

    peer: Peer
    seconds: float
    clock: list[float]

    def round(self) -> float:
        self.clock[0] += self.seconds
        return self.seconds


def test_the_time_of_one_far_behind_is_not_that_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("benchmarks.harness.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    peers = [
        Counted(Peer(name, ""), seconds, clock) for name, seconds in (("a", 0.5), ("b", 0.25), ("c", 50.0))
    ]
    timings = interleave(cast("list[Worker]", peers), seconds=2.0)
    assert [len(timing.rounds) for timing in timings] == [3, 3, 1]
    assert clock[0] == 52.25
    slow = [Counted(Peer("a", ""), 3.0, clock), Counted(Peer("b", ""), 8.0, clock)]
    assert [len(timing.rounds) for timing in interleave(cast("list[Worker]", slow), seconds=2.0)] == [1, 1]


def test_a_loop_in_c_may_tell_the_time() -> None:
    with Worker(Peer("clock", f"{__name__}:prepare_clock")) as worker:
        worker.prepare(0.5)
        assert worker.round(0.001) == 0.5


def test_close_ends_the_process() -> None:
    worker = Worker(Peer("sleeper", f"{__name__}:prepare_sleep"))
    worker.close()
    assert worker._process.poll() is not None


def test_ratio_is_of_rounds_not_of_medians() -> None:
    base = Timing("base", (2.0, 40.0, 6.0))
    other = Timing("other", (1.0, 20.0, 3.0))
    assert ratio(base, other) == 2.0
    assert base.seconds == 6.0
