"""Factorisations by the LAPACKs of OpenBLAS and MKL, on a copy of the matrix, as polymat leaves it alone.

LDL' without pivots is none of LAPACK's: what it has of about that work is Cholesky's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.peers.blas import mkl_file, openblas_file
from benchmarks.peers.csource import aligned
from benchmarks.task import Array, MissingError, Prepared, Task

Integer = ctypes.c_int


def prepare_openblas(task: Task) -> Prepared:
    """By OpenBLAS."""
    return _prepare(task, openblas_file(), "scipy_")


def prepare_mkl(task: Task) -> Prepared:
    """By MKL."""
    return _prepare(task, mkl_file(), "")


def _prepare(task: Task, found: Path, prefix: str) -> Prepared:
    if task.problem not in _WAYS:
        raise MissingError(f"no routine for {task.problem}")
    library = ctypes.CDLL(str(found))
    routine, turned, told = _WAYS[task.problem]
    (given,) = task.arrays.values()
    start = np.ascontiguousarray(turned(given))
    room = aligned(start.shape)

    def factor() -> None:
        np.copyto(room, start)
        status = routine(library, prefix, room)
        assert status == 0

    def call() -> Array:
        factor()
        return told(room)

    def repeat(count: int) -> float:
        begin = perf_counter()
        for _ in range(count):
            factor()
        return perf_counter() - begin

    return Prepared(call, repeat=repeat)


def _numbers(*values: int) -> list[ctypes._Pointer[ctypes.c_int]]:
    return [ctypes.byref(Integer(value)) for value in values]  # type: ignore[misc]


def _potrf(library: ctypes.CDLL, prefix: str, room: Array) -> int:
    """Rows of the lower triangle are columns of the upper one."""
    status, (n, columns) = Integer(), _numbers(len(room), len(room))
    data = ctypes.c_void_p(room.ctypes.data)
    library[f"{prefix}dpotrf_"](b"U", n, data, columns, ctypes.byref(status), ctypes.c_size_t(1))
    return status.value


def _getrf(library: ctypes.CDLL, prefix: str, room: Array) -> int:
    status, (rows, columns, leading) = Integer(), _numbers(*room.shape, len(room))
    pivots = np.empty(len(room), np.int32)
    data = ctypes.c_void_p(room.ctypes.data)
    at = ctypes.c_void_p(pivots.ctypes.data)
    library[f"{prefix}dgetrf_"](rows, columns, data, leading, at, ctypes.byref(status))
    assert (pivots == np.arange(1, len(room) + 1)).all(), "there are other pivots than the diagonal's"
    return status.value


def _pbtrf(library: ctypes.CDLL, prefix: str, room: Array) -> int:
    status, (n, bands, leading) = Integer(), _numbers(len(room), room.shape[1] - 1, room.shape[1])
    data = ctypes.c_void_p(room.ctypes.data)
    last = (ctypes.byref(status), ctypes.c_size_t(1))
    library[f"{prefix}dpbtrf_"](b"U", n, bands, data, leading, *last)
    return status.value


def _ldlt_of(room: Array) -> Array:
    roots = np.diag(room)
    found: Array = np.tril(room / roots, -1) + np.diag(roots**2)
    return found


def _same(array: Array) -> Array:
    return array


Routine = Callable[[ctypes.CDLL, str, Array], int]
# By problem: the routine, what it is given of the matrix, and what its result is as a row-major array.
_WAYS: dict[str, tuple[Routine, Callable[[Array], Array], Callable[[Array], Array]]] = {
    "cholesky": (_potrf, _same, np.tril),
    "lu": (_getrf, np.transpose, np.transpose),
    "factors_ldlt": (_potrf, _same, _ldlt_of),
    "factors_banded-cholesky": (_pbtrf, lambda A: A[:, ::-1], lambda A: A[:, ::-1]),
}
