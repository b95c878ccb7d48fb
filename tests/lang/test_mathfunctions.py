"""Functions of numbers: NumPy's values and types, compiled and interpreted, with special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat import Double, Float, Int, Options, Select

Values = npt.NDArray[Any]
ERF = np.vectorize(math.erf, otypes=[np.float64])
UNARY: dict[str, Callable[[Values], Values]] = {
    "Acosh": np.arccosh,
    "Asinh": np.arcsinh,
    "Atanh": np.arctanh,
    "Cbrt": np.cbrt,
    "Cosh": np.cosh,
    "Erf": ERF,
    "Exp": np.exp,
    "Exp2": np.exp2,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Log2": np.log2,
    "Round": np.round,
    "Sigmoid": lambda x: np.where(x < 0, np.exp(-np.abs(x)), 1) / (1 + np.exp(-np.abs(x))),
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Tanh": np.tanh,
}
BINARY: dict[str, Callable[[Values, Values], Values]] = {
    "Atan2": np.arctan2,
    "Hypot": np.hypot,
    "Pow": np.power,
}
SPECIAL = (
    *(0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 3.3, 30.0, 88.0, 100.0, 700.0, 710.0, 745.0, 1e30, np.inf),
    *(1e-310, 1e-40, 1e-9, 0.999, 0.3),
)
ULPS = 4
N = pm.Parameter(Int, "N")
i = pm.Variable(Int, "i")
WHOLE = pm.Interval(Int, 0, N - 1)


def stage(name: str, value: Any, dtype: Any) -> pm.Function:
    result = pm.Function(([i], [WHOLE]), dtype, name)
    result.defn = [value]
    return result


def near(actual: Values, expected: Values) -> None:
    """The same special values and signs, and finite ones within a few units in the last place."""
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual[known]), np.signbit(expected[known]))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite & known], expected[~finite & known])
    assert np.all(np.abs(actual[finite] - expected[finite]) <= ULPS * np.spacing(np.abs(expected[finite])))


@pytest.mark.covering
@pytest.mark.parametrize("math_", ["vector", "libm"])
@pytest.mark.parametrize(("dtype", "kind"), [(Float, np.float32), (Double, np.float64)])
@np.errstate(all="ignore")
def test_functions(math_: Any, dtype: Any, kind: Any, seed: int) -> None:
    special = np.array([*SPECIAL, *(-value for value in SPECIAL), np.nan])
    random = np.random.default_rng(seed).normal(0, 3, 300)
    grid = np.meshgrid(special, special)
    a = np.concatenate([grid[0].ravel(), random]).astype(kind)
    b = np.concatenate([grid[1].ravel(), random[::-1]]).astype(kind)
    x, y = pm.Vector(dtype, "x", [N]), pm.Vector(dtype, "y", [N])
    stages = [stage(f"{name}_", getattr(pm, name)(x(i)), dtype) for name in UNARY]
    stages += [stage(f"{name}_", getattr(pm, name)(x(i), y(i)), dtype) for name in BINARY]
    stages.append(stage("clamped", pm.Clamp(x(i), -1.0, 2.0), dtype))
    stages.append(stage("known", Select(pm.IsNaN(x(i)), y(i), x(i)), dtype))
    # Which of so many stages share loops is a long question, and what is asked here does not depend on it.
    compiled = pm.compile(stages, options=Options(math=math_, fuse=False))
    expected = [function(a).astype(kind) for function in UNARY.values()]
    expected += [function(a, b).astype(kind) for function in BINARY.values()]
    expected += [np.clip(a, -1, 2).astype(kind), np.where(np.isnan(a), b, a)]
    for result, reference, value in zip(compiled(a, b), compiled.reference(a, b), expected, strict=True):
        near(result, value)
        near(reference, value)


def test_types() -> None:
    """As NumPy's: small integers give Float, others Double; rounding keeps the type."""
    small, whole = pm.Vector(pm.Short, "s", [N]), pm.Vector(Int, "w", [N])
    assert (pm.Log1p(small(i)).dtype, pm.Erf(whole(i)).dtype) == (Float, Double)
    assert (pm.Atan2(small(i), small(i)).dtype, pm.Hypot(whole(i), 2).dtype) == (Float, Double)
    assert pm.Round(whole(i)).dtype == Int


def test_rounding_integers() -> None:
    values = np.array([-7, 0, 5], np.int32)
    w = pm.Vector(Int, "w", [N])
    compiled = pm.compile(stage("rounded", pm.Round(w(i)), Int))
    np.testing.assert_array_equal(compiled(values), values)
    np.testing.assert_array_equal(compiled.reference(values), values)


@pytest.mark.parametrize(
    "name", ["Log1p", "Expm1", "Log2", "Log10", "Exp2", "Erf", "Cbrt", "Round", "Sigmoid"]
)
def test_complex_values_are_refused(name: str) -> None:
    z = pm.Vector(pm.Complex, "z", [N])
    with pytest.raises(pm.DtypeError, match=f"{name.lower()} is not defined for complex values"):
        getattr(pm, name)(z(i))


@pytest.mark.parametrize("name", ["Atan2", "Hypot"])
def test_complex_coordinates_are_refused(name: str) -> None:
    z = pm.Vector(pm.Complex, "z", [N])
    with pytest.raises(pm.DtypeError, match=f"{name.lower()} is not defined for complex values"):
        getattr(pm, name)(1.0, z(i))


def test_text() -> None:
    x = pm.Vector(Double, "x", [N])
    assert str(pm.Atan2(x(i), pm.Log1p(x(i)) + 1)) == "Atan2(x(i), Log1p(x(i)) + 1)"


@pytest.mark.parametrize(
    ("ufunc", "count", "hint"),
    [
        (np.arctan2, 2, r"Atan2\("),
        (np.isnan, 1, r"IsNaN\("),
        (np.rint, 1, r"Round\("),
        (np.log1p, 1, r"Log1p\("),
        (np.hypot, 2, r"Hypot\("),
    ],
)
def test_ufuncs_name_what_there_is(ufunc: Any, count: int, hint: str) -> None:
    x = pm.Vector(Double, "x", [N])
    with pytest.raises(pm.LangError, match=hint):
        ufunc(*[x(i)] * count)
