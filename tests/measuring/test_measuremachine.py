"""Measuring this machine: the figures make sense, however fast it is."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import polymat as pm
from polymat.errors import ToolchainError
from polymat.machine.calibrate import LEVELS, Calibration, Rate, encode
from polymat.machine.keptfile import write_text
from polymat.machine.model import MEMORY
from polymat.machine.probe import probe
from polymat.machine.producttimes import ProductTimes
from polymat.measuring import measuremachine as measuring
from polymat.measuring import samples
from polymat.measuring.effort import Effort
from polymat.measuring.measuremachine import calibrate, calibrate_again, measure
from polymat.measuring.sample import Sample
from polymat.product.blocks import register_family
from polymat.runtime import flags
from polymat.runtime.calibration import (
    calibrated_machine,
    calibration_lines,
    calibration_path,
    fingerprint,
    store_calibration,
    stored_calibration,
)
from polymat.tilesize.home import missed

QUICK, ONCE = Effort(0.05, 0.1), Effort(0.0, 0.0)


@pytest.fixture(scope="module", autouse=True)
def little_memory() -> Iterator[None]:
    """To touch half a gigabyte takes longer than all the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "available_memory", lambda: 256 << 20)
        yield


@pytest.fixture(scope="module")
def measured() -> Calibration:
    return measure(probe(), 2, effort=QUICK)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory without a calibration."""
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def rates(calibration: Calibration) -> list[Rate]:
    return [*calibration.read, *calibration.copy, calibration.flops32, calibration.flops64]


def test_figures_make_sense(measured: Calibration) -> None:
    for rate in rates(measured):
        assert math.isfinite(rate.one)
        assert math.isfinite(rate.all)
        assert 1e8 < rate.one < 1e14
        assert 1e8 < rate.all < 1e16
    for stream in (measured.read, measured.copy):
        assert [rate.one for rate in stream] == sorted((rate.one for rate in stream), reverse=True)
    assert 3e8 < measured.hertz < 2e10
    assert 0 < measured.fma_seconds < 1e-6
    assert 0 < measured.region_seconds < 1.0
    assert 0 < measured.wake_seconds < 1.0
    assert measured.threads in (1, 2)
    assert measured.fingerprint == fingerprint()


def test_every_register_block_is_measured(measured: Calibration) -> None:
    """None is faster than the arithmetic units, however roughly either was measured."""
    for size, flops in ((4, measured.flops32), (8, measured.flops64)):
        found = {(b.rows, b.vectors): b.flops for b in measured.blocks if b.element_bytes == size}
        assert set(found) == set(register_family(probe()))
        assert all(0.0 < rate < 3.0 * flops.one for rate in found.values())


def test_what_the_last_level_holds_is_told_by_what_it_misses() -> None:
    """A quarter may come from memory at most: more says that others have the room."""
    near, far = 1e11, 2e10  # 1 and 5 seconds for 1e11 bytes

    def held(size: float, seconds: float) -> Sample:
        return Sample(size, lambda: 0.0, least=[seconds * size / 1e11] * 3)

    found = {
        "reach 1": held(1e7, 1.0),
        "reach 2": held(2e7, 1.9),
        "reach 3": held(3e7, 2.1),
        "across": held(9e9, 1),
    }
    room = samples.reached(found, near, far)
    assert 1.6e7 < room < 1.9e7
    assert missed(2e7 / room) == pytest.approx(0.9 / 4.0, abs=1e-3)  # as prices have it
    assert samples.reached({"reach 1": held(1e7, 1.0)}, near, far) == 1e7
    assert samples.reached({}, near, far) == 0.0


def test_a_measured_machine_answers(measured: Calibration) -> None:
    machine = probe().with_calibration(measured)
    for level in range(1, MEMORY + 1):
        assert machine.bandwidth(level) == measured.read[level - 1].one
        assert machine.bandwidth(level, 64, "copy") > 0
    assert machine.peak_flops(8) == measured.flops64.one
    assert 1 <= machine.fma_units <= 8
    assert machine.fma_latency >= 1


@pytest.mark.drawn(2)
@pytest.mark.parametrize(("bits", "registers"), [(128, 16), (128, 32), (256, 16), (512, 32)])
def test_other_vectors(bits: int, registers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """GCC splits or lowers what the processor has not; with -O1, which does so in a third of the time."""
    monkeypatch.setattr(flags, "_OPTIMISED", ("-O1",))
    found = measure(replace(probe(), vector_bits=bits, vector_registers=registers), 1, effort=ONCE)
    assert all(rate.one == rate.all > 0 for rate in rates(found))


def test_strange_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large caches, and hardly any memory to show them in."""
    machine = replace(probe(), l1_bytes=1 << 20, l2_bytes=4 << 20, l3_bytes=1 << 30)
    monkeypatch.setattr(samples, "available_memory", lambda: 0)
    assert all(rate.all > 0 for rate in rates(measure(machine, 2, effort=ONCE)))


def test_stored_and_found_again(cache: Path, measured: Calibration, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "usable_cpus", lambda: 2)
    runs: list[int] = []

    def run(machine: object, threads: int, **_: object) -> Calibration:
        runs.append(threads)
        return replace(measured, threads=threads)

    monkeypatch.setattr(measuring, "measure", run)
    assert stored_calibration() is None
    assert calibrated_machine() == probe()
    with pm.threads(1):
        calibrate()
        calibrate()
    assert runs == [1]
    with pm.threads(2):
        found = calibrate()
        assert runs == [1, 2]
        assert calibrate() == found == stored_calibration()
    with pm.threads(1):
        assert calibrate() == found
    with pm.threads(64):
        calibrate(force=True)
    assert runs == [1, 2, 2]
    assert calibrated_machine().calibration == found
    assert calibration_path().parent == cache


@pytest.mark.usefixtures("cache")
def test_a_second_pass_is_made_once(measured: Calibration, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a later process, where the first one was stopped between the two."""
    slow = replace(measured, region_seconds=40.0 * measured.region_seconds)
    runs = iter([slow, measured])
    monkeypatch.setattr(measuring, "measure", lambda *_, **__: next(runs))
    first = calibrate(force=True)
    assert (first, first.passes) == (slow, 1)
    assert calibrate() == first
    found = calibrate_again(first)
    assert found == stored_calibration() == calibrate_again(first)
    assert (found.passes, found.region_seconds) == (2, measured.region_seconds)
    assert [each.name for each in found.differing] == ["region"]
    monkeypatch.setenv("POLYMAT_CACHE", "off")
    runs = iter([measured])
    assert calibrate_again(slow) == found


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\0"])
def test_a_damaged_file_is_measured_again(
    text: str, cache: Path, measured: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "measure", lambda *_, **__: replace(measured, threads=64))
    cache.mkdir(mode=0o700)
    write_text(calibration_path(), text)
    assert stored_calibration() is None
    assert calibrate().threads == 64
    assert stored_calibration() is not None


@pytest.mark.usefixtures("cache")
def test_of_another_processor(measured: Calibration) -> None:
    store_calibration(replace(measured, fingerprint="x86_64|elsewhere"))
    assert stored_calibration() is None


def test_a_directory_of_others_is_not_believed(cache: Path, measured: Calibration) -> None:
    store_calibration(measured)
    assert stored_calibration() == measured
    cache.chmod(0o777)
    assert stored_calibration() is None


@pytest.mark.parametrize("mode", ["off", "readonly"])
def test_nothing_is_written_where_the_user_says_so(
    mode: str, cache: Path, measured: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", mode)
    assert store_calibration(measured) is None
    assert not cache.exists()


def test_a_file_that_cannot_be_written_is_named(cache: Path, measured: Calibration) -> None:
    cache.mkdir(mode=0o700)
    calibration_path().mkdir()
    with pytest.raises(ToolchainError, match="calibration-"):
        store_calibration(measured)


def test_progress_ends_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[float] = []
    measure(probe(), 1, effort=ONCE, progress=shown.append)
    assert shown == sorted(shown)
    assert shown[-1] == 1.0


def test_lines_name_every_figure(measured: Calibration) -> None:
    text = "\n".join(calibration_lines(replace(measured, threads=2)))
    for word in (*LEVELS, "float32", "float64", "GHz", "region", measured.date):
        assert word in text
    assert "region" not in "\n".join(calibration_lines(replace(measured, threads=1)))


@pytest.mark.usefixtures("cache")
def test_threads_that_are_refused() -> None:
    """Such a machine is measured with one thread."""
    program = (
        "from polymat.machine.probe import probe\n"
        "from polymat.measuring.effort import Effort\n"
        "from polymat.measuring.measuremachine import measure\n"
        "print(measure(probe(), 8, effort=Effort(0.0, 0.0)).threads)"
    )
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_command_line(cache: Path, measured: Calibration, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without libraries, whose measurement has tests of its own."""
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("POLYMAT_BLAS", "none")
    monkeypatch.setenv("POLYMAT_FFT", "none")
    known = replace(measured, threads=4096, passes=2, products=(ProductTimes(8, 1, (4, 20), (1e-6,) * 8),))
    write_text(calibration_path(), encode(known))
    command = [sys.executable, "-m", "polymat"]
    done = subprocess.run([*command, "calibrate"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"measured {measured.date}")
    assert done.stdout.endswith(f"kept in {calibration_path()}\n")
    assert done.stderr == ""
    doctor = subprocess.run([*command, "doctor"], capture_output=True, text=True, check=False)
    assert f"calibration measured {measured.date}" in doctor.stdout
