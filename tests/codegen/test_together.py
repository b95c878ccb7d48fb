"""A program that takes products, filters and transforms from the library: its C has every name once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import polymat as pm
from polymat import Double, Float, Int, Options
from polymat.runtime.toolchain import compile_shared, find_compiler, flags_for
from tests.tolerance import assert_close

M, K, N = (pm.Parameter(Int, name) for name in "MKN")
SHAPES = {"A": (19, 33), "B": (33, 70), "s": (70,)}
SECTIONS = np.array([[0.1, 0.2, 0.1, 1.0, -0.6, 0.2], [0.3, 0.1, 0.2, 1.0, -0.3, 0.1]])


def everything(real: Any) -> list[Any]:
    """Packed products, of transposed matrices and a triangle too, filters of both kinds, a transform."""
    bits = 8 * real.size
    A, B = pm.Matrix(real, f"A{bits}", [M, K]), pm.Matrix(real, f"B{bits}", [K, N])
    s = pm.Signal(real, f"s{bits}", N)
    products = [A @ B, A.T @ A, pm.syrk(A, A @ A.T, 2.0, 1.0)]
    taps = np.linspace(-1.0, 1.0, 17).astype(real.dtype)
    signals = [s.fir(taps), pm.sosfilt(SECTIONS.astype(real.dtype), s), pm.rfft(s)]
    return [output.named(f"y{bits}_{at}") for at, output in enumerate((*products, *signals))]


def test_everything_at_once(tmp_path: Path) -> None:
    """In the files that are compiled beside each other, and as the one text that a saved library is."""
    outputs = [*everything(Float), *everything(Double)]
    options = Options(blas="never", fuse=False, cflags=("-O0",))
    compiled = pm.compile(outputs, name="everything", options=options)
    assert "_pm_transpose_f64(" in compiled.source
    assert "_pm_transpose_square_f64(" in compiled.source  # once both were called the same
    compiler = find_compiler()
    compile_shared(compiled.source, tmp_path / "everything.so", compiler, flags_for(compiler, ("-O0",)))
    rng = np.random.default_rng(5)
    given = {
        f"{name}{bits}": rng.integers(-4, 5, shape).astype(f"f{bits // 8}")
        for name, shape in SHAPES.items()
        for bits in (32, 64)
    }
    results, expected = compiled(**given), compiled.reference(**given)
    for output, result, wanted in zip(outputs, results, expected, strict=True):
        magnitude = 1 + np.abs(wanted).max()
        assert_close(result, wanted, roundings=200, magnitude=magnitude, name=output.name)
