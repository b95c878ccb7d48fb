"""Signals, compiled and interpreted, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm

Array = npt.NDArray[Any]

N, T, P = (pm.Parameter(pm.Int, name) for name in "NTP")
x, y = pm.Signal(pm.Double, "x", N), pm.Signal(pm.Double, "y", N)
h = pm.Vector(pm.Double, "h", [T])
CONSTANT = pm.Signal(pm.Double, "c", 10)
TAPS = [1.0, -2.0, 3.0]


def causal(signal: Array, taps: Array) -> Array:
    return np.convolve(signal, taps)[: len(signal)] if len(signal) else signal


def up(signal: Array, factor: int) -> Array:
    result = np.zeros(len(signal) * factor)
    result[::factor] = signal
    return result


ONE_INPUT: dict[str, tuple[Any, Callable[[Array], Array]]] = {
    "2 * x + 1": (2 * x + 1, lambda a: 2 * a + 1),
    "1 / (x + 9)": (1 / (x + 9), lambda a: 1 / (a + 9)),
    "-x": (-x, lambda a: -a),
    "x[:]": (x[:], lambda a: a),
    "x[2:7]": (x[2:7], lambda a: a[2:7]),
    "x[2:]": (x[2:], lambda a: a[2:]),
    "x[:-3]": (x[:-3], lambda a: a[:-3]),
    "x[-4:]": (x[-4:], lambda a: a[-4:]),
    "x[-4:-1]": (x[-4:-1], lambda a: a[-4:-1]),
    "x[1::3]": (x[1::3], lambda a: a[1::3]),
    "x[2:-2:2]": (x[2:-2:2], lambda a: a[2:-2:2]),
    "x[::-1]": (x[::-1], lambda a: a[::-1]),
    "x[-2:1:-3]": (x[-2:1:-3], lambda a: a[-2:1:-3]),
    "x[5:2]": (x[5:2], lambda a: a[5:2]),
    "x[N // 2:N]": (x[N // 2 : N], lambda a: a[len(a) // 2 :]),
    "down 1": (x.down(1), lambda a: a),
    "down 4": (x.down(4), lambda a: a[::4]),
    "up 1": (x.up(1), lambda a: a),
    "up 3": (x.up(3), lambda a: up(a, 3)),
    "down 2 up 2": (x.down(2).up(2)[0:N] + x, lambda a: up(a[::2], 2)[: len(a)] + a),
    "valid taps": (x.fir(TAPS), lambda a: np.convolve(a, TAPS, "valid")),
    "causal taps": (x.fir(TAPS, mode="causal"), lambda a: causal(a, np.array(TAPS))),
    "array of taps": (x.fir(np.array(TAPS)), lambda a: np.convolve(a, TAPS, "valid")),
    "one tap": (x.fir((2,), mode="causal"), lambda a: 2 * a),
}


@pytest.mark.covering
@pytest.mark.parametrize("name", ONE_INPUT)
@pytest.mark.parametrize("length", [9, 12])
def test_signal_computes_what_numpy_does(name: str, length: int, seed: int) -> None:
    result, reference = ONE_INPUT[name]
    values = np.random.default_rng(seed).integers(-4, 5, length).astype(float)
    compiled = pm.compile(result, constraints=[pm.Condition(N, ">=", 7)])
    expected = np.ascontiguousarray(reference(values))
    np.testing.assert_array_equal(compiled(values), expected, strict=True)
    np.testing.assert_array_equal(compiled.reference(values), expected, strict=True)


@pytest.mark.parametrize(
    "bounds", [(None, None, None), (2, 99, 3), (-99, 4, None), (8, 2, -2), (None, -1, 4), (7, 3, None)]
)
def test_constant_slices_are_clamped_as_python_does(bounds: tuple[Any, Any, Any]) -> None:
    values = np.arange(10.0)
    compiled = pm.compile(CONSTANT[slice(*bounds)])
    np.testing.assert_array_equal(compiled(values), values[slice(*bounds)])


@pytest.mark.covering
@pytest.mark.parametrize("mode", ["valid", "causal"])
@pytest.mark.parametrize(("length", "taps"), [(12, 5), (5, 5), (12, 1), (3, 3)])
def test_fir_with_taps_given_at_the_call(mode: str, length: int, taps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = (rng.integers(-4, 5, n).astype(float) for n in (length, taps))
    compiled = pm.compile(x.fir(h, mode=mode), inputs=[x, h])
    expected = causal(values, weights) if mode == "causal" else np.convolve(values, weights, "valid")
    np.testing.assert_array_equal(compiled(values, weights), expected)
    np.testing.assert_array_equal(compiled.reference(values, weights), expected)


def test_causal_fir_may_have_more_taps_than_samples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = (rng.integers(-4, 5, n).astype(float) for n in (3, 7))
    np.testing.assert_array_equal(
        pm.compile(x.fir(h, mode="causal"), inputs=[x, h])(values, weights), causal(values, weights)
    )


def test_a_slice_bound_may_be_a_parameter() -> None:
    values = np.arange(12.0)
    bounds = [pm.Condition(P, ">=", 0), pm.Condition(P + 5, "<=", N)]
    compiled = pm.compile(x[P : P + 5], constraints=bounds)
    np.testing.assert_array_equal(compiled(values, P=3), values[3:8])


def test_a_slice_that_may_leave_a_signal_is_a_bounds_error() -> None:
    with pytest.raises(pm.BoundsError, match="x"):
        pm.compile(x[2:7])


def test_elements_of_two_signals() -> None:
    a, b = np.arange(5.0), np.arange(5.0) + 1
    np.testing.assert_array_equal(pm.compile(x * y + x / y - y, inputs=[x, y])(a, b), a * b + a / b - b)


def test_a_scalar_of_the_matrix_algebra_scales_a_signal() -> None:
    v = pm.Vector(pm.Double, "v", [T])
    a, b = np.arange(5.0), np.arange(3.0)
    np.testing.assert_array_equal(pm.compile(pm.dot(v, v) * x, inputs=[x, v])(a, b), b @ b * a)


def test_two_bands_and_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = pm.Vector(pm.Double, "low", [24]), pm.Vector(pm.Double, "high", [25])
    bands = [x.fir(taps, mode="causal").down(2) for taps in (low, high)]
    parts = [band.up(2)[0:N].fir(taps, mode="causal") for band, taps in zip(bands, (low, high), strict=True)]
    compiled = pm.compile([parts[0] + parts[1], *bands], inputs=[x, low, high])
    values, *taps = (rng.integers(-4, 5, n).astype(float) for n in (51, 24, 25))
    expected = [causal(values, t)[::2] for t in taps]
    whole = sum(causal(up(band, 2)[:51], t) for band, t in zip(expected, taps, strict=True))
    for got, wanted in zip(compiled(values, *taps), [whole, *expected], strict=True):
        np.testing.assert_array_equal(got, wanted)
