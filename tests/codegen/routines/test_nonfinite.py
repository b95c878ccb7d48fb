"""Infinities in complex products by a library: NaN may take their place, and nothing else changes."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Matrix, Options
from tests.codegen.routines.test_calls import called, values
from tests.compilers import clang
from tests.idiom.recognise import K, M, N
from tests.tolerance import assert_close

A, B = Matrix(Complex, "A", [M, K]), Matrix(Complex, "B", [K, N])
BAD = [complex(np.inf, 0), complex(0, -np.inf), complex(np.inf, np.inf), complex(np.nan, np.inf)]


@pytest.mark.parametrize("bad", BAD)
def test_only_what_is_not_finite_may_differ(bad: complex) -> None:
    compiled: Any = pm.compile(A @ B, name="product", inputs=[A, B], options=Options(blas="always"))
    assert called(compiled) == ["gemm"]
    for rows, columns, depth in ((1, 1, 1), (3, 5, 2), (33, 17, 40)):
        a, b = values([rows, depth], "complex128", 1), values([depth, columns], "complex128", 2)
        a[-1, 0] = bad
        with np.errstate(invalid="ignore"):
            result, expected = compiled(a, b), compiled.reference(a, b)
        finite = np.isfinite(expected)
        assert not finite[-1].any()
        assert not np.isfinite(result[-1]).any()
        assert_close(result[:-1], expected[:-1], roundings=2 * depth + 4, magnitude=4.0 * depth)


@pytest.mark.parametrize("bad", BAD)
def test_own_code_keeps_infinities(bad: complex) -> None:
    compiled: Any = pm.compile(A @ B, name="product", inputs=[A, B], options=Options(blas="never"))
    a, b = values([3, 2], "complex128", 1), values([2, 5], "complex128", 2)
    a[-1, 0] = bad
    with np.errstate(invalid="ignore"):
        expected = compiled.reference(a, b)
    result = compiled(a, b)
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(result, part), getattr(expected, part), rtol=1e-13)


@pytest.mark.covering
@pytest.mark.parametrize("kind", ["gcc", "clang"])
@pytest.mark.parametrize("dtype", [Complex, pm.ComplexFloat])
def test_products_are_the_textbooks_by_every_compiler(
    kind: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As NumPy's: no infinities are made of NaN, as C's Annex G wants it."""
    compiler = clang() if kind == "clang" else shutil.which(kind)
    if compiler is None:
        pytest.skip(f"{kind} with OpenMP is not installed")
    monkeypatch.setenv("POLYMAT_CC", compiler)
    x, y = pm.Vector(dtype, "x", [N]), pm.Vector(dtype, "y", [N])
    compiled = pm.compile(pm.elementwise_mul(x, y), name="textbook", inputs=[x, y])
    parts = (np.inf, -np.inf, 0.0, 1.5, np.nan)
    numbers = np.array([complex(real, imaginary) for real in parts for imaginary in parts], dtype.dtype)
    left, right = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    with np.errstate(all="ignore"):
        result, expected = compiled(left, right), compiled.reference(left, right)
    assert np.isnan(expected.real).any()
    np.testing.assert_array_equal(result.view(expected.real.dtype), expected.view(expected.real.dtype))
