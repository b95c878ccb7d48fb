"""Integers divided by such: gcc makes vectors of their loops, whose results are NumPy's for all values."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import type_of_dtype
from tests.codegen.loops.test_choices_in_vectors import in_vectors

N = pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")
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
@pytest.mark.parametrize("dtype", INTEGERS)
def test_quotients_are_exact(dtype: str, flags: tuple[str, ...], seed: int) -> None:
    compiled = divided(dtype, *flags)
    for rng in (np.random.default_rng(seed), np.random.default_rng(seed + 1)):
        x, y = operands(dtype, rng)
        with np.errstate(all="ignore"):
            wanted = x // y, x % y
        for found, each in zip(compiled(x=x, y=y), wanted, strict=True):
            np.testing.assert_array_equal(found, each)
