"""Reports for calls from here: on other threads than plans were made for, these plans are priced anew."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from tests.fixed import NARROW, WIDE
from tests.hosts import CompileFor

N = pm.Parameter(pm.Int, "N")
A, B, start = (
    pm.Matrix(pm.Double, "A", [N, N]),
    pm.Matrix(pm.Double, "B", [N, N]),
    pm.Vector(pm.Double, "start", [N]),
)
FAST = pm.Options(cflags=("-O0",), blas="never")


def power_method() -> Any:
    """What runs in sections."""

    def step(v: Any) -> Any:
        image = A @ v
        return image / pm.Sqrt(pm.dot(image, image)())

    return pm.iterate(step, start, steps=40)


@pytest.mark.parametrize("machine", [NARROW, WIDE], ids=lambda machine: machine.name)
def test_one_thread_takes_longer_than_two_and_explain_says_so(machine: Any, compile_for: CompileFor) -> None:
    compile_for(machine)
    run = pm.compile((A @ B).named("C"), estimates={N: 1000}, options=FAST)
    with pm.threads(2):
        planned = run.explain()
    with pm.threads(1):
        alone = run.explain()
    assert planned.threads == 2
    assert planned.seconds_on(2) == planned.predicted.seconds
    one = planned.seconds_on(1)
    assert one is not None
    assert one > 1.5 * (planned.predicted.seconds or 0.0)
    assert one >= 2e9 / machine.peak_flops(8, 1)
    assert "calls from here" not in str(planned)
    assert f"calls from here have 1 thread, and {one:.3g} s are predicted for them" in str(alone)
    assert "are for 2: Options(threads=1) makes others" in str(alone)


def test_the_price_on_its_own_threads_is_the_prediction(compile_for: CompileFor) -> None:
    compile_for(NARROW)
    asked: list[tuple[Any, Any]] = [(power_method(), [A, start]), ((A @ B).named("C"), [A, B])]
    for outputs, inputs in asked:
        report = pm.compile(outputs, estimates={N: 700}, options=FAST, inputs=inputs).explain()
        assert report.priced is not None
        assert report.priced(report.threads) == pytest.approx(report.predicted.seconds, rel=1e-6)


def test_nobody_prices_a_report_that_travelled(compile_for: CompileFor) -> None:
    compile_for(NARROW)
    report = pm.compile((A + B).named("C"), estimates={N: 100}, options=FAST).explain()
    travelled = pickle.loads(pickle.dumps(report))
    assert travelled.seconds_on(report.threads) == report.predicted.seconds
    assert travelled.seconds_on(report.threads + 1) is None


def test_arrays_beyond_memory_have_no_price(compile_for: CompileFor) -> None:
    compile_for(NARROW)
    report = pm.compile((A + B).named("C"), options=FAST).explain()
    assert replace(report, beyond_memory=True).seconds_on(1) is None
