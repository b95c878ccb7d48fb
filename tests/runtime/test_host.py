"""What is compiled for: this machine, or one that is stated."""

from __future__ import annotations

import threading
from dataclasses import fields

import numpy as np
import pytest

import polymat as pm
from polymat.driver import compile_request, levels, request_for
from polymat.machine.known import GENERIC, ZEN3
from polymat.machine.model import Machine
from polymat.request import Request
from polymat.runtime.calibration import calibrated_machine
from tests.hosts import StatedLibraries, as_stated, compiling_for

N = pm.Parameter(pm.Int, "N")
x = pm.Vector(pm.Double, "x", [N])


def test_a_request_is_for_this_machine() -> None:
    assert request_for(x + 1).machine == as_stated(calibrated_machine())


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
    assert (request.name, request.inputs, request.estimates) == ("plus", [x], {"N": 100})
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
