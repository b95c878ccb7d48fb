"""Floor division of floating-point numbers and its remainder: NumPy's bits, in vectors."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import type_of_dtype
from tests.codegen.loops.test_choices_in_vectors import in_vectors

N = pm.Parameter(pm.Int, "N")
FLOATS = ("float32", "float64")
FLAGS = [
    (),
    ("-ffast-math", "-fno-finite-math-only", "-fsigned-zeros"),
    ("-mno-fma",),
    ("-freciprocal-math",),
]
IDS = ["as_they_are", "rearranged", "without_fma", "by_reciprocals"]


def divided(dtype: str, *flags: str) -> pm.Compiled:
    """The quotients, and the remainders."""
    x, y = (pm.Vector(type_of_dtype(np.dtype(dtype)), name, [N]) for name in "xy")
    return pm.compile([x[:] // y[:], x[:] % y[:]], options=pm.Options(threads=1, fuse=False, cflags=flags))


def operands(dtype: str, rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All pairs of corners, numbers of any bits, near each other, and multiples with their neighbours."""
    info = np.finfo(dtype)
    corners: list[Any] = [
        0.0,
        1.0,
        0.1,
        2.5,
        1e6,
        np.nan,
        np.inf,
        info.max,
        info.tiny,
        info.smallest_subnormal,
        info.eps,
    ]
    signed = np.array([*corners, *(-each for each in corners)], dtype)
    x, y = (each.ravel() for each in np.meshgrid(signed, signed))
    unsigned = np.dtype(f"u{info.bits // 8}")
    bits = rng.integers(0, np.iinfo(unsigned).max, (2, 5000), unsigned, endpoint=True).view(dtype)
    plain = (rng.standard_normal((2, 20000)) * 10.0 ** rng.integers(-8, 8, (2, 20000))).astype(dtype)
    multiples = rng.integers(-(2**20), 2**20, 20000).astype(dtype) * plain[1]
    beside = np.nextafter(multiples, plain[0])
    firsts = (x, bits[0], plain[0], multiples, beside, np.nextafter(plain[1], plain[0]))
    return np.concatenate(firsts), np.concatenate((y, bits[1], *[plain[1]] * 4))


@pytest.mark.parametrize("flags", FLAGS, ids=IDS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_bits_are_numpys(dtype: str, flags: tuple[str, ...], seed: int) -> None:
    compiled = divided(dtype, *flags)
    x, y = operands(dtype, np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        wanted = x // y, x % y
    for found, each in zip(compiled(x=x, y=y), wanted, strict=True):
        np.testing.assert_array_equal(found, each)
        number = ~np.isnan(each)
        np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(each[number]))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("dtype", FLOATS)
def test_they_are_computed_in_vectors(dtype: str) -> None:
    lines = in_vectors(divided(dtype))
    for name in ("floordiv", "mod"):
        assert any(f"= _pm_{name}lanes_" in line for line in lines)
