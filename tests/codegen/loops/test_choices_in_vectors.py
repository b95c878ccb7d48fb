"""Minima, maxima and conditions of each other: gcc makes vectors of their loops, and no number changes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Image, Int, Options, Parameter, UChar
from polymat.lang.sharing import has_nested_extremes
from polymat.runtime.flags import compile_flags

N = Parameter(Int, "N")
LENGTHS = (0, 1, 7, 8, 9, 31, 64, 67)
_LOOP = re.compile(r"^<stdin>:(\d+):\d+: optimized: loop vectorized", re.MULTILINE)


def arrays(dtype: Any) -> list[Image]:
    return [Image(dtype, name, [N]) for name in "abd"]


def median(a: Any, b: Any, d: Any) -> Any:
    """Of three."""
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), d))


def life(cell: Any, ahead: Any, behind: Any) -> Any:
    """Of a row of cells whose second neighbours are its own sum."""
    count = cell + ahead + behind
    return pm.where((count == 3) | ((behind == 1) & (count == 2)), 1, 0).astype(UChar)


def in_vectors(compiled: pm.Compiled, *flags: str) -> list[str]:
    """The lines of the C source at which gcc makes vectors of a loop, with these flags besides."""
    command = ["gcc", *compile_flags("gcc"), "-O3", *flags, "-fopt-info-vec", "-x", "c", "-"]
    command += ["-c", "-o", "/dev/null"]
    source = str(compiled.source)
    told = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stderr
    lines = source.splitlines()
    return [lines[int(number) - 1] for number in _LOOP.findall(told)]


def awkward(rng: np.random.Generator, size: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Numbers among which are NaN, infinities and zeros of either sign."""
    values = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5]), size)
    return values.astype(dtype)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("dtype", [Float, Double])
def test_a_median_is_taken_in_vectors(dtype: Any) -> None:
    a, b, d = arrays(dtype)
    out = median(median(a, b, d), median(b, a * 2, d), median(d, b, a + 1))
    compiled = pm.compile(out, options=Options(threads=1))
    assert any("minmasked" in line or "maxmasked" in line for line in str(compiled.source).splitlines())
    assert in_vectors(compiled)
    rng = np.random.default_rng(1)
    for size in LENGTHS:
        x, y, z = (awkward(rng, size, dtype.dtype) for _ in range(3))
        one = np.dtype(dtype.dtype).type
        with np.errstate(invalid="ignore"):
            wanted = median(median(x, y, z), median(y, x * one(2), z), median(z, y, x + one(1)))
        np.testing.assert_array_equal(compiled(a=x, b=y, d=z), wanted)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_what_conditions_read_is_read_in_vectors() -> None:
    compiled = pm.compile(life(*arrays(UChar)), options=Options(threads=1))
    assert in_vectors(compiled)
    rng = np.random.default_rng(2)
    for size in LENGTHS:
        x, y, z = (rng.integers(0, 2, size).astype(np.uint8) for _ in range(3))
        count = x + y + z
        wanted = ((count == 3) | ((z == 1) & (count == 2))).astype(np.uint8)
        np.testing.assert_array_equal(compiled(a=x, b=y, d=z), wanted)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("dtype", [pm.ComplexFloat, pm.Complex])
def test_complex_numbers_are_chosen_in_vectors(dtype: Any) -> None:
    """By their parts, where no branch calls a function."""
    a, b, d = Image(dtype, "a", [N]), Image(dtype, "b", [N]), Image(Double, "d", [N])
    rng = np.random.default_rng(4)
    makers: tuple[Callable[..., Any], ...] = (
        lambda where, exp, x, y, z: where(z > 0, x, 0),
        lambda where, exp, x, y, z: where(z > 0, x * y, where(z < -1, y + 1, np.conj(x))),
        lambda where, exp, x, y, z: where(z > 0, exp(x), y),
    )
    for make in makers:
        compiled = pm.compile(make(pm.where, pm.Exp, a, b, d), inputs=[a, b, d], options=Options(threads=1))
        assert bool(in_vectors(compiled)) == ("cexp" not in str(compiled.source))
        for size in LENGTHS:
            x, y = ((rng.random(size) - 1j * rng.random(size)).astype(dtype.dtype) for _ in range(2))
            z = awkward(rng, size, Double.dtype)
            wanted = make(np.where, np.exp, x, y, z)
            np.testing.assert_allclose(compiled(x, y, z), wanted, rtol=1e-5 if dtype.size == 8 else 1e-14)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("dtype", [pm.ComplexFloat, pm.Complex])
def test_complex_numbers_are_divided_in_vectors(dtype: Any) -> None:
    a, b = Image(dtype, "a", [N]), Image(dtype, "b", [N])
    compiled = pm.compile(a / b, options=Options(threads=1))
    assert any("_pm_div_c" in line for line in in_vectors(compiled))
    parts = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -3.0)
    each = np.array([complex(one, other) for one in parts for other in parts], dtype.dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(each, each))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(x, y), x / y, rtol=1e-6 if dtype.size == 8 else 1e-14)


def test_conditions_on_indices_are_asked_one_after_the_other() -> None:
    i = pm.Variable(Int, "i")
    a, _, _ = arrays(Double)
    out = pm.Function(([i], [pm.Interval(Int, 0, N - 1)]), Double, "out")
    inside = pm.Condition(i, ">=", 1) & pm.Condition(a(i), ">", 0)
    out.defn = [pm.Select(inside, a(i - 1), 0.0)]
    compiled = pm.compile(out)
    for size in LENGTHS:
        x = np.random.default_rng(size).standard_normal(size)
        before = np.concatenate((x[:0], x[-1:], x[:-1]))
        wanted = np.where((np.arange(size) >= 1) & (x > 0), before, 0.0)
        np.testing.assert_array_equal(compiled(x), wanted)


def test_one_minimum_alone_is_not_masked() -> None:
    a, b, d = (array(pm.Variable(Int, "i")) for array in arrays(Float))
    assert not has_nested_extremes(pm.Min(a, b + d))
    assert has_nested_extremes(pm.Min(a, 2 * pm.Max(b, d)))
    assert has_nested_extremes(pm.Select(pm.Condition(pm.Max(b, pm.Min(a, d)), ">", 0), a, b))
    assert not has_nested_extremes(pm.Min(pm.Max(a, 0.0), 1.0))  # a clamp, which has other code
    i, j, k = (pm.Cast(Int, each) for each in (a, b, d))
    assert not has_nested_extremes(pm.Min(i, pm.Max(j, k)))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_loops_of_many_functions_are_in_vectors() -> None:
    """Of a bilateral filter of 7 x 7, whose function is too large for gcc to take calls into it by itself."""
    image = Image(Float, "image", [N, N])
    around = pm.pad(image, 3, mode="edge")
    total: Any = 0
    weights: Any = 0
    for row in range(7):
        for column in range(7):
            value = around[row : N + row, column : N + column]
            weight = pm.Exp(-((value - image) ** 2) - 0.1 * (row + column))
            total, weights = total + weight * value, weights + weight
    compiled = pm.compile(total / weights, options=Options(threads=1))
    assert any("_pm_t0 = _pm_exp_f32" in line for line in in_vectors(compiled))
    given = np.random.default_rng(5).random((9, 9)).astype(np.float32)
    np.testing.assert_allclose(compiled(given), compiled.reference(given), rtol=1e-4)
