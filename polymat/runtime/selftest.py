"""A few small products and transforms by a library that was just loaded: whether it is what it says.

Products are of small integers, so that any order of additions gives the very result of integer arithmetic.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.codegen.fftw import fft_routine_names
from polymat.codegen.routines import LOWER, NO_TRANS, ROW_MAJOR, TRANS

Array = npt.NDArray[Any]
Find = Callable[[str], int | None]
"""Where a routine is, by its name; None where the library does not have it."""

_INT, _POINTER = ctypes.c_int, ctypes.c_void_p
_REALS = {"s": ctypes.c_float, "d": ctypes.c_double}
_DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
_ESTIMATE = 1 << 6


class _Dim(ctypes.Structure):
    _fields_ = (("n", ctypes.c_ssize_t), ("is_", ctypes.c_ssize_t), ("os", ctypes.c_ssize_t))


class _MissingError(Exception):
    """The library lacks a routine."""


def wrong_blas(find: Find) -> str:
    """What is wrong with a BLAS, as the end of a sentence; empty when all is right."""
    try:
        for letter in "dszc":
            for m, n, k, transposed in ((3, 5, 7, False), (9, 17, 33, True)):
                if not _gemm_is_right(find, letter, m, n, k, transposed):
                    return f"gives wrong results: cblas_{letter}gemm, {m} x {k} by {k} x {n}"
            if letter in _REALS and not _gemv_is_right(find, letter):
                return f"gives wrong results: cblas_{letter}gemv"
        if not _syrk_is_right(find):
            return "gives wrong results: cblas_dsyrk"
    except _MissingError as error:
        return f"has no {error}"
    return ""


def wrong_fft(find: Find) -> str:
    """The same of an FFTW, whose float32 routines may be missing."""
    try:
        for prefix, dtype in (("fftw", np.complex128), ("fftwf", np.complex64)):
            if prefix == "fftwf" and find("fftwf_execute_dft") is None:
                continue
            for name in fft_routine_names(prefix):
                _routine(find, name)
            for n, sign in ((1, -1), (7, -1), (12, 1), (16, -1)):
                if not _transform_is_right(find, prefix, np.dtype(dtype), n, sign):
                    return f"gives wrong results: a transform of {n} in {np.dtype(dtype)}"
            if not _real_transform_is_right(find, prefix, np.dtype(dtype)):
                return f"gives wrong results: a real transform into {np.dtype(dtype)}"
    except _MissingError as error:
        return f"has no {error}"
    return ""


def _routine(find: Find, name: str) -> int:
    address = find(name)
    if address is None:
        raise _MissingError(name)
    return address


def _integers(shape: tuple[int, ...], letter: str, start: int) -> tuple[Array, Array]:
    """Small numbers of a type, as integers or pairs of them too."""
    count = int(np.prod(shape))
    whole = ((np.arange(count, dtype=np.int64) * 7 + start) % 11 - 5).reshape(shape)
    if letter in "cz":
        values = whole + 1j * np.flip(whole)
        return values.astype(_DTYPES[letter]), values
    return whole.astype(_DTYPES[letter]), whole


def _gemm_is_right(find: Find, letter: str, m: int, n: int, k: int, transposed: bool) -> bool:
    """C = 2 A B + 3 C, where A or B may be stored transposed and C has a column that must not change."""
    a, exact_a = _integers((k, m) if transposed else (m, k), letter, 1)
    b, exact_b = _integers((n, k) if transposed else (k, n), letter, 2)
    c, exact_c = _integers((m, n + 1), letter, 3)
    if transposed:
        exact_a, exact_b = exact_a.T, exact_b.T
    exact_c = exact_c.copy()
    # Integer products of NumPy call no BLAS; a complex one is made of them.
    exact_c[:, :n] = 2 * _product(exact_a, exact_b) + 3 * exact_c[:, :n]
    flag = TRANS if transposed else NO_TRANS
    scalar, alpha, beta = _scalars(letter, 2, 3)
    function = ctypes.CFUNCTYPE(
        None, *[_INT] * 6, scalar, _POINTER, _INT, _POINTER, _INT, scalar, _POINTER, _INT
    )(_routine(find, f"cblas_{letter}gemm"))
    strides = a.shape[1], b.shape[1], c.shape[1]
    function(
        *(ROW_MAJOR, flag, flag, m, n, k, alpha, a.ctypes.data, strides[0], b.ctypes.data, strides[1]),
        *(beta, c.ctypes.data, strides[2]),
    )
    return bool(np.array_equal(c, exact_c))


def _product(a: Array, b: Array) -> Array:
    if a.dtype.kind != "c":
        return np.asarray(a @ b)
    ar, ai, br, bi = (part.astype(np.int64) for part in (a.real, a.imag, b.real, b.imag))
    return np.asarray((ar @ br - ai @ bi) + 1j * (ar @ bi + ai @ br))


def _scalars(letter: str, alpha: int, beta: int) -> tuple[Any, Any, Any]:
    """The ctypes type of a scalar, and two of them: complex ones go by address."""
    if letter in _REALS:
        return _REALS[letter], alpha, beta
    values = [np.array([value], _DTYPES[letter]) for value in (alpha, beta)]
    return _POINTER, values[0].ctypes, values[1].ctypes


def _gemv_is_right(find: Find, letter: str) -> bool:
    a, exact_a = _integers((6, 19), letter, 4)
    x, exact_x = _integers((38,), letter, 5)
    y, exact_y = _integers((6,), letter, 6)
    scalar = _REALS[letter]
    function = ctypes.CFUNCTYPE(
        None, *[_INT] * 4, scalar, _POINTER, _INT, _POINTER, _INT, scalar, _POINTER, _INT
    )(_routine(find, f"cblas_{letter}gemv"))
    function(
        *(ROW_MAJOR, NO_TRANS, 6, 19, 2, a.ctypes.data, 19, x.ctypes.data, 2, -1, y.ctypes.data, 1),
    )
    return bool(np.array_equal(y, 2 * (exact_a @ exact_x[::2]) - exact_y))


def _syrk_is_right(find: Find) -> bool:
    """The lower triangle of A Aᵀ; the rest must not change."""
    a, exact = _integers((9, 5), "d", 7)
    c = np.full((9, 9), 0.5)
    function = ctypes.CFUNCTYPE(
        None, *[_INT] * 5, ctypes.c_double, _POINTER, _INT, ctypes.c_double, _POINTER, _INT
    )(_routine(find, "cblas_dsyrk"))
    function(ROW_MAJOR, LOWER, NO_TRANS, 9, 5, 1.0, a.ctypes.data, 5, 0.0, c.ctypes.data, 9)
    return bool(np.array_equal(c, np.where(np.tri(9, dtype=bool), exact @ exact.T, 0.5)))


def _transform_is_right(find: Find, prefix: str, dtype: np.dtype[Any], n: int, sign: int) -> bool:
    real = _integers((2 * n,), "d", 8)[0]
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
    real = _integers((n,), "d", 9)[0]
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
