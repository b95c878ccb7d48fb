"""Filters, transforms and resampling, compiled and interpreted, against SciPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from tests.tolerance import assert_close

signal: Any = importlib.import_module("scipy.signal")  # its types tell scalars from arrays too finely
Array = npt.NDArray[Any]

N = pm.Parameter(pm.Int, "N")
x = pm.Signal(pm.Double, "x", N)
FEW, MANY = signal.firwin(9, 0.3), signal.firwin(71, 0.3)
LENGTHS = (1, 2, 7, 72, 101)


def stuffed(a: Array, up: int) -> Array:
    result = np.zeros(len(a) * up, a.dtype)
    result[::up] = a
    return result


def full(a: Array, h: Array) -> Array:
    return np.convolve(a, h)


def same(a: Array, h: Array) -> Array:
    begin = (len(h) - 1) // 2
    return full(a, h)[begin : begin + len(a)]


# Of any length.
FILTERS: dict[str, tuple[Any, Callable[[Array], Array]]] = {
    "causal, table": (x.fir(MANY, "causal"), lambda a: signal.lfilter(MANY, 1.0, a)),
    "same, table": (x.fir(MANY, "same"), lambda a: same(a, MANY)),
    "same, written": (x.fir(FEW, "same"), lambda a: same(a, FEW)),
    "full, table": (x.fir(MANY, "full"), lambda a: full(a, MANY)),
    "full, written": (x.fir(FEW, "full"), lambda a: full(a, FEW)),
    "up 2, causal": (x.up(2).fir(FEW, "causal"), lambda a: signal.lfilter(FEW, 1.0, stuffed(a, 2))),
    "up 3, same": (x.up(3).fir(MANY, "same"), lambda a: same(stuffed(a, 3), MANY)),
    "up 4, two taps": (x.up(4).fir(FEW[:2], "full"), lambda a: full(stuffed(a, 4), FEW[:2])),
    "upfirdn 1 4": (pm.upfirdn(MANY, x, 1, 4), lambda a: signal.upfirdn(MANY, a, 1, 4)),
    "upfirdn 3 2": (pm.upfirdn(FEW, x, 3, 2), lambda a: signal.upfirdn(FEW, a, 3, 2)),
    "upfirdn 10 7": (pm.upfirdn(MANY, x, 10, 7), lambda a: signal.upfirdn(MANY, a, 10, 7)),
    "resample_poly 3 2": (pm.resample_poly(x, 3, 2), lambda a: signal.resample_poly(a, 3, 2)),
    "resample_poly 9 10": (pm.resample_poly(x, 9, 10), lambda a: signal.resample_poly(a, 9, 10)),
    "resample_poly 4 4": (pm.resample_poly(x, 4, 4), lambda a: a),
    "convolve": (pm.convolve(x, MANY), lambda a: full(a, MANY)),
    "correlate": (pm.correlate(x, FEW, "same"), lambda a: same(a, FEW[::-1])),
    "lfilter": (
        pm.lfilter([1, 0.2], [2, -0.5, 0.3], x),
        lambda a: signal.lfilter([1, 0.2], [2, -0.5, 0.3], a),
    ),
    "lfilter, no poles": (pm.lfilter([1, 0.2], [2], x), lambda a: signal.lfilter([1, 0.2], [2], a)),
    "sosfilt": (
        pm.sosfilt(signal.butter(4, 0.2, output="sos"), x),
        lambda a: signal.sosfilt(signal.butter(4, 0.2, output="sos"), a),
    ),
    "fft": (pm.fft(x), np.fft.fft),
    "rfft": (pm.rfft(x), np.fft.rfft),
    "ifft": (pm.ifft(pm.fft(x)), lambda a: a + 0j),
    "irfft": (pm.irfft(pm.rfft(x), N), lambda a: a),
    "irfft, longer": (pm.irfft(pm.rfft(x), N + 3), lambda a: np.fft.irfft(np.fft.rfft(a), len(a) + 3)),
    "interp_fft 1": (x.interp_fft(1), lambda a: a),
    "interp_fft 3": (x.interp_fft(3), lambda a: signal.resample(a, 3 * len(a))),
    "interp_fft 2": (x.interp_fft(2), lambda a: signal.resample(a, 2 * len(a))),
    "down 3, interp_fft": (x.down(3).interp_fft(2), lambda a: signal.resample(a[::3], 2 * len(a[::3]))),
    "complex interp_fft": (pm.fft(x).interp_fft(2), lambda a: signal.resample(np.fft.fft(a), 2 * len(a))),
}


def check(compiled: Any, a: Array, expected: Array) -> None:
    """Of one output: compiled and interpreted."""
    compare(compiled(a), compiled.reference(a), a, np.asarray(expected))


def compare(actual: Array, reference: Array, a: Array, expected: Array) -> None:
    """Both agree with SciPy; the interpreter is the definition."""
    magnitude = max(float(np.sum(np.abs(a))), 1.0) * 4
    assert_close(reference, expected, roundings=60 * max(len(a), 10), magnitude=magnitude, name="reference")
    assert_close(actual, reference, roundings=60 * max(len(a), 10), magnitude=magnitude)


@pytest.mark.parametrize("name", FILTERS)
def test_lengths(name: str) -> None:
    output, expected = FILTERS[name]
    compiled = pm.compile(output, name="filtered", inputs=[x], estimates={N: 100})
    for length in LENGTHS:
        a = np.random.default_rng(length).uniform(-1, 1, length)
        check(compiled, a, expected(a))


@pytest.mark.covering
@pytest.mark.parametrize("old", [100, 101])
@pytest.mark.parametrize("kind", [pm.Double, pm.Complex])
def test_resample(kind: Any, old: int) -> None:
    y = pm.Signal(kind, "y", old)
    a = np.random.default_rng(old).uniform(-1, 1, old).astype(kind.dtype)
    if kind is pm.Complex:
        a = a * (1 + 2j)
    lengths = (50, 77, 100, 101, 202, 203)
    compiled = pm.compile([y.resample(length) for length in lengths], name="resampled")
    for length, actual, reference in zip(lengths, compiled(a), compiled.reference(a), strict=True):
        compare(actual, reference, a, signal.resample(a, length))


@pytest.mark.parametrize("kind", [pm.Float, pm.ComplexFloat, pm.Complex])
def test_types(kind: Any) -> None:
    y = pm.Signal(kind, "y", N)
    a = np.random.default_rng(1).uniform(-1, 1, 90).astype(kind.dtype)
    taps = MANY.astype(np.float32) if kind.size < 16 else MANY
    check(pm.compile(y.fir(taps, "same"), name="filtered"), a, same(a, taps).astype(kind.dtype))
    spectrum = pm.compile(pm.fft(y), name="spectrum")
    check(spectrum, a, np.fft.fft(a).astype(np.complex64 if kind.size < 16 else np.complex128))
    doubled = pm.compile(y.interp_fft(2), name="doubled")
    check(doubled, a, signal.resample(a, 180))


def test_table_of_integers() -> None:
    taps = np.arange(-40, 40, dtype=np.int32)
    compiled = pm.compile(x.fir(taps, "full"), name="filtered")
    a = np.random.default_rng(1).uniform(-1, 1, 90)
    assert_close(compiled(a), full(a, taps), roundings=100, magnitude=4000.0)


@pytest.mark.covering
@pytest.mark.parametrize("kind", [pm.Double, pm.Complex])
@pytest.mark.parametrize("up", [1, 2])
def test_few_taps_that_are_not_finite_reach_their_results_alone(kind: Any, up: int) -> None:
    samples = pm.Signal(kind, "samples", N)
    compiled = pm.compile(
        samples.up(up).fir([1.0, 2.0, np.nan, 3.0], "causal"),
        name="filtered",
        options=pm.Options(fir="direct"),
    )
    for found in (compiled(np.ones(5, kind.dtype)), compiled.reference(np.ones(5, kind.dtype))):
        touched = np.arange(5 * up) >= 2 if up == 1 else np.arange(10) % 2 == 0
        touched[:2] = False
        np.testing.assert_array_equal(np.isnan(found), touched)
        np.testing.assert_array_equal(found[:2], [1, 3] if up == 1 else [1, 2])


def test_not_finite() -> None:
    taps = np.array([1.0, np.inf, -np.inf, np.nan] + [0.5] * 70)
    compiled = pm.compile(x.fir(taps, "causal"), name="filtered")
    ones = np.ones(5)
    np.testing.assert_equal(compiled(ones), compiled.reference(ones))


def test_transforms_are_calls() -> None:
    compiled = pm.compile(pm.irfft(pm.rfft(x) * 2.0, N), name="twice", options=pm.Options(fft="always"))
    calls = [call for group in compiled.explain().groups for call in group.library_calls]
    assert calls == ["fft", "fft"]


def test_the_interpreter_transforms_long_signals() -> None:
    a = np.random.default_rng(1).uniform(-1, 1, 200_003)
    compiled = pm.compile(pm.rfft(x), name="spectrum", options=pm.Options(fft="always"))
    check(compiled, a, np.fft.rfft(a))


def test_concatenate() -> None:
    state, h = pm.Signal(pm.Double, "state", 8), signal.firwin(9, 0.3)
    joined = pm.concatenate([state, x, state])
    compiled = pm.compile([joined, joined.fir(h)], inputs=[state, x])
    for length in (0, 1, 7, 100):
        rng = np.random.default_rng(length)
        before, samples = rng.standard_normal(8), rng.standard_normal(length)
        wanted = np.concatenate([before, samples, before])
        for found in (compiled(before, samples), compiled.reference(before, samples)):
            np.testing.assert_array_equal(found[0], wanted)
            assert_close(found[1], np.convolve(wanted, h, "valid"), roundings=16, magnitude=20.0)
    with pytest.raises(pm.LangError, match="list of at least one"):
        pm.concatenate([])


def test_concatenate_refuses_lengths_below_zero() -> None:
    """What follows would begin before its place."""
    state = pm.Signal(pm.Double, "state", 3)
    joined = pm.concatenate([state, x.fir(np.ones(12)), state])
    compiled = pm.compile(joined, name="joined", inputs=[state, x])
    before = np.arange(3.0)
    for length in (11, 12, 40):
        samples = np.ones(length)
        middle = np.full(length - 11, 12.0)
        np.testing.assert_array_equal(compiled(before, samples), np.concatenate([before, middle, before]))
    for length in (0, 10):
        with pytest.raises(
            pm.ArgumentError, match=r"refused for N = \d+: requires N >= 11 for concatenate\("
        ):
            compiled(before, np.ones(length))
    with pytest.raises(pm.LangError, match="no sizes meet all of these"):
        pm.compile(joined, name="joined", sizes={N: 5})


@pytest.mark.parametrize("kind", [pm.Int, pm.UChar])
def test_resampling_of_integers_is_double(kind: Any) -> None:
    samples = pm.Signal(kind, "samples", N)
    compiled = pm.compile(pm.resample_poly(samples, 3, 2), name="resampled")
    for length in (0, 1, 19):
        a = np.arange(1, length + 1).astype(kind.dtype)
        wanted = signal.resample_poly(a.astype(float), 3, 2) if length else np.zeros(0)
        for found in (compiled(a), compiled.reference(a)):
            assert found.dtype == np.float64
            assert_close(found, wanted, roundings=64, magnitude=60.0)


@pytest.mark.parametrize("mode", ["valid", "same"])
def test_interpolation_by_taps_of_any_number(mode: Any) -> None:
    samples, taps = pm.Signal(pm.Complex, "z", N), pm.Vector(pm.Complex, "h", [pm.Parameter(pm.Int, "T")])
    compiled = pm.compile(samples.up(3).fir(taps, mode), name="interpolated")
    for length, count in ((1, 1), (7, 2), (7, 5), (13, 21)):
        rng = np.random.default_rng(length)
        a, h = (rng.standard_normal(n) + 1j * rng.standard_normal(n) for n in (length, count))
        wanted = same(stuffed(a, 3), h) if mode == "same" else np.convolve(stuffed(a, 3), h, "valid")
        for found in (compiled(a, h), compiled.reference(a, h)):
            assert_close(found, wanted, roundings=64, magnitude=200.0)
    np.testing.assert_array_equal(compiled(np.ones(3) + 0j, np.zeros(0, complex)), 0)


VALID = x.fir(np.ones(30))  # whose length is negative of less than 29 samples
# Chains that go on with a signal whose length may be negative.
CHAINS: dict[str, tuple[Any, Callable[[Array, Array], Array]]] = {
    "same": (VALID.fir([1, 2, 1], "same"), lambda v, _: same(v, np.array([1.0, 2, 1]))),
    "slice": (x[5:].fir([1, 2, 1], "same"), lambda _, a: same(a[5:], np.array([1.0, 2, 1]))),
    "difference": ((x[1:] - x[:-1]).fir([1, 2, 1], "same"), lambda _, a: same(np.diff(a), np.r_[1.0, 2, 1])),
    "correlate": (pm.correlate(VALID, [1, 2, 3], "full"), lambda v, _: full(v, np.r_[3.0, 2, 1])),
    "upfirdn": (pm.upfirdn([1, 2, 3], VALID, 2, 3), lambda v, _: signal.upfirdn([1, 2, 3], v, 2, 3)),
    "concatenate": (pm.concatenate([x[:4], VALID, x[:2]]), lambda v, a: np.r_[a[:4], v, a[:2]]),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_signals_that_may_be_too_short(name: str) -> None:
    result, reference = CHAINS[name]
    constraints = [pm.Condition(N, ">=", 4)] if name == "concatenate" else []
    compiled = pm.compile(result, name="chained", constraints=constraints)
    for length in (30, 31, 37, 101):
        a = np.random.default_rng(length).standard_normal(length)
        wanted = reference(np.convolve(a, np.ones(30), "valid"), a)
        for found in (compiled(a), compiled.reference(a)):
            assert_close(found, wanted, roundings=64, magnitude=300.0)


def resampled(given: Any, count: int) -> Any:
    """As by SciPy, whose version 1.15 forgets a half of the higher frequency of two complex samples."""
    if count != 2:
        return signal.resample(given, count)
    spectrum = np.fft.fft(given)
    mean, higher = spectrum[0], spectrum[1] + spectrum[-1]
    found = np.array([mean + higher, mean - higher]) / len(given)
    return found if np.iscomplexobj(given) else found.real


@pytest.mark.covering
@pytest.mark.parametrize("samples", [pm.Double, pm.Complex])
@pytest.mark.parametrize(
    ("length", "wanted"),
    [
        (2 * N, lambda n: 2 * n),
        (2 * N + 1, lambda n: 2 * n + 1),
        (N + 3, lambda n: n + 3),
        (N // 2, lambda n: n // 2),
        (N - N // 3 - 1, lambda n: n - n // 3 - 1),
    ],
)
def test_resample_to_a_length_that_depends_on_sizes(
    samples: Any, length: Any, wanted: Callable[[int], int]
) -> None:
    """Lengths that are larger, or smaller, for all sizes, as SciPy's."""
    s = pm.Signal(samples, "s", N)
    compiled = pm.compile(s.resample(length), name="again")
    rng = np.random.default_rng(1)
    for count in (4, 5, 6, 7, 12, 17, 32):
        given = rng.standard_normal(count) + (1j * rng.standard_normal(count) if samples == pm.Complex else 0)
        expected = resampled(given, wanted(count))
        np.testing.assert_allclose(compiled(given), expected, rtol=0, atol=1e-13 * count)


def test_resample_refuses_no_samples() -> None:
    compiled = pm.compile(x.resample(N + 3), name="more")
    with pytest.raises(
        pm.ArgumentError, match=r"refused for N = 0: requires N >= 1 for x.resample\(N \+ 3\)$"
    ):
        compiled(np.zeros(0))
    twice = pm.compile(x.resample(2 * N), name="twice")
    assert twice(np.zeros(0)).shape == (0,)
