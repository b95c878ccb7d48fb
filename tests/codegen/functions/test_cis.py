"""Exponentials of imaginary numbers: a cosine and a sine, in vectors."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.graph.operations import function_operations
from polymat.lang.imaginary import imaginary_part
from tests.codegen.loops.test_choices_in_vectors import in_vectors

N = pm.Parameter(pm.Int, "N")
TURNS: list[Callable[[Any], Any]] = [
    lambda x: 1j * x,
    lambda x: -2j * np.pi * x * 0.1,
    lambda x: x * 2j / 3,
    lambda x: -(x * 1j),
]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double, pm.Int])
def test_values(dtype: Any, turn: Callable[[Any], Any]) -> None:
    x = pm.Vector(dtype, "x", [N])
    compiled = pm.compile(pm.Exp(turn(x[:])), options=pm.Options(threads=1))
    assert "cexp" not in str(compiled.source)
    assert "_pm_cis_" in str(compiled.source)
    rng = np.random.default_rng(1)
    for size in (0, 1, 7, 64, 67):
        given = (rng.standard_normal(size) * 50).astype(dtype.dtype)
        wanted = np.exp(turn(given))
        found = compiled(given)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, atol=1e-5 if dtype == pm.Float else 1e-13)
    corners = np.array([0, 1, -1] if dtype == pm.Int else [0, np.nan, np.inf, -np.inf], dtype.dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(corners), np.exp(turn(corners)), rtol=1e-5)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double])
def test_they_are_computed_in_vectors(dtype: Any) -> None:
    compiled = pm.compile(pm.Exp(2j * pm.Vector(dtype, "x", [N])[:]), options=pm.Options(threads=1))
    assert any("_pm_cis_" in line for line in in_vectors(compiled))


def test_what_is_imaginary() -> None:
    i = pm.Variable(pm.Int, "i")
    x, z = pm.Vector(pm.Double, "x", [N])(i), pm.Vector(pm.Complex, "z", [N])(i)
    assert str(imaginary_part(x * 3j / 2)) == str(x * 3.0 / 2)
    assert imaginary_part(z * 1j) is imaginary_part(x * (1 + 1j)) is imaginary_part(2 / (1j * x)) is None
    assert function_operations(pm.Exp(1j * x)) < function_operations(pm.Exp(z * 1j))
