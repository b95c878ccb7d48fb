"""Convolution and correlation of images, compiled and interpreted, against SciPy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import polymat as pm
from tests.tolerance import assert_close

signal: Any = importlib.import_module("scipy.signal")

M, N, R, S = (pm.Parameter(pm.Int, name) for name in "MNRS")
A, H = pm.Matrix(pm.Double, "A", [M, N]), pm.Matrix(pm.Double, "H", [R, S])
FIXED = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])
MODES: tuple[Any, ...] = ("full", "same", "valid")
FUNCTIONS = ("convolve2d", "correlate2d")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_images(function: str) -> None:
    given = [getattr(pm, function)(A, H, mode) for mode in MODES]
    fixed = [getattr(pm, function)(A, FIXED, mode) for mode in MODES]
    compiled = pm.compile([*given, *fixed], inputs=[A, H], options=pm.Options(fuse=False))
    for (m, n), (r, s) in (((2, 3), (1, 1)), ((5, 7), (2, 3)), ((9, 8), (3, 5)), ((33, 40), (4, 2))):
        rng = np.random.default_rng(m)
        image, taps = rng.standard_normal((m, n)), rng.standard_normal((r, s))
        wanted = [getattr(signal, function)(image, h, mode) for h in (taps, FIXED) for mode in MODES]
        for found in (compiled(image, taps), compiled.reference(image, taps)):
            for one, other in zip(found, wanted, strict=True):
                assert_close(one, other, roundings=r * s + 8, magnitude=50.0)


def test_types() -> None:
    B, G = pm.Matrix(pm.ComplexFloat, "B", [M, N]), pm.Matrix(pm.ComplexFloat, "G", [R, S])
    compiled = pm.compile(pm.correlate2d(B, G, "same"), inputs=[B, G])
    rng = np.random.default_rng(0)
    image, taps = (
        (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))).astype(np.complex64) for n in (12, 3)
    )
    wanted = signal.correlate2d(image, taps, "same")
    assert_close(compiled(image, taps), wanted, roundings=16, magnitude=60.0)
    assert pm.convolve2d(pm.Matrix(pm.Float, "C", [M, N]), [[1, 2], [3, 4]]).dtype == pm.Float


def test_what_is_refused() -> None:
    with pytest.raises(pm.LangError, match="mode is 'full', 'same' or 'valid', got 'causal'"):
        pm.convolve2d(A, H, "causal")
    with pytest.raises(pm.ShapeError, match=r"the taps .* not of rank 2"):
        pm.convolve2d(A, pm.Vector(pm.Double, "v", [N]))
    with pytest.raises(pm.LangError, match="array of rank 2; got"):
        pm.correlate2d(A, [1.0, 2.0])
    with pytest.raises(pm.ShapeError, match="shorter than"):
        pm.convolve2d(pm.Matrix(pm.Double, "small", [2, 2]), np.ones((3, 1)), "valid")


def test_results_are_matrices() -> None:
    filtered = pm.convolve2d(A, FIXED, "same")
    compiled = pm.compile(
        [(filtered @ filtered.T).named("p"), (filtered - A).named("d")], name="both", inputs=[A]
    )
    image = np.random.default_rng(3).uniform(-1, 1, (9, 7))
    wanted = signal.convolve2d(image, FIXED, "same")
    for found, expected in zip(compiled(image), (wanted @ wanted.T, wanted - image), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
