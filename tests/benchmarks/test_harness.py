"""The interleaving runner: what peers see, and how their failures arrive."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from benchmarks.harness import Peer, PeerError, Prepared, Timing, Worker, interleave, ratio


def prepare_variable(name: str) -> Prepared:
    return Prepared(lambda: os.environ.get(name), note=f"reads {name}")


def prepare_sleep(seconds: float) -> Prepared:
    return Prepared(lambda: time.sleep(seconds))


def prepare_failure(workload: Any) -> Prepared:
    raise ValueError(f"cannot do {workload}")


def prepare_exit(status: int) -> Prepared:
    return Prepared(lambda: os._exit(status))


def test_worker_prepares_in_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYMAT_TEST_PEER", raising=False)
    with Worker(Peer("reader", prepare_variable, {"POLYMAT_TEST_PEER": "yes"})) as worker:
        ready = worker.prepare("POLYMAT_TEST_PEER")
        assert (ready.result, ready.note) == ("yes", "reads POLYMAT_TEST_PEER")
        assert worker.round(0.001) > 0
    assert "POLYMAT_TEST_PEER" not in os.environ


def test_rounds_are_paired() -> None:
    peer = Peer("sleeper", prepare_sleep)
    with Worker(peer) as first, Worker(peer) as second:
        first.prepare(0.0)
        second.prepare(0.0)
        timings = interleave([first, second], seconds=0.0, most=2)
    assert [len(timing.rounds) for timing in timings] == [1, 1]
    assert timings[0].peer == "sleeper"


def test_failure_of_a_peer_carries_its_text() -> None:
    with Worker(Peer("broken", prepare_failure)) as worker:
        with pytest.raises(PeerError, match="cannot do that"):
            worker.prepare("that")
        with pytest.raises(PeerError, match="round before prepare"):
            worker.round()


def test_death_of_a_peer_is_an_error() -> None:
    with (
        Worker(Peer("mortal", prepare_exit)) as worker,
        pytest.raises(PeerError, match=r"mortal: .* status 3"),
    ):
        worker.prepare(3)


def test_close_ends_the_process() -> None:
    worker = Worker(Peer("sleeper", prepare_sleep))
    worker.close()
    assert not worker._process.is_alive()


def test_ratio_is_of_rounds_not_of_medians() -> None:
    base = Timing("base", (2.0, 40.0, 6.0))
    other = Timing("other", (1.0, 20.0, 3.0))
    assert ratio(base, other) == 2.0
    assert base.seconds == 6.0
