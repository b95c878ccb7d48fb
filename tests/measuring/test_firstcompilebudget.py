"""The first compilation measures in five seconds, whatever takes long, and what matters most first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from polymat.machine.calibrate import Calibration, VectorSeconds
from polymat.measuring import effort, firstcompile, measuremachine, timedproducts
from polymat.measuring.productbench import SUFFIXES, function_name, room_name
from polymat.measuring.sample import Sample
from polymat.runtime.calibration import stored_calibration
from polymat.runtime.compilerprocess import TimeIsUpError
from tests.measuring.test_firstcompile import likely


@dataclass
class Clock:
    """Takes the place of the module `time`: it stands still but for what measuring takes."""

    now: float = 0.0

    def perf_counter(self) -> float:
        return self.now

    process_time = perf_counter

    def takes(self, seconds: float, result: object = None) -> Callable[..., Any]:
        """Something that takes so long and gives that."""

        def run(*_: object, **__: object) -> Any:
            self.now += seconds
            return result

        return run


class Compiling:
    """Takes the place of the C compiler: stopped where it takes longer than it may."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.seconds, self.end = clock, dict[str, float](), float("inf")

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        before, self.end = self.end, self.clock.now + seconds
        try:
            yield
        finally:
            self.end = before

    def program(self, name: str, library: object) -> Callable[..., Any]:
        """Compiles a program, which is such a library then."""

        def run(*_: object, **__: object) -> Any:
            done = self.clock.now + self.seconds[name]
            self.clock.now = min(done, max(self.end, self.clock.now))
            if done > self.end:
                raise TimeIsUpError("the time that it was given is over")
            return library

        return run


@pytest.mark.parametrize(
    ("machine", "products", "sample", "times", "kept", "said"),
    [
        (0.4, 1.5, 1e-3, 1e-3, ("loops", "products"), ""),
        (0.4, 60.0, 1e-3, 1e-3, ("loops",), "found no time for products: "),
        (0.4, 1.5, 1e-3, 0.5, ("loops",), "found no time for products: "),
        (1.0, 0.7, 0.0155, 1e-3, ("products",), "found no time for loops: "),
        (1.5, 9.0, 0.012, 1e-3, (), "found no time for loops and products: "),
        (60.0, 1.5, 1e-3, 1e-3, None, "measuring this machine once"),
        (0.4, 1.5, 1.0, 1e-3, None, "measuring this machine once"),
    ],
)
def test_five_seconds_whatever_takes_long(
    machine: float,
    products: float,
    sample: float,
    times: float,
    kept: tuple[str, ...] | None,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The clock is made up, and so is what runs: compilers, samples of the machine, and products.

    kept: what is measured then beside rates of the machine, all that matters less being left out first.
    """
    clock = Clock()
    compiling = Compiling(clock)
    compiling.seconds = {"machine": machine, "products": products}
    for module in (firstcompile, effort, measuremachine, timedproducts):
        monkeypatch.setattr(module, "time", clock)
    for module in (measuremachine, timedproducts):
        monkeypatch.setattr(module, "limited", compiling.limited)
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("POLYMAT_CALIBRATE")
    monkeypatch.setattr(firstcompile, "_asked", set())
    monkeypatch.setattr(firstcompile, "doubt", lambda *_: "")
    monkeypatch.setattr(measuremachine, "_library", compiling.program("machine", None))
    room = SimpleNamespace(**{room_name(suffix): lambda *_: 1 << 20 for suffix in SUFFIXES})
    for suffix in SUFFIXES:
        setattr(room, function_name(suffix), clock.takes(times, 1.0))
    monkeypatch.setattr(timedproducts, "_library", compiling.program("products", room))
    samples = dict.fromkeys((f"rate {k}" for k in range(30)), clock.takes(sample, 1.0))
    loops = dict.fromkeys((f"loop {k}" for k in range(10)), clock.takes(sample, 1.0))
    made = [{name: Sample(1.0, run) for name, run in each.items()} for each in (samples, loops)]
    monkeypatch.setattr(
        measuremachine, "memory_for_sweeps", lambda *_: nullcontext(SimpleNamespace(address=0))
    )
    monkeypatch.setattr(measuremachine, "samples_of", lambda *_: made[0])
    monkeypatch.setattr(measuremachine, "loop_samples", lambda *_: made[1])
    for name in ("reach_samples", "rolling_samples"):
        monkeypatch.setattr(measuremachine, name, lambda *_: {})
    for name in ("rows_sample", "pieces_sample"):
        monkeypatch.setattr(measuremachine, name, lambda *_: made[1]["loop 0"])
    figures = (VectorSeconds(8, 1e-9, 1e-9, 1e-9, 1e-9),)

    def calibration(_: object, found: Mapping[str, Sample], *__: object) -> Calibration:
        return likely(vectors=figures if found else ())

    monkeypatch.setattr(measuremachine, "_calibration", calibration)
    with caplog.at_level(logging.INFO, "polymat.calibrate"):
        assert firstcompile.measure_first() == (kept is not None)
    longest = max(sample, 4 * times)  # which is not broken off
    assert clock.now <= firstcompile._SECONDS + longest
    found = stored_calibration()
    if kept is not None:
        assert found is not None
        assert (bool(found.vectors), bool(found.products)) == ("loops" in kept, "products" in kept)
    assert said in caplog.records[-1].getMessage()
