"""Integer parameters beside floating-point values, Bool, and integers of every width."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat import Bool, Cast, Condition, Float, Int, Int8, Long, Op, Reduce, Select, UChar, UInt16, UInt64
from polymat.lang.types import ScalarType

N, d = pm.Parameter(Int, "N"), pm.Parameter(Int, "d")
i, whole = pm.Variable(Int, "i"), pm.Interval(Int, 0, N - 1)
x, z = pm.Vector(Float, "x", [N]), pm.Vector(pm.ComplexFloat, "z", [N])
b, q = pm.Vector(Bool, "b", [N]), pm.Vector(Long, "q", [N])
u, s, w = pm.Vector(UInt64, "u", [N]), pm.Vector(Int8, "s", [N]), pm.Vector(UInt16, "w", [N])
DATA: dict[str, Any] = {
    "x": np.linspace(-1, 1, 7, dtype=np.float32),
    "z": np.linspace(-1, 1, 7, dtype=np.float32) * np.complex64(1 + 2j),
    "b": np.array([1, 0, 0, 1, 1, 0, 1], bool),
    "q": np.array([2**63 - 1, -1, 2**62, 0, 5, 7, -(2**63)], np.int64),
    "u": np.array([0, 1, 2**63, 2**64 - 1, 5, 7, 9], np.uint64),
    "s": np.array([-128, 127, -1, 0, 1, 5, 6], np.int8),
    "w": np.arange(7, dtype=np.uint16) * 10000,
    "d": 3,
    "N": 7,
}
X, Z, B, Q, U, S, W = (DATA[name] for name in "xzbqusw")


def exact(compare: Callable[[int, int], bool], left: Any, right: Any) -> list[bool]:
    """By Python's integers, which know no width."""
    return [compare(int(m), int(n)) for m, n in zip(left, right, strict=True)]


def function(value: Any, dtype: ScalarType) -> pm.Function:
    f = pm.Function(([i], [whole]), dtype, "f")
    f.defn = [value]
    return f


def run(value: Any, dtype: ScalarType) -> npt.NDArray[Any]:
    """What is computed, which is what the interpreter says."""
    compiled = pm.compile(function(value, dtype))
    given = {name: DATA[name] for name in inspect.signature(compiled).parameters if name in DATA}
    found: npt.NDArray[Any] = compiled(**given)
    expected = compiled.reference(**given)
    assert found.dtype == expected.dtype == np.dtype(dtype.dtype)
    np.testing.assert_array_equal(found, expected)
    return found


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (x(i) / pm.Sqrt(d), Float, X / np.float32(np.sqrt(3))),
        (x(i) * d, Float, X * 3),
        (x(i) * (1 / d), Float, X * (1 / 3)),
        (x(i) * (d // 2) + d % 3, Float, X * 1),
        (Select(Condition(x(i), ">", d - 3), x(i), d), Float, np.where(X > 0, X, 3)),
        (pm.Max(x(i), d), Float, np.maximum(X, 3)),
        (z(i) * d, pm.ComplexFloat, Z * 3),
        (d / 2, pm.Double, np.full(7, 1.5)),
        (w(i) * d, Long, W.astype(np.int64) * 3),
        (s(i) + d, Long, S.astype(np.int64) + 3),
    ],
)
def test_integer_parameters_are_as_weak_as_pythons_integers(
    value: Any, dtype: ScalarType, expected: Any
) -> None:
    """Beside integers they are Long: their value is not known before the call, and nothing wraps."""
    assert value.dtype == dtype or (value.dtype.weak and dtype == pm.Double)
    np.testing.assert_array_equal(run(value, dtype), np.asarray(expected).astype(dtype.dtype))


def test_an_integer_parameter_is_not_stored_in_what_may_be_too_small() -> None:
    with pytest.raises(pm.DtypeError, match="f is UChar but its definition is int scalar"):
        function(d, UChar)
    np.testing.assert_array_equal(run(Cast(UChar, d), UChar), np.full(7, 3))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (Condition(x(i), ">", 0), Bool, X > 0),
        (Cast(Bool, Condition(x(i), ">", 0) & Condition(i, "<", 6)), Bool, (X > 0) & (np.arange(7) < 6)),
        (Cast(Bool, x(i)), Bool, X != 0),
        (Select(b(i), x(i), 0.0), Float, np.where(B, X, 0)),
        (b(i) * x(i), Float, B * X),
        (b(i) + 1, Long, B + 1),
        (pm.Max(b(i), Cast(Bool, s(i))), Bool, B | (S != 0)),
        (pm.Min(b(i), Cast(Bool, s(i))), Bool, B & (S != 0)),
        (Cast(UChar, b(i)), UChar, B),
        (b(i) + Cast(Bool, s(i)), Bool, B | (S != 0)),
        (b(i) * Cast(Bool, s(i)), Bool, B & (S != 0)),
        (b(i) / Cast(Bool, i + 1), pm.Double, B / np.ones(7)),
        (u(i) + 1, UInt64, U + np.uint64(1)),
        (u(i) // 3, UInt64, U // np.uint64(3)),
        (u(i) % 3, UInt64, U % np.uint64(3)),
        (u(i) ** 3, UInt64, U ** np.uint64(3)),
        (s(i) * 2, Int8, S * np.int8(2)),
        (w(i) * 2, UInt16, W * np.uint16(2)),
        (pm.Min(s(i), w(i)), Int, np.minimum(S, W)),
        (Select(Condition(u(i), ">", q(i)), 1, 0), Int, exact(operator.gt, U, Q)),
        (
            Select(Condition(q(i), "!=", u(i)), 1, 0),
            Int,
            exact(operator.ne, U, Q),
        ),
        (
            Select(Condition(u(i), ">=", s(i)), 1, 0),
            Int,
            exact(operator.ge, U, S),
        ),
        (Select(Condition(u(i), "<", -1), 1, 0), Int, np.zeros(7)),
        (Select(Condition(u(i), "<=", 5), 1, 0), Int, U <= 5),
    ],
)
def test_truth_and_integers_of_every_width(value: Any, dtype: ScalarType, expected: Any) -> None:
    np.testing.assert_array_equal(run(value, dtype), np.asarray(expected).astype(dtype.dtype))


@pytest.mark.parametrize(
    ("dtype", "value", "op", "expected"),
    [
        (Bool, Cast(Bool, Condition(x(i), ">", 0.5)), Op.Max, True),
        (Bool, Cast(Bool, Condition(x(i), ">", 0.5)), Op.Min, False),
        (Int, b(i), Op.Sum, int(B.sum())),
        (UInt64, u(i), Op.Max, 2**64 - 1),
        (UInt64, u(i), Op.Sum, int(U.sum())),
        (Int8, s(i), Op.Min, -128),
    ],
)
def test_reductions(dtype: ScalarType, value: Any, op: Op, expected: Any) -> None:
    r = pm.Reduction(([], []), ([i], [whole]), dtype, "r")
    r.defn = [Reduce(r(), value, op)]
    compiled = pm.compile(r)
    given = {name: DATA[name] for name in inspect.signature(compiled).parameters if name in DATA}
    assert compiled(**given)[()] == compiled.reference(**given)[()] == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: b(i) - b(i), "- is not defined for two Bool values"),
        (lambda: -b(i), "- is not defined for a Bool value"),
        (lambda: pm.Sqrt(b(i)), "sqrt is not defined for Bool values"),
        (lambda: function(x(i), Bool), "f is Bool but its definition is Float"),
        (lambda: function(1, Bool), "f is Bool but its definition is int literal"),
        (lambda: pm.Parameter(Bool, "p"), "a Parameter is a number, got Bool"),
    ],
)
def test_what_truth_does_not_take(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(pm.DtypeError, match=message):
        wrong()


def test_sums_of_truth_are_counted_in_integers() -> None:
    r = pm.Reduction(([], []), ([i], [whole]), Bool, "r")
    with pytest.raises(pm.DtypeError, match=r"r is Bool, of which there is no Op\.Sum"):
        r.defn = [Reduce(r(), b(i), Op.Sum)]


def test_explain_names_element_types() -> None:
    report = pm.compile(function(x(i) * 2, pm.Double)).explain()
    assert report.groups[0].types == {"f": "float64"}
    assert "f (float64) in the output" in str(report)
