"""Sparse matrices in compressed rows times a vector or columns: SciPy's, always on one thread, and MKL's."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np

from benchmarks.peers.blas import mkl_file
from benchmarks.task import Array, MissingError, Prepared, Task

NO_TRANSPOSE, GENERAL, FULL, NO_DIAGONAL = 10, 20, 42, 50  # the numbers of mkl_spblas.h
FROM_ZERO, BY_ROWS = 0, 101
CALLS = 1000  # that MKL is told to expect


class _Description(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int))


def _is_product(task: Task) -> bool:
    return {"row", "column", "value", "x"} == set(task.arrays)


def prepare_scipy(task: Task) -> Prepared:
    """`csr_array @ x`."""
    if not _is_product(task):
        raise MissingError(f"no sparse matrix in {task.problem}")
    sparse: Any = importlib.import_module("scipy.sparse")
    row, column, value, x = task.arrays.values()
    matrix = sparse.csr_array((value, column, row), shape=(len(row) - 1, len(x)))
    return Prepared(lambda: matrix @ x)


def prepare_mkl(task: Task) -> Prepared:
    """`mkl_sparse_d_mv` or `mkl_sparse_d_mm`, after `mkl_sparse_optimize`, which is not timed."""
    if not _is_product(task):
        raise MissingError(f"no sparse matrix in {task.problem}")
    library = ctypes.CDLL(str(mkl_file()))
    row, column, value, x = task.arrays.values()
    handle, described = ctypes.c_void_p(), _Description(GENERAL, FULL, NO_DIAGONAL)
    shape = (ctypes.c_int(len(row) - 1), ctypes.c_int(len(x)))
    ends = (_pointer(row), ctypes.c_void_p(row.ctypes.data + row.itemsize))
    arguments = (ctypes.byref(handle), FROM_ZERO, *shape, *ends, _pointer(column), _pointer(value))
    _succeed(library.mkl_sparse_d_create_csr(*arguments))
    count = ctypes.c_int(x.shape[-1])
    if x.ndim == 2:
        _succeed(library.mkl_sparse_set_mm_hint(handle, NO_TRANSPOSE, described, BY_ROWS, count, CALLS))
    else:
        _succeed(library.mkl_sparse_set_mv_hint(handle, NO_TRANSPOSE, described, CALLS))
    _succeed(library.mkl_sparse_optimize(handle))
    one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)

    def columns() -> Array:
        y = np.empty((len(row) - 1, x.shape[1]))
        operands = (BY_ROWS, _pointer(x), count, count, zero, _pointer(y), count)
        library.mkl_sparse_d_mm(NO_TRANSPOSE, one, handle, described, *operands)
        return y

    def call() -> Array:
        y = np.empty(len(row) - 1)
        library.mkl_sparse_d_mv(NO_TRANSPOSE, one, handle, described, _pointer(x), zero, _pointer(y))
        return y

    return Prepared(columns if x.ndim == 2 else call)


def _pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _succeed(status: int) -> None:
    if status:
        raise MissingError(f"MKL says status {status}")
