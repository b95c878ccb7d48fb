"""Small transforms by a library that was just loaded, in the ways in which generated code asks for them.

They are of two dimensions, or of the columns or rows of an array together, into another array or in place.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.idiom.libraryroutines import fft_routine_names

Array = npt.NDArray[Any]
Find = Callable[[str], int | None]
"""Where a routine is, by its name; None where the library does not have it."""

_INT, _POINTER = ctypes.c_int, ctypes.c_void_p
_UNALIGNED, _PRESERVE_INPUT, _ESTIMATE = 1 << 1, 1 << 4, 1 << 6


class _Dim(ctypes.Structure):
    _fields_ = (("n", ctypes.c_ssize_t), ("is_", ctypes.c_ssize_t), ("os", ctypes.c_ssize_t))


def wrong_transforms(find: Find, prefix: str) -> str:
    """Try one precision of an FFTW out and say what is wrong, as the end of a sentence; empty if nothing is.

    prefix: fftw or fftwf.
    """
    missing = next((name for name in fft_routine_names(prefix) if find(name) is None), None)
    if missing is not None:
        return f"has no {missing}"
    library = _Transforms(find, prefix)
    for n, sign, in_place in ((1, -1, False), (7, -1, False), (12, 1, True), (16, -1, False), (16, 1, False)):
        if not library.columns_are_right(n, sign, in_place=in_place):
            return f"gives wrong results: a transform of {n} in {library.dtype}"
    if not library.plane_is_right(4, 6):
        return f"gives wrong results: a transform of 4 x 6 in {library.dtype}"
    for n in (7, 10):
        if not library.spectra_are_right(n):
            return f"gives wrong results: a real transform into {library.dtype}"
    return ""


class _Transforms:
    """One precision of a library; dtype: of its complex values."""

    def __init__(self, find: Find, prefix: str) -> None:
        self.find = find
        self.prefix = prefix
        self.dtype = np.dtype(np.complex128 if prefix == "fftw" else np.complex64)

    def columns_are_right(self, n: int, sign: int, *, in_place: bool) -> bool:
        """Two columns of an array; a row behind it stays as it is."""
        given = _integers(n + 1, 2) + 1j * _integers(n + 1, 2)[::-1]
        x = given.astype(self.dtype)
        y = x if in_place else x.copy()
        self._transform("dft", [(n, 2, 2)], [(2, 1, 1)], x, y, sign)
        expected = np.concatenate([_matrix(n, sign) @ given[:n], given[n:]])
        return _close(y, expected) and (in_place or bool(np.array_equal(x, given)))

    def plane_is_right(self, rows: int, columns: int) -> bool:
        """Both dimensions of an array."""
        given = _integers(rows, columns) + 1j * _integers(columns, rows).T
        x, y = given.astype(self.dtype), np.zeros((rows, columns), self.dtype)
        self._transform("dft", [(rows, columns, columns), (columns, 1, 1)], [], x, y, -1)
        return _close(y, _matrix(rows, -1) @ given @ _matrix(columns, -1))

    def spectra_are_right(self, n: int) -> bool:
        """Two rows of real numbers to half of their spectra, which the way back leaves as they are."""
        half = n // 2 + 1
        given = _integers(2, n)
        x = given.astype(self.dtype.char.lower())
        y, back = np.zeros((2, half), self.dtype), np.zeros((2, n), x.dtype)
        self._transform("dft_r2c", [(n, 1, 1)], [(2, n, half)], x, y)
        spectra = y.copy()
        self._transform("dft_c2r", [(n, 1, 1)], [(2, half, n)], y, back, flags=_PRESERVE_INPUT)
        forward = _close(spectra, (given @ _matrix(n, -1))[:, :half])
        return forward and bool(np.array_equal(y, spectra)) and _close(back, n * given)

    def _transform(
        self,
        kind: str,
        dims: Sequence[tuple[int, int, int]],
        batch: Sequence[tuple[int, int, int]],
        x: Array,
        y: Array,
        *sign: int,
        flags: int = 0,
    ) -> None:
        """Plan, run and forget; nothing is computed where there is no plan."""
        described: list[Any] = []
        for some in (dims, batch):
            described += [len(some), (_Dim * max(len(some), 1))(*(_Dim(*each) for each in some))]
        types = [_INT, _POINTER, _INT, _POINTER, _POINTER, _POINTER, *[_INT] * (len(sign) + 1)]
        addresses = x.ctypes.data, y.ctypes.data
        make = ctypes.CFUNCTYPE(_POINTER, *types)(self._address(f"plan_guru64_{kind}"))
        plan = make(*described, *addresses, *sign, _ESTIMATE | _UNALIGNED | flags)
        if plan:
            execute = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER)
            execute(self._address(f"execute_{kind}"))(plan, *addresses)
            ctypes.CFUNCTYPE(None, _POINTER)(self._address("destroy_plan"))(plan)

    def _address(self, routine: str) -> int:
        address = self.find(f"{self.prefix}_{routine}")
        assert address is not None  # all were looked for
        return address


def _integers(rows: int, columns: int) -> Array:
    """Small numbers."""
    return ((np.arange(rows * columns) * 7 + 8) % 11 - 5.0).reshape(rows, columns)


def _matrix(n: int, sign: int) -> Array:
    index = np.arange(n)
    return np.asarray(np.exp(sign * 2j * np.pi * (np.outer(index, index) % n) / n))


def _close(found: Array, exact: Array) -> bool:
    """Within 100 roundings of numbers of the size there are: far less than any mistake."""
    return bool(np.max(np.abs(found - exact)) <= 100 * 60 * np.finfo(found.dtype).eps)
