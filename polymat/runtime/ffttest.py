"""A few small transforms by a library that was just loaded: whether it is what it says."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.codegen.fftw import fft_routine_names

Array = npt.NDArray[Any]
Find = Callable[[str], int | None]
"""Where a routine is, by its name; None where the library does not have it."""

_INT, _POINTER = ctypes.c_int, ctypes.c_void_p
_ESTIMATE = 1 << 6


class _Dim(ctypes.Structure):
    _fields_ = (("n", ctypes.c_ssize_t), ("is_", ctypes.c_ssize_t), ("os", ctypes.c_ssize_t))


class _MissingError(Exception):
    """The library lacks a routine."""


def wrong_transforms(find: Find, prefix: str) -> str:
    """What is wrong with one precision of an FFTW, as the end of a sentence; empty when all is right.

    prefix: fftw or fftwf.
    """
    dtype = np.dtype(np.complex128 if prefix == "fftw" else np.complex64)
    try:
        for name in fft_routine_names(prefix):
            _routine(find, name)
        for n, sign in ((1, -1), (7, -1), (12, 1), (16, -1)):
            if not _transform_is_right(find, prefix, dtype, n, sign):
                return f"gives wrong results: a transform of {n} in {dtype}"
        if not _real_transform_is_right(find, prefix, dtype):
            return f"gives wrong results: a real transform into {dtype}"
    except _MissingError as error:
        return f"has no {error}"
    return ""


def _routine(find: Find, name: str) -> int:
    address = find(name)
    if address is None:
        raise _MissingError(name)
    return address


def _integers(count: int, start: int) -> Array:
    """Small numbers."""
    return (np.arange(count) * 7 + start) % 11 - 5.0


def _transform_is_right(find: Find, prefix: str, dtype: np.dtype[Any], n: int, sign: int) -> bool:
    real = _integers(2 * n, 8)
    x = (real[:n] + 1j * real[n:]).astype(dtype)
    y = np.zeros_like(x)
    plan = ctypes.CFUNCTYPE(_POINTER, _INT, ctypes.POINTER(_Dim), _INT, *[_POINTER] * 3, _INT, _INT)
    made = plan(_routine(find, f"{prefix}_plan_guru64_dft"))(
        1, _Dim(n, 1, 1), 0, None, x.ctypes.data, y.ctypes.data, sign, _ESTIMATE
    )
    return _executed(find, prefix, "dft", made, x, y) and _close(y, _matrix(n, sign) @ x)


def _real_transform_is_right(find: Find, prefix: str, dtype: np.dtype[Any]) -> bool:
    """There and back again: 10 times the input."""
    n = 10
    real = _integers(n, 9)
    x = real.astype(dtype.char.lower())
    y, back = np.zeros(n // 2 + 1, dtype), np.zeros(n, x.dtype)
    plan = ctypes.CFUNCTYPE(_POINTER, _INT, ctypes.POINTER(_Dim), _INT, *[_POINTER] * 3, _INT)
    made = plan(_routine(find, f"{prefix}_plan_guru64_dft_r2c"))(
        1, _Dim(n, 1, 1), 0, None, x.ctypes.data, y.ctypes.data, _ESTIMATE
    )
    if not _executed(find, prefix, "dft_r2c", made, x, y) or not _close(
        y, (_matrix(n, -1) @ real)[: n // 2 + 1]
    ):
        return False
    made = plan(_routine(find, f"{prefix}_plan_guru64_dft_c2r"))(
        1, _Dim(n, 1, 1), 0, None, y.ctypes.data, back.ctypes.data, _ESTIMATE
    )
    return _executed(find, prefix, "dft_c2r", made, y, back) and _close(back, n * real)


def _executed(find: Find, prefix: str, kind: str, plan: int | None, x: Array, y: Array) -> bool:
    """Run a plan, then destroy it; False when there is none."""
    if not plan:
        return False
    execute = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER)(_routine(find, f"{prefix}_execute_{kind}"))
    execute(plan, x.ctypes.data, y.ctypes.data)
    ctypes.CFUNCTYPE(None, _POINTER)(_routine(find, f"{prefix}_destroy_plan"))(plan)
    return True


def _matrix(n: int, sign: int) -> Array:
    index = np.arange(n)
    return np.asarray(np.exp(sign * 2j * np.pi * (np.outer(index, index) % n) / n))


def _close(found: Array, exact: Array) -> bool:
    """Within 100 roundings of numbers of the size there are: far less than any mistake."""
    return bool(np.max(np.abs(found - exact)) <= 100 * 60 * np.finfo(found.dtype).eps)
