"""Powers with whole exponents, or of 2: in vectors, of numbers of either sign."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import type_of_dtype
from tests.codegen.loops.test_choices_in_vectors import in_vectors

N = pm.Parameter(pm.Int, "N")
Power = Callable[[Any], Any]
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint32")
WRITTEN: list[tuple[str, Power]] = [
    *((dtype, lambda x: x**2) for dtype in (*INTEGERS, "complex64", "complex128")),
    *((dtype, lambda x: x**3) for dtype in (*INTEGERS, "complex64", "complex128", "float32", "float64")),
    *((dtype, lambda x: 2**x) for dtype in INTEGERS),
    *((dtype, lambda x: x % 10) for dtype in ("int64",)),
]


def compiled(dtype: str, power: Power) -> pm.Compiled:
    x = pm.Vector(type_of_dtype(np.dtype(dtype)), "x", [N])
    return pm.compile(power(x[:]), options=pm.Options(threads=1))


def values(dtype: str) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        few = np.arange(max(limits.min, -70), min(limits.max, 70))
        return np.array([*few, limits.min, limits.max, limits.min + 1], kind)
    plain = np.random.default_rng(3).standard_normal((2, 500)) * 10.0 ** np.arange(-5, 5).repeat(50)
    return (plain[0] + 1j * plain[1]).astype(kind) if kind.kind == "c" else plain.ravel().astype(kind)


@pytest.mark.parametrize(("dtype", "power"), WRITTEN)
def test_results_are_numpys(dtype: str, power: Power) -> None:
    given = values(dtype)
    if np.dtype(dtype).kind in "iu" and power(2) == 4 and power(3) == 8:  # NumPy refuses negative exponents
        given = given[given >= 0]
    with np.errstate(all="ignore"):
        wanted = power(given)
    found = compiled(dtype, power)(given)
    assert found.dtype == wanted.dtype
    if found.dtype.kind in "iu":
        np.testing.assert_array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=8 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_negative_powers_of_integers_are_quotients_towards_zero(dtype: str) -> None:
    given = np.array([-1, -2, np.iinfo(dtype).min, 0, 1, 6] * 9, dtype)
    cases: list[tuple[int, list[int]]] = [
        (2, [0, 0, 0, 1, 2, 64]),
        (1, [1] * 6),
        (-1, [-1, 1, 1, 1, -1, 1]),
        (0, [0, 0, 0, 1, 0, 0]),
    ]
    for base, wanted in cases:
        program = compiled(dtype, partial(pow, base))
        assert program(given).tolist() == program.reference(given).tolist() == wanted * 9


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize(("dtype", "power"), [each for each in WRITTEN if each[0] != "int64"])
def test_their_loops_are_in_vectors(dtype: str, power: Power) -> None:
    assert any("= _pm_" in line for line in in_vectors(compiled(dtype, power)))


@pytest.mark.parametrize("exponent", [3, 4, 5, 8, 13, -2, -3, -4, 3.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_negative_numbers(dtype: str, exponent: float) -> None:
    """Of the bits that their absolute values have, and with corners as NumPy has them."""
    program = compiled(dtype, lambda x: x**exponent)
    plain = np.abs(values(dtype))
    odd = exponent % 2 == 1
    negative = program(-plain)
    np.testing.assert_array_equal(negative, -program(plain) if odd else program(plain))
    wide = np.power(plain.astype(np.longdouble), np.longdouble(exponent))
    with np.errstate(all="ignore"):
        wanted = wide.astype(dtype)
        unit = np.spacing(np.maximum(np.abs(wanted), np.finfo(dtype).tiny)).astype(np.longdouble)
    finite = np.isfinite(wanted) & np.isfinite(negative)
    assert np.max(np.abs(np.abs(negative) - wide)[finite] / unit[finite], initial=0) <= 2.0
    corners = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0] * 5, dtype)
    with np.errstate(all="ignore"):
        expected = np.power(corners, np.dtype(dtype).type(exponent))
    np.testing.assert_array_equal(program(corners), expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(program(corners)[number]), np.signbit(expected[number]))
