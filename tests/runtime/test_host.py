"""What is compiled for: this machine, or one that is stated."""

from __future__ import annotations

import threading
from dataclasses import fields
from typing import get_args

import numpy as np
import pytest

import polymat as pm
from polymat.driver import compile_request, levels, request_for
from polymat.machine import known
from polymat.machine.calibrate import Stream
from polymat.machine.known import GENERIC, ZEN3
from polymat.machine.model import MEMORY, Machine
from polymat.request import Request
from polymat.runtime.calibration import calibrated_machine
from tests.hosts import StatedLibraries, as_stated, compiling_for

N = pm.Parameter(pm.Int, "N")
x = pm.Vector(pm.Double, "x", [N])
STREAMS: tuple[Stream, ...] = get_args(Stream)


def test_a_request_is_for_this_machine() -> None:
    assert request_for(x + 1).machine == as_stated(calibrated_machine())


MACHINES = {name: each for name, each in vars(known).items() if isinstance(each, Machine)}


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_machines_that_count_as_measured_are_as_they_are_described(machine: Machine) -> None:
    measured = as_stated(machine)
    assert measured.calibration is not None
    for threads in (1, 2, machine.cores, 64):
        for size in (4, 8):
            assert measured.peak_flops(size, threads) == pytest.approx(machine.peak_flops(size, threads))
        for level in (1, 2, 3, MEMORY):
            for stream in STREAMS:
                found = measured.bandwidth(level, threads, stream)
                assert found == pytest.approx(machine.bandwidth(level, threads, stream))
    for name in ("region_seconds", "wake_seconds", "fma_latency", "hertz"):
        assert getattr(measured, name) == pytest.approx(getattr(machine, name))


def test_another_machine_until_the_block_ends() -> None:
    none = StatedLibraries(lacking=frozenset({"blas", "fft"}))
    with compiling_for(ZEN3, none):
        with compiling_for(GENERIC):
            request = request_for(x + 1)
            assert request.machine == as_stated(GENERIC)
            assert request.libraries is none
        assert request_for(x + 1).machine == as_stated(ZEN3)
    assert request_for(x + 1).libraries is not none


def test_another_thread_compiles_for_this_machine() -> None:
    found: list[Machine] = []
    with compiling_for(GENERIC):
        thread = threading.Thread(target=lambda: found.append(request_for(x + 1).machine))
        thread.start()
        thread.join()
    assert found == [as_stated(calibrated_machine())]


def test_the_request_holds_what_was_asked_for() -> None:
    condition = pm.Condition(N, ">=", 4)
    request = request_for(
        (x + 1).named("plus"),
        inputs=[x],
        estimates={N: 100},
        constraints=(each for each in [condition]),
        options=pm.Options(threads=1),
    )
    assert (request.name, request.inputs, request.estimates) == ("plus", (x,), {"N": 100})
    assert request.constraints == (condition,)
    assert request.options.threads == 1
    compiled = compile_request(request)
    assert np.array_equal(compiled(np.arange(5.0)), np.arange(5.0) + 1)
    assert next(name for name, _ in levels(request)) == "built"


def test_a_request_cannot_be_changed() -> None:
    request = request_for(x + 1)
    for field in fields(Request):
        with pytest.raises(AttributeError):
            setattr(request, field.name, None)
