"""Signals of sixteen bits are filtered and joined as their values in single precision are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import BFloat16, Float, Half, Int, Matrix, Parameter, Signal, Vector
from polymat.lang.types import to_bfloat16
from tests.tolerance import assert_close

N, M = Parameter(Int, "N"), Parameter(Int, "M")
WRITTEN = [0.1, 0.3, 0.7]
SECTIONS = [[0.1, 0.2, 0.1, 1.0, -0.5, 0.3]]
GIVEN: dict[str, Callable[[Any, Any], Any]] = {
    "full": lambda x, h: x.fir(h, "full"),
    "same": lambda x, h: x.fir(h, "same"),
    "list": lambda x, h: x.fir(WRITTEN, "causal"),
    "long": lambda x, h: x.fir([0.1] * 80, "causal"),
    "correlate": pm.correlate,
    "up": lambda x, h: pm.upfirdn(h, x, 2, 3),
    "poly": lambda x, h: pm.resample_poly(x, 3, 2),
    "concatenate": lambda x, h: pm.concatenate([x, x * 0.1, h]),
    "lfilter": lambda x, h: pm.lfilter(WRITTEN, [1.0, -0.3], x),
    "halves": lambda x, h: pm.lfilter(np.full(40, 0.1, np.float16), np.array([1, -0.3], np.float16), x),
    "sections": lambda x, h: pm.sosfilt(SECTIONS, x),
    "overlap": lambda x, h: pm.overlap_add(pm.frames(x, 4, 2, WRITTEN + WRITTEN[:1]), 2),
}


def _bits(dtype: Any, values: Any) -> Any:
    return values.astype(np.float16) if dtype == Half else to_bfloat16(values)


@pytest.mark.parametrize("dtype", [Half, BFloat16], ids=str)
def test_signals_are_computed_with_in_single_precision(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    values, taps = ((rng.integers(-16, 17, count) / 8).astype(np.float32) for count in (10, 3))

    def outputs(kind: Any) -> Any:
        x, h = Signal(kind, "x", N), Vector(kind, "h", [M])
        return pm.compile([make(x, h) for make in GIVEN.values()], inputs=[x, h])

    stored, single = outputs(dtype), outputs(Float)
    known = single(values, taps)
    for call in (stored, stored.reference):
        for name, found, wanted in zip(
            GIVEN, call(*(_bits(dtype, e) for e in (values, taps))), known, strict=True
        ):
            assert found.dtype == wanted.dtype, name
            assert_close(found, wanted, roundings=100, magnitude=8.0, name=name)


@pytest.mark.parametrize("dtype", [Half, BFloat16], ids=str)
def test_parts_of_signals_are_of_their_type(dtype: Any) -> None:
    x = Signal(dtype, "x", N)
    parts = pm.compile(
        [x[1:], x.down(2), pm.frames(x, 4, 2), pm.overlap_add(pm.frames(x, 2, 2), 2)], inputs=[x]
    )
    values = np.arange(-4.0, 4.0, dtype=np.float32)
    bits = _bits(dtype, values)
    windows = np.lib.stride_tricks.sliding_window_view(bits, 4)[::2]
    for call in (parts, parts.reference):
        for found, wanted in zip(call(bits), (bits[1:], bits[::2], windows, values), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [Half, BFloat16], ids=str)
def test_taps_in_rows_are_of_single_precision(dtype: Any) -> None:
    def convolved(kind: Any) -> Any:
        image = Matrix(kind, "image", [N, M])
        return pm.compile(pm.convolve2d(image, [[0.1, 0.2], [0.3, 0.4]]), inputs=[image])

    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    known = convolved(Float)(values)
    stored = convolved(dtype)
    for call in (stored, stored.reference):
        assert_close(call(_bits(dtype, values)), known, roundings=10, magnitude=12.0)
