"""Element types promote as NumPy's do."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from polymat.errors import DtypeError
from polymat.lang.expr import Const, as_expr, binary
from polymat.lang.types import (
    ALL_TYPES,
    STORED,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    BFloat16,
    Bool,
    Complex,
    ComplexFloat,
    Double,
    Float,
    Int,
    ScalarType,
    UChar,
    UInt16,
    can_store,
    check_type,
    floating,
    promote,
    quotient_type,
    real_part,
    type_of_dtype,
)

COMPUTED = [dtype for dtype in ALL_TYPES if dtype not in STORED]  # which arrays alone have
PAIRS = list(itertools.product(COMPUTED, COMPUTED))
LITERALS = [(1, WEAK_INT), (1.5, WEAK_FLOAT), (1.5j, WEAK_COMPLEX)]


def ones(dtype: ScalarType) -> npt.NDArray[Any]:
    return np.ones(1, dtype.dtype)


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
def test_pairs_promote_as_arrays_do(left: ScalarType, right: ScalarType) -> None:
    assert promote(left, right).dtype == (ones(left) + ones(right)).dtype
    assert promote(left, right) == promote(right, left)


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
def test_quotients_have_the_type_of_array_quotients(left: ScalarType, right: ScalarType) -> None:
    assert quotient_type(left, right).dtype == np.true_divide(ones(left), ones(right)).dtype


@pytest.mark.parametrize("dtype", COMPUTED, ids=str)
@pytest.mark.parametrize(("literal", "weak"), LITERALS)
def test_literals_are_weak(dtype: ScalarType, literal: complex, weak: ScalarType) -> None:
    for op, name in ((operator.add, "+"), (operator.mul, "*"), (operator.truediv, "/")):
        expected = op(ones(dtype), literal).dtype
        strong = Const(1, dtype)
        assert binary(name, strong, literal).dtype.dtype == expected
        assert binary(name, literal, strong).dtype.dtype == expected
    assert as_expr(literal).dtype == weak


@pytest.mark.parametrize("dtype", [dtype for dtype in COMPUTED if dtype != Bool], ids=str)
def test_numpy_scalars_are_not_weak(dtype: ScalarType) -> None:
    value = np.dtype(dtype.dtype).type(1)
    assert as_expr(value).dtype == dtype
    assert binary("+", Const(1, Float), value).dtype.dtype == (ones(Float) + value).dtype


def test_literals_among_themselves_stay_weak() -> None:
    assert promote(WEAK_INT, WEAK_FLOAT) == WEAK_FLOAT
    assert promote(WEAK_COMPLEX, WEAK_INT) == WEAK_COMPLEX
    assert quotient_type(WEAK_INT, WEAK_INT) == WEAK_FLOAT


@pytest.mark.parametrize(("value", "target"), PAIRS, ids=str)
def test_storing_follows_the_same_kind_rule(value: ScalarType, target: ScalarType) -> None:
    assert can_store(value, target) == np.can_cast(value.dtype, target.dtype, "same_kind")


def test_literals_store_where_their_kind_fits() -> None:
    assert can_store(WEAK_INT, UChar)
    assert can_store(WEAK_FLOAT, Float)
    assert not can_store(WEAK_FLOAT, Int)
    assert can_store(WEAK_COMPLEX, ComplexFloat)
    assert not can_store(WEAK_COMPLEX, Double)


@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_sizes_and_dtypes_are_numpys(dtype: ScalarType) -> None:
    assert dtype.size == np.dtype(dtype.dtype).itemsize
    assert type_of_dtype(np.dtype(dtype.dtype)) == (UInt16 if dtype == BFloat16 else dtype)
    assert check_type(dtype, "a thing", None) is dtype


@pytest.mark.parametrize("other", ["S3", "datetime64[s]", "longdouble"])
def test_other_numpy_types_are_errors(other: str) -> None:
    with pytest.raises(DtypeError, match="no element type for NumPy dtype"):
        type_of_dtype(np.dtype(other))


@pytest.mark.parametrize("other", [float, "Double", np.float64, None, WEAK_FLOAT, []])
def test_only_element_types_are_element_types(other: object) -> None:
    with pytest.raises(DtypeError, match="needs an element type, got"):
        check_type(other, "a Matrix", None)


def test_real_parts_of_complex_types() -> None:
    assert [real_part(t) for t in (Complex, ComplexFloat, Int)] == [Double, Float, Int]
    assert [floating(t) for t in (Int, UChar, Float, Complex)] == [Double, Float, Float, Complex]
