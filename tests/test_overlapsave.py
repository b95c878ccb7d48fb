"""Filters by transforms of blocks: the same results as by sums, chosen where they are long."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Options
from tests.tolerance import assert_close

N = pm.Parameter(pm.Int, "N")
ALWAYS, DIRECT = Options(fir="fft"), Options(fir="direct")


def kinds(compiled: Any) -> list[str]:
    return [group.kind for group in compiled.explain().groups]


@pytest.mark.parametrize("kind", [pm.Float, pm.Double])
@pytest.mark.parametrize("mode", ["valid", "causal", "same", "full"])
def test_lengths(mode: str, kind: Any) -> None:
    x, h = pm.Signal(kind, "x", N), pm.Vector(kind, "h", [37])
    compiled = pm.compile(x.fir(h, mode), name="filtered", inputs=[x, h], options=ALWAYS, estimates={N: 5000})
    assert kinds(compiled).count("fft") == 3
    for length in (37, 38, 100, 997, 4001):
        rng = np.random.default_rng(length)
        a, b = rng.uniform(-1, 1, length).astype(kind.dtype), rng.uniform(-1, 1, 37).astype(kind.dtype)
        expected = compiled.reference(a, b)
        assert_close(compiled(a, b), expected, roundings=100, magnitude=37.0 * np.sqrt(1000))


def test_choice() -> None:
    x = pm.Signal(pm.Double, "x", 100_000)
    few, many = pm.Vector(pm.Double, "h", [8]), pm.Vector(pm.Double, "h", [4000])
    for taps, options, transforms in ((few, Options(), 0), (many, Options(), 3), (many, DIRECT, 0)):
        compiled = pm.compile(x.fir(taps), name="filtered", inputs=[x, taps], options=options)
        assert kinds(compiled).count("fft") == transforms


def test_a_cascade() -> None:
    x = pm.Signal(pm.Double, "x", N)
    first, second = np.hanning(150), np.hamming(91)
    output = x.fir(first).fir(second, "same")[5:] + 1.0
    compiled = pm.compile(output, name="filtered", inputs=[x], options=ALWAYS, estimates={N: 5000})
    assert kinds(compiled).count("fft") == 6
    a = np.random.default_rng(1).uniform(-1, 1, 3001)
    assert_close(compiled(a), compiled.reference(a), roundings=1000, magnitude=4000.0)


def test_names_stay_apart() -> None:
    x = pm.Signal(pm.Double, "y_tmp", N)
    y = x.fir(np.hanning(70), "causal").named("y")
    compiled = pm.compile(y, inputs=[x], options=ALWAYS)
    a = np.random.default_rng(1).uniform(-1, 1, 301)
    assert_close(compiled(a), compiled.reference(a), roundings=100, magnitude=400.0)
