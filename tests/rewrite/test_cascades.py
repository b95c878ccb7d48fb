"""Filters of filters: one with the taps of both where the results are the same, else two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Options
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from tests.tolerance import assert_close

N = pm.Parameter(pm.Int, "N")
FIRST, SECOND, THIRD = np.hanning(150), np.hamming(91), np.blackman(71)
FFT = Options(fir="fft")


def filters(output: Any, options: Options = FFT) -> int:
    """How many filters a compilation has: each is three transforms."""
    return sums(output, options) // 3


def sums(output: Any, options: Options) -> int:
    found = levels(request_for([output.named("y")], options=options))
    graph = next(level for name, level in found if name == "graph")
    assert isinstance(graph, Pipeline)
    return sum(stage.is_reduction for stage in graph.stages)


def check(output: Any, x: Any, lengths: tuple[int, ...], dtype: Any = Double) -> None:
    compiled = pm.compile(output, name="filtered", inputs=[x], options=FFT)
    for length in lengths:
        given = np.random.default_rng(length).uniform(-1, 1, length).astype(dtype.dtype)
        expected = compiled.reference(given)
        assert_close(compiled(given), expected, roundings=100, magnitude=75 * 46 * 40.0)


@pytest.mark.parametrize("dtype", [Double, Float])
def test_three_become_one(dtype: Any) -> None:
    x = pm.Signal(dtype, "x", N)
    output = x.fir(FIRST.astype(dtype.dtype)).fir(SECOND.astype(dtype.dtype)).fir(THIRD.astype(dtype.dtype))
    assert filters(output) == 1
    check(output, x, (310, 311, 997, 4001), dtype)


@pytest.mark.parametrize(
    ("modes", "count"),
    [
        (("causal", "causal"), 1),
        (("full", "full"), 1),
        (("full", "causal"), 1),
        (("same", "valid"), 1),
        (("causal", "valid"), 1),
        (("valid", "causal"), 2),
        (("valid", "full"), 2),
        (("same", "same"), 2),
        (("causal", "full"), 2),
        (("causal", "same"), 2),
    ],
)
def test_borders(modes: tuple[str, str], count: int) -> None:
    x = pm.Signal(Double, "x", 700)
    output = x.fir(FIRST, modes[0]).fir(SECOND, modes[1])
    assert filters(output) == count
    check(output, x, (700,))


def test_a_slice_between() -> None:
    x = pm.Signal(Double, "x", 1200)
    output = x.fir(FIRST)[3:900].fir(SECOND)[10:]
    check(output, x, (1200,))


def test_what_others_read_stays() -> None:
    x = pm.Signal(Double, "x", 900)
    between = x.fir(FIRST)
    output = between.fir(SECOND)
    assert filters(output + between[45:-45]) == 2
    compiled = pm.compile([output, between], name="filtered", inputs=[x], options=FFT)
    given = np.random.default_rng(1).uniform(-1, 1, 900)
    for result, expected in zip(compiled(given), compiled.reference(given), strict=True):
        assert_close(result, expected, roundings=100, magnitude=75 * 46.0)


def test_only_known_taps_are_convolved() -> None:
    x, h = pm.Signal(Double, "x", 900), pm.Vector(Double, "h", [80])
    assert filters(x.fir(h).fir(SECOND)) == 2


def test_sums_stay_apart_where_transforms_are_refused() -> None:
    """Errors of each result are relative to it, also of the first filter."""
    x = pm.Signal(Double, "x", 900)
    assert sums(x.fir(FIRST).fir(SECOND), Options(fir="direct")) == 2


@pytest.mark.parametrize("dtype", [Double, Float])
@pytest.mark.parametrize(("sample", "each"), [(0.75, -0.625), (-0.75, 0.625), (0.5, -0.45), (-0.5, 0.45)])
def test_taps_beyond_the_range_of_their_type(dtype: Any, sample: float, each: float) -> None:
    """Taps so small or large that only their product underflows or overflows, not a result."""
    largest = 38 if dtype is Float else 308
    taps = np.full(20, 10.0 ** (each * largest)).astype(dtype.dtype)
    x = pm.Signal(dtype, "x", N)
    given = np.full(200, 10.0 ** (sample * largest)).astype(dtype.dtype)
    for options in (Options(), FFT):
        compiled = pm.compile(x.fir(taps).fir(taps), name="filtered", inputs=[x], options=options)
        expected = compiled.reference(given)
        assert np.all(np.isfinite(expected))
        assert np.all(expected > 0)
        np.testing.assert_allclose(compiled(given), expected, rtol=1e-4 if dtype is Float else 1e-12)


@pytest.mark.parametrize(
    ("taps", "count"),
    [
        (np.full(90, 1e-25), 2),
        (np.full(90, 1e25), 2),
        (np.full(90, np.inf), 2),
        (np.array([1e-30] + [1.0] * 90), 2),
        (np.array([0.0] + [1.0, -1.0] * 45), 1),
        (np.full(90, 1e-15), 1),
    ],
)
def test_what_a_type_holds_is_joined(taps: Any, count: int) -> None:
    x = pm.Signal(Float, "x", 900)
    assert filters(x.fir(taps.astype(np.float32)).fir(-taps.astype(np.float32))) == count


@pytest.mark.parametrize(("beyond", "count"), [(1.0, 1), (2.0, 2)])
@pytest.mark.parametrize("limit", [np.finfo(np.float32).max, np.finfo(np.float32).tiny])
def test_the_largest_and_the_smallest_number_are_held(limit: Any, beyond: float, count: int) -> None:
    """Products of taps may be these, but neither larger than the one nor smaller than the other."""
    taps, others = np.zeros(90, np.float32), np.zeros(90, np.float32)
    taps[0], others[0] = limit, beyond if limit > 1 else 1.0 / beyond
    x = pm.Signal(Float, "x", 900)
    assert filters(x.fir(taps).fir(others)) == count
