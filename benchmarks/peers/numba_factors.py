"""LDL' and Cholesky's factorisation with bands in Numba: the loops that they are."""

from __future__ import annotations

import os

import numba
import numpy as np
from numba import njit, prange

from benchmarks.task import MissingError, Prepared, Task

PREFIX = "factors_"


@njit(parallel=True, fastmath=True, cache=True)
def ldlt(given):
    N = len(given)
    A = np.zeros_like(given)
    for i in range(N):
        for j in range(i + 1):
            A[i, j] = given[i, j]
    for p in range(N):
        pivot = A[p, p]
        for i in prange(p + 1, N):
            factor = A[i, p]
            for j in range(p + 1, i + 1):
                A[i, j] -= factor * A[j, p] / pivot
        for i in range(p + 1, N):
            A[i, p] /= pivot
    return A


@njit(fastmath=True, cache=True)
def banded_cholesky(given):
    N, bands = given.shape
    L = np.zeros_like(given)
    for i in range(N):
        for d in range(min(i, bands - 1), -1, -1):
            total = given[i, d]
            for e in range(1, min(i, bands - 1) - d + 1):
                total -= L[i, d + e] * L[i - d, e]
            L[i, d] = total / L[i - d, 0] if d else np.sqrt(total)
    return L


KERNELS = {"ldlt": ldlt, "banded-cholesky": banded_cholesky}


def prepare(task: Task) -> Prepared:
    """The loops of the task's name."""
    name = task.problem.removeprefix(PREFIX)
    if not task.problem.startswith(PREFIX):
        raise MissingError(f"no loops for {name}")
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    arrays, kernel = tuple(task.arrays.values()), KERNELS[name]
    return Prepared(lambda: kernel(*arrays))
