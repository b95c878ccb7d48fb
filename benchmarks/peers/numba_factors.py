"""LDL', Cholesky's factorisation with bands and tables of least costs in Numba: the loops that they are."""

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


@njit(fastmath=True, cache=True)
def matrix_chain(p):
    N = len(p) - 1
    cost = np.zeros((N, N))
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            cost[i, j] = np.inf
        for k in range(i, N - 1):  # rows of the table, so that they are vectors
            factor, left = p[i] * p[k + 1], cost[i, k]
            for j in range(k + 1, N):
                cost[i, j] = min(cost[i, j], left + cost[k + 1, j] + factor * p[j + 1])
    return cost


@njit(fastmath=True, cache=True)
def search_tree(s):
    N = len(s)
    depth = np.zeros((N, N))
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            depth[i, j] = np.inf
        for r in range(i, N - 1):
            if r > i:
                depth[i, r] += s[r] - s[i]
            left = depth[i, r]
            for j in range(r + 1, N):
                depth[i, j] = min(depth[i, j], left + depth[r + 1, j])
        if i < N - 1:
            depth[i, N - 1] += s[N - 1] - s[i]
    return depth


KERNELS = {
    "ldlt": ldlt,
    "banded-cholesky": banded_cholesky,
    "matrix-chain": matrix_chain,
    "search-tree": search_tree,
}


def prepare(task: Task) -> Prepared:
    """The loops of the task's name."""
    name = task.problem.removeprefix(PREFIX)
    if not task.problem.startswith(PREFIX):
        raise MissingError(f"no loops for {name}")
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    arrays, kernel = tuple(task.arrays.values()), KERNELS[name]
    return Prepared(lambda: kernel(*arrays))
