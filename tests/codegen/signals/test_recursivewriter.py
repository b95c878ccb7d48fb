"""Recursive filters by blocks against the definition sample by sample, SciPy and long doubles."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat.codegen.signals.recursiveblocks import LEAST_RUN, RecursiveShape, recursive_text
from polymat.machine.known import GENERIC, HASWELL
from polymat.tilesize.filterblock import RUN, transposed_lanes
from tests.differential.under_sanitizers import clean_output
from tests.tolerance import assert_close

signal: Any = importlib.import_module("scipy.signal")
Array = npt.NDArray[Any]

C, N = pm.Parameter(pm.Int, "C"), pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")
OPTIONS = pm.Options(threads=2, parallel_threshold=0)
LANES = 8  # of double precision, at least; 16 of single with long vectors
BLOCK = LANES * RUN
LENGTHS = (0, 1, 2, 3, 13, LANES * LEAST_RUN + 2, LANES * LEAST_RUN + 9, BLOCK - 1, BLOCK + 2, 2 * BLOCK + 77)
SECTIONS = signal.butter(6, 0.2, output="sos")


def compiled_filter(outputs: Any, inputs: list[Any], count: int = 1, **more: Any) -> pm.Compiled:
    """The filters, for signals so long that blocks are predicted to be quicker on any x86 processor."""
    given = {"options": OPTIONS, "estimates": {N: 100_000}, **more}
    compiled = pm.compile(outputs, inputs=inputs, name="filters", **given)
    kinds = [group.kind for group in compiled.explain().groups]
    assert kinds.count("recursive") == count, kinds
    return compiled


def noise(*shape: int, dtype: Any = np.float64) -> Array:
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


def sosfilt(sos: Array, x: Array, **more: Any) -> Array:
    """SciPy's, which refuses empty signals."""
    return np.asarray(signal.sosfilt(sos, x, **more)) if x.size else x.copy()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lengths(dtype: Any) -> None:
    kind = pm.Double if dtype == np.float64 else pm.Float
    x = pm.Signal(kind, "x", N)
    sos = SECTIONS.astype(dtype)
    compiled = compiled_filter([pm.sosfilt(sos, x), pm.lfilter([1, 0.5], [2.0, -1.0, 0.3], x)], [x], 2)
    for length in LENGTHS:
        samples = noise(length, dtype=dtype)
        rows, direct = compiled(samples)
        assert_close(rows, sosfilt(sos, samples), roundings=4000, magnitude=1.0)
        if length:
            expected = signal.lfilter([1, 0.5], [2.0, -1.0, 0.3], samples.astype(np.float64)).astype(dtype)
            assert_close(direct, expected, roundings=1000, magnitude=4.0)


@pytest.mark.covering
@pytest.mark.parametrize("channels", [0, 1, 2, LANES - 1, LANES, LANES + 1, 19])
@pytest.mark.parametrize("axis", [0, 1])
def test_channels(channels: int, axis: int) -> None:
    x = pm.Signal(pm.Double, "x", [C, N] if axis else [N, C])
    compiled = compiled_filter(pm.sosfilt(SECTIONS, x, axis=axis), [x])
    for length in (1, 9, 40, 2 * BLOCK + 3):
        samples = noise(*((channels, length) if axis else (length, channels)))
        assert_close(compiled(samples), sosfilt(SECTIONS, samples, axis=axis), roundings=4000, magnitude=1.0)


def test_interpreter_agrees() -> None:
    x, z = pm.Signal(pm.Double, "x", [C, N]), pm.Image(pm.Double, "z", [3, C, 2])
    compiled = compiled_filter(list(pm.sosfilt(SECTIONS, x, zi=z)), [x, z])
    for channels, length in ((1, 1), (2, 200), (9, 30)):
        arrays = [noise(channels, length), noise(3, channels, 2)]
        for one, other in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
            assert_close(one, other, roundings=4000, magnitude=4.0)


BAD = (np.nan, np.inf, -np.inf)


@pytest.mark.covering
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("place", [0, 1, 5, BLOCK // 2, BLOCK + 1, 2 * BLOCK + 5, 3 * BLOCK - 2])
def test_nothing_spreads_backwards(bad: float, place: int) -> None:
    x = pm.Signal(pm.Double, "x", N)
    compiled = compiled_filter([pm.sosfilt(SECTIONS, x), pm.lfilter([1.0], [1.0, -0.5], x)], [x], 2)
    samples = noise(3 * BLOCK + 11)
    before = compiled(samples)
    samples[place] = bad
    for one, clean, expected in zip(
        compiled(samples),
        before,
        (sosfilt(SECTIONS, samples), signal.lfilter([1.0], [1.0, -0.5], samples)),
        strict=True,
    ):
        assert_close(one[:place], clean[:place], roundings=4000, magnitude=1.0)
        # SciPy multiplies infinities with zeros that it adds to the coefficients: NaN.
        np.testing.assert_array_equal(np.isfinite(one), np.isfinite(expected))


def test_one_bad_channel_of_many() -> None:
    x = pm.Signal(pm.Double, "x", [C, N])
    compiled = compiled_filter(pm.sosfilt(SECTIONS, x), [x])
    samples = noise(LANES + 3, 500)
    samples[2, 70], samples[LANES + 1, 200] = np.nan, np.inf
    result = compiled(samples)
    bad = ~np.isfinite(result)
    assert bad[2, 70:].all()
    assert bad[LANES + 1, 200:].all()
    assert bad.sum() == (500 - 70) + (500 - 200)


@pytest.mark.parametrize("radius", [1.001, 1.05, 2.0])
def test_unstable_filters_grow_as_sample_by_sample(radius: float) -> None:
    x = pm.Signal(pm.Double, "x", N)
    back = [1.0, -2 * radius * np.cos(0.3), radius**2]
    compiled = compiled_filter(pm.lfilter([1.0, 0.2], back, x), [x])
    samples = noise(4 * BLOCK)
    with np.errstate(all="ignore"):
        expected = signal.lfilter([1.0, 0.2], back, samples)
    found = compiled(samples)
    with np.errstate(all="ignore"):
        envelope = np.maximum.accumulate(np.abs(expected))
        small = envelope < 1e290  # beyond it is a matter of a rounding where infinity begins
        assert np.all(np.abs(found - expected)[small] <= 1e-9 * envelope[small])
    assert not np.isfinite(found[np.isnan(expected)]).any()


def reference(b: Any, a: Any, x: Array, wide: Any) -> Array:
    """The filter in a wider type, of the same coefficients."""
    return np.asarray(signal.lfilter(np.asarray(b, wide), np.asarray(a, wide), x.astype(wide)))


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("radius", "angle"),
    [(0.5, 1.0), (0.99, 0.3), (0.999, 0.01), (0.9999, 0.001), (0.999, 3.13), (0.9999, 1.6)],
)
def test_as_exact_as_sample_by_sample(radius: float, angle: float, dtype: Any) -> None:
    wide = np.longdouble if dtype == np.float64 else np.float64
    if np.finfo(wide).eps >= np.finfo(dtype).eps:
        pytest.skip("no wider type")
    kind = pm.Double if dtype == np.float64 else pm.Float
    x = pm.Signal(kind, "x", N)
    b = np.array([1.0, 0.3, -0.2], dtype)
    a = np.array([1.0, -2 * radius * np.cos(angle), radius**2], dtype)
    compiled = compiled_filter(pm.lfilter(b, a, x), [x])
    samples = noise(40 * BLOCK, dtype=dtype)
    exact = reference(b, a, samples, wide)
    error, usual = (
        float(np.sqrt(np.mean(np.abs(found - exact) ** 2)))
        for found in (compiled(samples), signal.lfilter(b, a, samples))
    )
    assert error <= 3 * usual + 8 * np.finfo(dtype).eps * float(np.abs(exact).max())


def test_high_orders_are_as_exact_as_sample_by_sample() -> None:
    x = pm.Signal(pm.Double, "x", N)
    b, a = signal.butter(6, 0.1)
    compiled = compiled_filter(pm.lfilter(b, a, x), [x])
    samples = noise(20 * BLOCK)
    exact = reference(b, a, samples, np.longdouble)
    error, usual = (
        np.abs(found - exact).max() for found in (compiled(samples), signal.lfilter(b, a, samples))
    )
    assert error <= 10 * usual + 1e-13


def recurrence(definition: Any, kind: Any = pm.Double) -> Any:
    """y(i), defined by what is given y, x and i."""
    x = pm.Signal(kind, "x", N)
    y = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), kind, "y")
    y.defn = definition(y, x)
    return y, x


def at(op: str, value: int) -> pm.Condition:
    return pm.Condition(i, op, value)


RECURRENCES = {
    "from zero": lambda y, x: [pm.Case(at("==", 0), x(0)), pm.Case(at(">=", 1), x(i) - 0.9 * y(i - 1))],
    "given": lambda y, x: [
        pm.Case(at("<", 2), 3 * x(i) + i),
        pm.Case(at(">=", 2), 0.5 * x(i) + x(i - 2) / 3 + y(i - 1) * 0.7 - y(i - 2) / 10),
    ],
    "a later start": lambda y, x: [
        pm.Case(at("==", 0), 1.5),
        pm.Case(at(">=", 1), 0.5 * (y(i - 1) * 1.5) - (x(i - 1) - 0.1 * y(i - 1)) + x(i)),
    ],
    "every second": lambda y, x: [
        pm.Case(at("<", 2), x(i)),
        pm.Case(at(">=", 2), x(i) - 0.25 * y(i - 2)),
    ],
}


def stepped(name: str, n: int, x: Array, y: Array) -> float:
    """Result n of the same recurrences."""
    match name:
        case "from zero":
            return float(x[n] - (0.9 * y[n - 1] if n else 0))
        case "given" if n < 2:
            return float(3 * x[n] + n)
        case "given":
            return float(0.5 * x[n] + x[n - 2] / 3 + 0.7 * y[n - 1] - y[n - 2] / 10)
        case "a later start":
            return float(0.85 * y[n - 1] - x[n - 1] + x[n] if n else 1.5)
        case _:
            return float(x[n] - (0.25 * y[n - 2] if n > 1 else 0))


@pytest.mark.parametrize("name", RECURRENCES)
def test_recurrences_of_users(name: str) -> None:
    y, x = recurrence(RECURRENCES[name])
    compiled = compiled_filter(y, [x], name != "a later start")
    for length in (1, 2, 3, 50, 3 * BLOCK + 5):
        samples = noise(length)
        expected = np.zeros(length)
        for n in range(length):
            expected[n] = stepped(name, n, samples, expected)
        assert_close(compiled(samples), expected, roundings=400, magnitude=20.0)


def test_infinities_where_a_tap_is_missing() -> None:
    y, x = recurrence(RECURRENCES["every second"])
    compiled = compiled_filter(y, [x])
    samples = noise(2 * BLOCK)
    samples[301] = np.inf
    result = compiled(samples)
    assert np.isinf(result[301::2]).all()
    assert np.isfinite(result[::2]).all()


def test_reason_and_names() -> None:
    x = pm.Signal(pm.Double, "x", N)
    text = str(compiled_filter(pm.sosfilt(SECTIONS, x), [x]).explain())
    assert "3 recursive filters of order 2" in text
    assert "runs of up to" in text
    loops = pm.compile(pm.sosfilt(SECTIONS, x), name="loops", options=pm.Options(kernels=False))
    assert "recursive" not in [group.kind for group in loops.explain().groups]
    samples = noise(300)
    assert_close(loops(samples), sosfilt(SECTIONS, samples), roundings=4000, magnitude=1.0)


def test_shapes_have_names() -> None:
    shape = RecursiveShape("f64", 8, (0, 2), (1, 3), 4)
    assert shape.name == "f64_8_0x2_1x3"
    assert f"_pm_recursive_{shape.name}(" in recursive_text(shape)
    assert shape.depth == 3
    assert all(transposed_lanes(machine, 8) >= 8 for machine in (GENERIC, HASWELL))


@pytest.mark.turns(2)
def test_sanitized(seed: int) -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_recursive"])
    assert printed.split() == [("Double", "Float")[seed % 2]]
