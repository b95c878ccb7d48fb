"""Integers divided by such: gcc makes vectors of their loops, whose results are NumPy's for all values."""

from __future__ import annotations

import platform
import shutil
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.driver import levels, request_for
from polymat.lang.types import type_of_dtype
from tests.codegen.loops.test_choices_in_vectors import in_vectors

N = pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")
WIDE = ("-march=skylake-avx512", "-mprefer-vector-width=512")  # whose vectors become integers of 64 bits
INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")


def divided(dtype: str, *flags: str) -> pm.Compiled:
    """The quotients, and the remainders."""
    x, y = (pm.Vector(type_of_dtype(np.dtype(dtype)), name, [N]) for name in "xy")
    outputs = [x[:] // y[:], x[:] % y[:]]
    return pm.compile(outputs, options=pm.Options(threads=1, fuse=False, cflags=flags))


def corners(dtype: str) -> np.ndarray[Any, Any]:
    limits = np.iinfo(dtype)
    near = [edge + step for edge in (limits.min, 0, limits.max, limits.max // 3) for step in range(-3, 4)]
    return np.array([each for each in near if limits.min <= each <= limits.max], dtype)


def operands(dtype: str, rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All pairs of corners, of random numbers, of products and their neighbours with a factor."""
    limits = np.iinfo(dtype)
    x, y = (each.ravel() for each in np.meshgrid(corners(dtype), corners(dtype)))
    one, other = (rng.integers(limits.min, limits.max, 5000, dtype, endpoint=True) for _ in range(2))
    small = other >> rng.integers(0, limits.bits, other.size).astype(dtype)
    steps = rng.integers(-1, 2, small.size).astype(dtype)
    with np.errstate(all="ignore"):
        multiples = one // small * small + steps
    return np.concatenate((x, one, one, multiples)), np.concatenate((y, other, small, small))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_divided_in_vectors(dtype: str) -> None:
    lines = in_vectors(divided(dtype))
    for name in ("floordiv", "mod"):
        assert any(f"_pm_{name}lanes_" in line for line in lines)


@pytest.mark.parametrize("flags", [(), ("-ffast-math",)], ids=["as_they_are", "by_reciprocals"])
@pytest.mark.parametrize("dtype", [*INTEGERS, "int64"])
def test_quotients_are_exact(dtype: str, flags: tuple[str, ...], seed: int) -> None:
    compiled = divided(dtype, *flags)
    for rng in (np.random.default_rng(seed), np.random.default_rng(seed + 1)):
        x, y = operands(dtype, rng)
        with np.errstate(all="ignore"):
            wanted = x // y, x % y
        for found, each in zip(compiled(x=x, y=y), wanted, strict=True):
            np.testing.assert_array_equal(found, each)


DIVISORS = (7, -7, 1, -1, 10, 1 << 20, 6145, (1 << 32) + 1, -((1 << 53) + 1), (1 << 62) + 3, -(1 << 63))


def by_constants(divisors: tuple[int, ...]) -> pm.Compiled:
    """The quotients by each, and the remainders."""
    x = pm.Vector(pm.Long, "x", [N])
    outputs = [each for by in divisors for each in (x[:] // by, x[:] % by)]
    return pm.compile(outputs, options=pm.Options(threads=1, fuse=False))


needs_wide = pytest.mark.skipif(
    shutil.which("gcc") is None or platform.machine() != "x86_64", reason="no gcc that makes such vectors"
)


@needs_wide
def test_wide_integers_are_divided_in_vectors_of_512_bits() -> None:
    for compiled in (divided("int64"), by_constants((7,))):
        lines = in_vectors(compiled, "-fwrapv", *WIDE)
        for name in ("floordiv", "mod"):
            assert any(f"_pm_{name}lanes_i64" in line for line in lines)


def test_wide_quotients_by_constants_are_exact(seed: int) -> None:
    """Of every constant's multiples and their neighbours, too."""
    rng = np.random.default_rng(seed)
    x, y = operands("int64", rng)
    by = np.repeat(np.array(DIVISORS), 500)
    given = rng.integers(-(1 << 63), (1 << 63) - 1, by.size, endpoint=True)
    with np.errstate(all="ignore"):
        x = np.concatenate((x, y, given // by * by + rng.integers(-1, 2, by.size)))
        wanted = [each for by in DIVISORS for each in (x // by, x % by)]
    for found, each in zip(by_constants(DIVISORS)(x), wanted, strict=True):
        np.testing.assert_array_equal(found, each)


@needs_wide
@pytest.mark.parametrize("function", [pm.Floor, pm.Ceil, pm.Round])
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double])
def test_rounded_numbers_become_wide_integers_in_vectors(function: Any, dtype: Any) -> None:
    """Nor do traps, which only integers that are converted back need, keep any from vectors."""
    x = pm.Vector(dtype, "x", [N])
    out = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Long, "out")
    out.defn = [pm.Cast(pm.Long, function(x(i)))]
    compiled = pm.compile(out, options=pm.Options(threads=1))
    assert any("(int64_t)" in line for line in in_vectors(compiled, *WIDE))
    given = np.array([-0.5, -0.0, 1.5, 2.5, -2.5, 1e15, -1e15, 0.49999997, 3.0] * 5, dtype.dtype)
    np.testing.assert_array_equal(compiled(given), compiled.reference(given))


def traps(out: pm.Function) -> bool:
    *_, (_, program) = (level for level in levels(request_for(out)) if level[0] == "codegen")
    return "-ftrapping-math" in program.flags  # type: ignore[union-attr]


def test_traps_are_for_integers_that_are_converted_back() -> None:
    x = pm.Vector(pm.Double, "x", [N])
    rows = [i], [pm.Interval(pm.Int, 0, N - 1)]
    whole, half, place = (
        pm.Function(rows, dtype, name)
        for name, dtype in (("whole", pm.Long), ("half", pm.Double), ("place", pm.Double))
    )
    whole.defn = [pm.Cast(pm.Long, x(i) * 2.0) // 3 + 1]
    assert not traps(whole)
    half.defn = [whole(i) * 0.5]
    assert traps(half)
    place.defn = [x(pm.Clamp(pm.Cast(pm.Int, x(i)), 0, N - 1)) * 0.5]
    assert not traps(place)
