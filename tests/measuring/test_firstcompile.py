"""The first compilation measures the machine: once, and whatever goes wrong there fails nothing."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat import driver
from polymat.errors import ToolchainError
from polymat.machine.calibrate import BlockRate, Calibration, Rate, encode
from polymat.machine.known import ZEN3
from polymat.machine.probe import probe
from polymat.measuring import firstcompile
from polymat.measuring.effort import Effort, measure_until_agreed
from polymat.measuring.sample import Sample
from polymat.measuring.timedproducts import SHORT, Rounds
from polymat.request import Request
from polymat.runtime import doctor
from polymat.runtime.calibration import (
    calibration_lines,
    calibration_path,
    failed_lately,
    failure_path,
    fingerprint,
    keep_failure,
    stored_calibration,
)
from polymat.runtime.filelock import bucket_lock
from polymat.runtime.settings import settings
from tests.hosts import CompileFor
from tests.machine.test_model import MEASURED, QUAD

ROOT = Path(__file__).parents[2]
N = pm.Parameter(pm.Int, "N")
A, B = pm.Matrix(pm.Double, "A", [N, N]), pm.Matrix(pm.Double, "B", [N, N])


def likely(**fields: object) -> Calibration:
    """What is estimated of this machine, as if it had been measured."""
    machine, threads = probe(), 2
    rates = [machine.bandwidth(level) for level in (1, 2, 3, 4)]
    l1, l2, l3, memory = (Rate(rate, machine.cores * rate) for rate in rates)
    flops = [Rate(machine.peak_flops(size), threads * machine.peak_flops(size)) for size in (4, 8)]
    found = replace(MEASURED, fingerprint=fingerprint(), threads=threads, flops32=flops[0], flops64=flops[1])
    found = replace(found, read=(l1, l2, l3, memory), copy=(l1, l2, l3, memory), blocks=())
    return replace(found, **fields)  # type: ignore[arg-type]


class Measuring:
    """Takes the place of `measure`: counts, and gives or raises what it is told."""

    def __init__(self, result: Calibration | Exception) -> None:
        self.result, self.efforts, self.products = result, list[Effort](), list[object]()

    def __call__(self, _machine: object, _threads: int, *, effort: Effort) -> Calibration:
        self.efforts.append(effort)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def again(self, _machine: object, _threads: int, *, effort: Effort) -> Calibration:
        raise ToolchainError(f"times of a second pass differ too much after {effort.most_seconds} seconds")

    def with_products(self, measured: Calibration, _blas: object, rounds: object) -> Calibration:
        """Takes the place of that: nothing is kept before products are timed."""
        assert stored_calibration() is None
        self.products.append(rounds)
        return measured


@pytest.fixture
def measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measuring:
    """As in a user's first process on a machine, but that measuring takes no time."""
    instead = Measuring(likely())
    monkeypatch.setattr(firstcompile, "measure", instead)
    monkeypatch.setattr(firstcompile, "measure_again", instead.again)
    monkeypatch.setattr(firstcompile, "with_products", instead.with_products)
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("POLYMAT_CALIBRATE")
    another_process(monkeypatch)
    return instead


def another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of earlier compilations is what is in files."""
    monkeypatch.setattr(firstcompile, "_asked", set())


def doubled() -> pm.Compiled:
    return pm.compile((A + A).named("doubled"), inputs=[A])


def works(compiled: pm.Compiled) -> bool:
    return np.array_equal(compiled(np.ones((3, 3))), np.full((3, 3), 2.0))


def test_measured_once_and_kept(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "polymat.calibrate"):
        first = pm.compile(A @ B)
    said = [record.getMessage() for record in caplog.records if record.name == "polymat.calibrate"]
    assert "POLYMAT_CALIBRATE=off" in said[0]
    assert str(calibration_path()) in said[0]
    assert said[1:] == ["found no time for loops and products: `python -m polymat calibrate` measures all"]
    assert stored_calibration() == measuring.result
    assert not failure_path().exists()
    another_process(monkeypatch)
    assert pm.compile(A @ B).source == first.source
    assert len(measuring.efforts) == 1
    assert measuring.efforts[0].short


def test_the_first_program_is_decided_by_what_was_measured(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Calibration | None] = []
    whole = driver.compile_request

    def noted(request: Request) -> object:
        found.append(request.machine.calibration)
        return whole(request)

    monkeypatch.setattr(driver, "compile_request", noted)
    assert works(doubled())
    assert found == [measuring.result]


def test_never_where_the_user_refuses(measuring: Measuring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CALIBRATE", "off")
    assert works(doubled())
    monkeypatch.setenv("POLYMAT_CALIBRATE", "sometimes")
    with pytest.raises(ToolchainError) as caught:
        doubled()
    assert str(caught.value) == "POLYMAT_CALIBRATE is 'sometimes'\nhint: it must be auto or off"
    assert not measuring.efforts


@pytest.mark.parametrize("mode", ["off", "readonly"])
def test_never_where_nothing_is_kept(
    mode: str, measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", mode)
    assert works(doubled())
    assert not measuring.efforts


def test_never_for_another_machine(measuring: Measuring, compile_for: CompileFor) -> None:
    pm.compile((A + A).named("doubled"), options=pm.Options(target="x86-64-v2"))
    compile_for(ZEN3)
    assert works(doubled())
    assert not measuring.efforts


def test_what_fails_is_not_tried_again_that_day(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring.result = OSError("no threads")
    assert works(doubled())
    assert works(doubled())
    another_process(monkeypatch)
    assert works(doubled())
    assert len(measuring.efforts) == 1
    assert failed_lately() == "OSError: no threads"
    assert "OSError: no threads" in doctor._calibration()
    yesterday = time.time() - 90_000
    os.utime(failure_path(), (yesterday, yesterday))
    assert failed_lately() == ""
    measuring.result = likely()
    another_process(monkeypatch)
    assert works(doubled())
    assert len(measuring.efforts) == 2
    assert stored_calibration() == measuring.result
    assert not failure_path().exists()


def test_products_are_timed_once_the_machine_is_known(measuring: Measuring) -> None:
    assert works(doubled())
    assert works(doubled())
    (rounds,) = measuring.products
    assert isinstance(rounds, Rounds)
    assert replace(rounds, whole=SHORT.whole) == SHORT
    assert 0.0 < rounds.whole <= firstcompile._SECONDS


def test_products_that_cannot_be_timed_are_no_reason_to_forget_the_rest(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> Calibration:
        raise ToolchainError("products of matrices take too long to be timed")

    monkeypatch.setattr(firstcompile, "with_products", refuse)
    with caplog.at_level(logging.DEBUG, "polymat.calibrate"):
        assert works(doubled())
    assert stored_calibration() == measuring.result
    assert not failure_path().exists()
    assert (
        "products were not timed: ToolchainError: products of matrices take too long to be timed"
        in caplog.text
    )


def test_what_nobody_believes_is_not_kept(measuring: Measuring) -> None:
    measuring.result = likely(flops64=Rate(1e9, 1e9))
    assert works(doubled())
    assert stored_calibration() is None
    assert "float64 arithmetic is" in failed_lately()


def test_what_did_not_come_to_its_end_is_not_waited_for(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever measures may have been stopped, and hold the lock for ever."""
    monkeypatch.setattr(firstcompile, "_WAIT_SECONDS", 0.05)
    keep_failure("it did not come to its end")
    with bucket_lock(calibration_path().with_suffix(".lock")) as held:
        assert held
        assert works(doubled())
        minute_ago = time.time() - 60
        os.utime(failure_path(), (minute_ago, minute_ago))
        another_process(monkeypatch)
        monkeypatch.setattr(firstcompile, "bucket_lock", None)
        assert works(doubled())
    assert not measuring.efforts


def test_threads_wait_for_the_one_that_measures(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firstcompile, "_WAIT_SECONDS", 60.0)

    def slowly(machine: object, threads: int, *, effort: Effort) -> Calibration:
        time.sleep(0.2)
        return measuring(machine, threads, effort=effort)

    monkeypatch.setattr(firstcompile, "measure", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: firstcompile.measure_first(), range(4))) == {True}
    assert len(measuring.efforts) == 1


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # pytest has threads
def test_a_forked_process_measures_nothing(measuring: Measuring) -> None:
    """Its parent may have had threads that are not there any more."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if not firstcompile.measure_first() and not measuring.efforts else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert firstcompile.measure_first()


def test_nothing_is_measured_or_said_without_a_compiler(
    measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who installs one then is not put off to the next day."""
    monkeypatch.setenv("POLYMAT_CC", "/nowhere/gcc")
    with pytest.raises(ToolchainError, match="nowhere"):
        pm.compile((A + A).named("doubled_without_compiler"))
    assert not failed_lately()
    monkeypatch.setenv("LD_PRELOAD", "libasan.so")
    monkeypatch.delenv("POLYMAT_CC")
    another_process(monkeypatch)
    assert not firstcompile.measure_first()
    assert not measuring.efforts


def test_a_directory_that_cannot_be_used(measuring: Measuring, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compilation says so itself."""
    monkeypatch.setenv("POLYMAT_CACHE_DIR", "/dev/null/cache")
    with pytest.raises(ToolchainError, match="cannot use the cache directory"):
        doubled()
    assert not measuring.efforts


def test_figures_no_processor_has() -> None:
    wide = Rate(160e9, 640e9)
    usual = replace(MEASURED, flops32=wide, flops64=wide)
    assert firstcompile.doubt(usual, QUAD) == ""
    few = replace(usual, flops32=Rate(160e9, 200e9))
    said = "float32 arithmetic is 1.2 times as fast on 4 cores as on one, while others used "
    assert firstcompile.doubt(few, QUAD) == said + "0.0"
    half = replace(usual, flops32=Rate(160e9, 320e9))
    assert firstcompile.doubt(half, QUAD) == ""
    assert firstcompile.doubt(half, QUAD, 1.0).endswith("while others used 1.0")
    assert firstcompile.doubt(replace(few, threads=2), QUAD) == ""
    slow = replace(usual, read=(Rate(10e9, 40e9), *usual.read[1:]))
    assert firstcompile.doubt(slow, QUAD) == "reading from L1 is 10 times slower than estimated"
    l1, l2, l3, memory = usual.read
    alike = replace(usual, read=(l1, l2, Rate(l3.one, l3.one), memory))
    assert firstcompile.doubt(alike, QUAD, 1.0) == ""
    fewer = replace(usual, read=(l1, l2, Rate(l3.one, 0.8 * l3.one), memory))
    assert firstcompile.doubt(fewer, QUAD).startswith("reading from L3 is 0.8 times as fast on 4 cores")


def test_figures_that_differ_to_the_end_are_refused() -> None:
    seconds = 1.0

    def faster() -> float:
        nonlocal seconds
        time.sleep(0.001)  # so that it is not halved until it is nothing
        seconds *= 0.5
        return seconds

    samples = {"steady": Sample(1.0, lambda: 1.0), "faster": Sample(1.0, faster)}
    with pytest.raises(ToolchainError, match=r"differ too much \(faster\)"):
        measure_until_agreed(samples, 0.0, time.perf_counter() + 0.3)
    assert len(samples["steady"].least) == 3


def test_only_what_differs_is_measured_again() -> None:
    times = {"steady": [1.0] * 8, "late": [1.0, *[2.0] * 9, 1.1, 1.1], "loose": [1.0, *[2.0] * 7]}
    samples = {name: Sample(1.0, iter(each).__next__) for name, each in times.items()}
    samples["loose"].patience = 2.0
    measure_until_agreed(samples, 0.0, time.perf_counter() + 60.0)
    assert {name: sample.least for name, sample in samples.items()} == {
        "steady": [1.0] * 3,
        "late": [1.0, 1.1, 1.1],
        "loose": [1.0, 2.0, 2.0],
    }


def test_which_form_is_told(measuring: Measuring, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "until the first compile" in doctor._calibration()
    monkeypatch.setenv("POLYMAT_CALIBRATE", "off")
    assert "until you run" in doctor._calibration()
    monkeypatch.delenv("POLYMAT_CALIBRATE")
    assert works(doubled())
    assert "measures more" in doctor._calibration().splitlines()[0]
    assert "measures more" not in calibration_lines(likely(blocks=(BlockRate(8, 6, 2, 1e9),)))[0]
    assert settings({"POLYMAT_CALIBRATE": "auto"}).calibrate_mode == "auto"


# Measures in a process that notes it in a file, beside others that wait.
SLOWLY = """
import sys, time
from pathlib import Path
import polymat as pm
from polymat.machine.calibrate import decode
from polymat.measuring import firstcompile
directory = Path(sys.argv[1])
def measure(*_, **__):
    with open(directory / "measured", "a") as stream:
        stream.write("once ")
    time.sleep(0.5)
    return decode((directory / "figures").read_text())
firstcompile.measure, firstcompile.with_products = measure, lambda measured, *_: measured
firstcompile._WAIT_SECONDS, firstcompile._LEAST_AGAIN = 60.0, 60.0
N = pm.Parameter(pm.Int, "N")
x = pm.Vector(pm.Double, "x", [N])
pm.compile((x + x).named("twice"))
print(firstcompile.stored_calibration().date)
"""


@pytest.mark.usefixtures("measuring")
def test_processes_wait_for_the_one_that_measures(tmp_path: Path) -> None:
    (tmp_path / "figures").write_text(encode(likely(date="now")))
    command = [sys.executable, "-c", SLOWLY, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in "123"]
    assert [process.communicate(timeout=60)[0] for process in running] == ["now\n"] * 3
    assert (tmp_path / "measured").read_text() == "once "


REALLY = """
import numpy as np, polymat as pm
from polymat.measuring import firstcompile, samples
firstcompile.with_products = lambda measured, *_: measured  # they have tests of their own
samples.available_memory = lambda: 256 << 20
N = pm.Parameter(pm.Int, "N")
x = pm.Vector(pm.Double, "x", [N])
assert np.array_equal(pm.compile((x + x).named("twice"))(np.arange(5.0)), np.arange(0.0, 10.0, 2.0))
"""


@pytest.mark.usefixtures("measuring")
def test_what_users_meet() -> None:
    """A machine that others use keeps no figures, and says why; no processor is too busy to compile."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "POLYMAT_LOG": "calibrate"}
    command = [sys.executable, "-c", REALLY]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=100)
    assert done.stderr.count("measuring this machine once") == 1
    stored = stored_calibration()
    assert (stored is None) == bool(failed_lately())
    assert stored is None or not stored.blocks
    assert failed_lately() != "it did not come to its end"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=100)
    assert "measuring this machine" not in done.stderr
