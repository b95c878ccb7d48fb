"""Small calls of the routines for triangular and symmetric arrays, of integers, so that results are exact.

Diagonals are 2: a solution divides by them, or multiplies by a half, without rounding.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from polymat.codegen.routines import LEFT, LOWER, NO_TRANS, NON_UNIT, ROW_MAJOR

Array = npt.NDArray[Any]
Find: TypeAlias = Callable[[str], int | None]
_REALS: dict[str, tuple[Any, Any]] = {
    "d": (ctypes.c_double, np.dtype(np.float64)),
    "s": (ctypes.c_float, np.dtype(np.float32)),
}
_SIZE, _COLUMNS = 9, 5


def wrong_structured(find: Find) -> str:
    """What is wrong with the routines that a BLAS has, as the end of a sentence; empty when all is right."""
    for letter, (scalar, dtype) in _REALS.items():
        for name, arguments, result, expected in _cases(scalar, dtype):
            address = find(f"cblas_{letter}{name}")
            if address is None:
                continue  # what calls it says so, or does without
            _call(address, scalar, arguments)
            if not np.array_equal(result, expected):
                return f"gives wrong results: cblas_{letter}{name}"
    return ""


_Case: TypeAlias = tuple[str, Sequence[Any], Array, Array]


def _cases(scalar: Any, dtype: np.dtype[Any]) -> list[_Case]:
    """Routine, arguments after the order, the array it writes, and what that must hold then."""
    n, m = _SIZE, _COLUMNS
    numbers = _integers((n, n), 1)
    lower = np.tril(numbers, -1) + 2 * np.eye(n, dtype=np.int64)
    symmetric = np.tril(numbers) + np.tril(numbers, -1).T
    b, c, x = _integers((n, m), 2), _integers((n, m), 3), _integers((n,), 4)
    # What is not to be read is no number.
    stored = np.where(np.tri(n, dtype=bool), lower, np.nan).astype(dtype)
    half = np.where(np.tri(n, dtype=bool), symmetric, np.nan).astype(dtype)
    first, second = b.astype(dtype), c.astype(dtype)
    square, block = np.full((n, n), 7, dtype), c.astype(dtype)
    product, solution = b.astype(dtype), (lower @ b).astype(dtype)
    vector, solved = x.astype(dtype), (lower @ x).astype(dtype)
    how, side = (LOWER, NO_TRANS, NON_UNIT), (LEFT, LOWER, NO_TRANS, NON_UNIT)
    rank_two = np.where(np.tri(n, dtype=bool), b @ c.T + c @ b.T, 7)
    one = scalar(1)
    return [
        ("trmm", (*side, n, m, one, stored, n, product, m), product, lower @ b),
        ("trsm", (*side, n, m, one, stored, n, solution, m), solution, b),
        ("trmv", (*how, n, stored, n, vector, 1), vector, lower @ x),
        ("trsv", (*how, n, stored, n, solved, 1), solved, x),
        ("symm", (LEFT, LOWER, n, m, one, half, n, first, m, one, block, m), block, symmetric @ b + c),
        ("syr2k", (LOWER, NO_TRANS, n, m, one, first, m, second, m, scalar(0), square, n), square, rank_two),
    ]


def _call(address: int, scalar: Any, arguments: Sequence[Any]) -> None:
    """Call a routine: arrays by address, integers as int, scalars as they are."""
    values = [each.ctypes.data if isinstance(each, np.ndarray) else each for each in arguments]
    types = [
        ctypes.c_void_p
        if isinstance(each, np.ndarray)
        else scalar
        if isinstance(each, scalar)
        else ctypes.c_int
        for each in arguments
    ]
    ctypes.CFUNCTYPE(None, ctypes.c_int, *types)(address)(ROW_MAJOR, *values)


def _integers(shape: tuple[int, ...], start: int) -> npt.NDArray[np.int64]:
    """Small numbers."""
    count = int(np.prod(shape))
    return ((np.arange(count, dtype=np.int64) * 5 + start) % 7 - 3).reshape(shape)
