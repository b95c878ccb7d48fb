"""What reductions start from changes nothing that is reduced with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polymat import Bool, Complex, Double, Float, Int, Int8, Long, Op, Short, UChar, UInt16, UInt64
from polymat.lang.neutral import neutral

FUNCTIONS: dict[Op, Any] = {Op.Sum: np.add, Op.Mul: np.multiply, Op.Min: np.minimum, Op.Max: np.maximum}


@pytest.mark.parametrize("dtype", [Int8, UChar, Short, UInt16, Int, Long, UInt64, Float, Double], ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_nothing_changes(op: Op, dtype: Any) -> None:
    kind = np.dtype(dtype.dtype)
    ends = [-np.inf, np.inf] if kind.kind == "f" else [np.iinfo(kind).min, np.iinfo(kind).max]
    values = np.array([*ends, 0, 1, 3], kind)
    start = neutral(op, dtype)
    assert start.dtype == dtype
    np.testing.assert_array_equal(FUNCTIONS[op](np.array(start.value, kind), values), values)


def test_of_complex_values_and_of_truth() -> None:
    assert (neutral(Op.Sum, Complex).value, neutral(Op.Mul, Complex).value) == (0j, 1 + 0j)
    assert (neutral(Op.Min, Bool).value, neutral(Op.Max, Bool).value) == (1, 0)
