"""What a machine answers, from estimates and from a calibration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.machine.calibrate import BlockRate, Calibration, Rate
from polymat.machine.known import ZEN5
from polymat.machine.model import MEMORY, Machine
from polymat.machine.recognise import narrowed

QUAD = Machine(
    name="quad",
    cores=4,
    l1_bytes=32 << 10,
    l2_bytes=1 << 20,
    l3_bytes=8 << 20,
    hertz=2e9,
    l1_bandwidth=100e9,
    l2_bandwidth=50e9,
    l3_bandwidth=20e9,
    memory_bandwidth=10e9,
    memory_bandwidth_total=25e9,
)
MEASURED = Calibration(
    fingerprint="here",
    compiler="cc",
    date="today",
    threads=4,
    read=(Rate(200e9, 800e9), Rate(80e9, 300e9), Rate(40e9, 120e9), Rate(15e9, 40e9)),
    copy=(Rate(180e9, 700e9), Rate(60e9, 200e9), Rate(30e9, 100e9), Rate(12e9, 30e9)),
    flops32=Rate(96e9, 380e9),
    flops64=Rate(48e9, 190e9),
    hertz=3e9,
    fma_seconds=1.35e-9,
    region_seconds=1e-6,
    wake_seconds=2e-5,
    blocks=(BlockRate(8, 6, 2, 40e9), BlockRate(8, 4, 3, 42e9), BlockRate(4, 6, 2, 90e9)),
)


def test_estimates() -> None:
    assert [QUAD.bandwidth(level) for level in (1, 2, 3, MEMORY)] == [100e9, 50e9, 20e9, 10e9]
    assert [QUAD.bandwidth(1, threads) for threads in (1, 2, 4, 8)] == [100e9, 200e9, 400e9, 400e9]
    assert [QUAD.bandwidth(MEMORY, threads) for threads in (1, 2, 3, 4)] == [10e9, 20e9, 25e9, 25e9]
    for level in (1, 2, 3, MEMORY):
        assert 0 < QUAD.bandwidth(level, 2, "copy") <= QUAD.bandwidth(level, 2)
    assert QUAD.peak_flops(8) == 2 * 2 * 4 * 2e9
    assert QUAD.peak_flops(4, 2) == 2 * QUAD.peak_flops(4)


def test_measured() -> None:
    machine = QUAD.with_calibration(MEASURED)
    assert [machine.bandwidth(MEMORY, threads) for threads in (1, 2, 3, 4, 9)] == [
        15e9,
        30e9,
        40e9,
        40e9,
        40e9,
    ]
    assert machine.bandwidth(2, 4, "copy") == 200e9
    assert machine.bandwidth(1, 3) == 600e9
    assert (machine.peak_flops(8), machine.peak_flops(4, 4), machine.peak_flops(16)) == (48e9, 380e9, 48e9)
    assert (machine.hertz, machine.fma_units, machine.fma_latency) == (3e9, 2, 4)
    assert (machine.l1_bandwidth, machine.memory_bandwidth_total) == (200e9, 40e9)
    assert (machine.region_seconds, machine.wake_seconds) == (1e-6, 2e-5)
    assert machine.calibration is MEASURED
    assert QUAD.with_calibration(None) is QUAD


def test_more_threads_than_were_measured() -> None:
    """One thread as measured; the growth of the table beyond."""
    alone = tuple(Rate(rate.one, rate.one) for rate in MEASURED.read)
    l1, l2, l3, memory = alone
    machine = QUAD.with_calibration(replace(MEASURED, threads=1, read=(l1, l2, l3, memory)))
    assert machine.bandwidth(1, 4) == pytest.approx(4 * 200e9)
    assert machine.bandwidth(MEMORY, 4) == pytest.approx(2.5 * 15e9)
    assert machine.memory_bandwidth_total == pytest.approx(2.5 * 15e9)
    assert machine.region_seconds == QUAD.region_seconds


def test_fewer_threads_than_were_measured() -> None:
    single = replace(QUAD, cores=1, memory_bandwidth_total=10e9).with_calibration(MEASURED)
    assert single.bandwidth(MEMORY) == single.memory_bandwidth_total == 15e9


def test_two_threads_that_are_slower_than_one_stay_so() -> None:
    """What was measured for exactly this number of threads is not embellished."""
    assert Rate(10.0, 8.0).at(2, 2) == 8.0
    assert Rate(10.0, 8.0).at(2, 4) == 10.0
    assert Rate(10.0, 99.0).at(5, 1) == 10.0


def test_caches() -> None:
    first, second, third = QUAD.caches
    assert (first.level, first.bytes, first.sets, first.shared) == (1, 32 << 10, 64, False)
    assert (second.sets, third.shared) == (2048, True)
    assert [QUAD.capacity(3, threads) for threads in (1, 2, 4)] == [8 << 20, 4 << 20, 2 << 20]
    assert [QUAD.capacity(2, threads) for threads in (1, 4, 8)] == [1 << 20, 1 << 20, 1 << 19]
    assert len(replace(QUAD, l3_bytes=1 << 20).caches) == 2
    assert hash(QUAD.with_calibration(MEASURED)) != hash(QUAD)


def test_what_was_measured_does_not_hold_for_narrower_vectors() -> None:
    measured = ZEN5.with_calibration(MEASURED)
    assert narrowed(measured, {"avx512f", "avx", "fma"}) is measured
    narrow = narrowed(measured, {"avx", "fma"})
    assert (narrow.vector_bits, narrow.calibration) == (256, None)
    assert narrow.peak_flops(8) == 2.0 * 2 * 4 * MEASURED.hertz


def test_threads_that_share_cores_have_half_of_their_caches() -> None:
    """Which nothing but their speed tells on virtual machines; one thread has all of its core."""
    apart = QUAD.with_calibration(MEASURED)
    assert apart.of_a_thread(4) is apart
    together = QUAD.with_calibration(replace(MEASURED, flops64=Rate(48e9, 110e9)))
    assert together.of_a_thread(1) is together
    shared = together.of_a_thread(4)
    assert (shared.l1_bytes, shared.l2_bytes) == (together.l1_bytes // 2, together.l2_bytes // 2)
    assert shared.l3_bytes == together.l3_bytes
    assert QUAD.of_a_thread(4) is QUAD
