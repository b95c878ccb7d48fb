"""Whether, where and how often something holds: reductions of conditions, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Bool, Condition, Function, Int, Interval, Long, Matrix, Op, Parameter, Reduce, Reduction
from polymat.lang.types import ScalarType

M, N = Parameter(Int, "M"), Parameter(Int, "N")
A = Matrix(pm.Float, "A", [M, N])
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
ROWS, COLUMNS = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
SHAPES = [(0, 3), (3, 0), (1, 1), (5, 7), (17, 33)]


def _by_rows(dtype: ScalarType, value: Any, op: Op) -> Any:
    result = Reduction(([i], [ROWS]), ([i, j], [ROWS, COLUMNS]), dtype, f"r{op.name}{dtype}")
    result.defn = [Reduce(result(i), value, op)]
    return result


def _values(shape: tuple[int, ...]) -> Any:
    values = np.random.default_rng(sum(shape)).integers(-1, 3, shape).astype(np.float32)
    values[1:2] = 0
    values[2:3] = 1
    return values


def test_reductions_of_conditions_and_values() -> None:
    above = Condition(A(i, j), ">", 0)
    outputs = [
        _by_rows(Bool, above, Op.Any),
        _by_rows(Bool, A(i, j), Op.All),
        _by_rows(Int, above & Condition(j, "<", 5), Op.Count),
        _by_rows(pm.UChar, A(i, j), Op.Count),
    ]
    compiled = pm.compile(outputs, inputs=[A])
    for shape in SHAPES:
        a = _values(shape)
        expected = [
            (a > 0).any(axis=1),
            a.all(axis=1),
            np.count_nonzero(a[:, :5] > 0, axis=1).astype(np.int32),
            np.count_nonzero(a, axis=1).astype(np.uint8),
        ]
        for found in (compiled(a), compiled.reference(a)):
            for one, other in zip(found, expected, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


def _whole(xp: Any, a: Any) -> list[Any]:
    return [
        xp.Any(a),
        xp.All(a > 0, axis=0),
        xp.Count(a, axis=1),
        xp.Count(a > 0),
        xp.All(a, axis=1, keepdims=True),
    ]


class _OfNumpy:
    """The same functions, of NumPy."""

    Any: Any = np.any
    All: Any = np.all
    Count: Any = np.count_nonzero


def test_whole_arrays() -> None:
    compiled = pm.compile([*_whole(pm, A), _OfNumpy.Count(A, axis=0)], inputs=[A])
    for shape in SHAPES:
        a = _values(shape)
        expected = [*_whole(_OfNumpy, a), np.count_nonzero(a, axis=0)]
        for found in (compiled(a), compiled.reference(a)):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
        assert compiled(a)[3].dtype == np.int64


def test_types_and_operands_are_said() -> None:
    for dtype, op, text in (
        (Int, Op.Any, "but Op.Any gives a truth value, Bool"),
        (pm.Float, Op.Count, "but Op.Count gives a number of points, an integer"),
    ):
        with pytest.raises(pm.DtypeError, match=text):
            _by_rows(dtype, A(i, j), op)
    for function, operand in ((pm.Count, A(i, j)), (pm.All, 3)):
        with pytest.raises(pm.LangError, match="is of a whole array or of a comparison of some, got"):
            function(operand)  # type: ignore[arg-type]


def test_a_condition_is_no_element_of_a_sum() -> None:
    with pytest.raises(pm.LangError, match="expected a number or an expression, got Condition"):
        _by_rows(Long, Condition(A(i, j), ">", 0), Op.Sum)
    assert isinstance(_by_rows(Long, Condition(i, ">", 0), Op.Count), Function)
