"""Counts, sparse products, tables, a recurrent cell and Kalman filters in Numba: the loops that they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from benchmarks.data import PREFIX
from benchmarks.peers.numba_npbench import spmv
from benchmarks.task import MissingError, Prepared, Task

fast = njit(parallel=True, fastmath=True, cache=True)


@fast
def count_bytes(x):
    parts = numba.get_num_threads()
    mine = np.zeros((parts, 4, 256), np.int32)  # four by turns: equal values do not wait for each other
    for p in prange(parts):
        begin, end = p * len(x) // parts, (p + 1) * len(x) // parts
        for k in range(begin, end):
            mine[p, k & 3, x[k]] += 1
    return mine.sum(0).sum(0).astype(np.int32)


@fast
def count_reals(x):
    parts = numba.get_num_threads()
    mine = np.zeros((parts, 4, 256), np.int32)
    for p in prange(parts):
        begin, end = p * len(x) // parts, (p + 1) * len(x) // parts
        for k in range(begin, end):
            mine[p, k & 3, min(255, max(0, np.int32(x[k] * np.float32(256.0))))] += 1
    return mine.sum(0).sum(0).astype(np.int32)


@fast
def csr_columns(row, column, value, x):
    y = np.zeros((len(row) - 1, x.shape[1]))
    for i in prange(len(y)):
        for k in range(row[i], row[i + 1]):
            for j in range(x.shape[1]):
                y[i, j] += value[k] * x[column[k], j]
    return y


@fast
def lookup(image, table):
    out = np.empty(image.shape, table.dtype)
    for y in prange(image.shape[0]):
        for x in range(image.shape[1]):
            out[y, x] = table[image[y, x]]
    return out


@njit(fastmath=True, cache=True)
def recurrent_cell(W, U, x):
    given, h = x @ U.T, np.zeros(len(W))
    states = np.empty_like(given)
    for t in range(len(given)):
        h = np.tanh(W @ h + given[t])
        states[t] = h
    return states


@fast
def kalman_filter(z, x0, P0, F, Q, H, R):
    steps, seen, tracks = z.shape
    n = len(F)
    states, last = np.empty((steps, n, tracks)), np.empty((n, n, tracks))
    for b in prange(tracks):
        x, P = x0[:, b].copy(), P0[:, :, b].copy()
        ahead, off = np.empty(n), np.empty(seen)
        moved, prior = np.empty((n, n)), np.empty((n, n))
        cross, gain, spread = np.empty((n, seen)), np.empty((n, seen)), np.empty((seen, seen))
        for t in range(steps):
            for i in range(n):
                ahead[i] = 0.0
                for k in range(n):
                    ahead[i] += F[i, k] * x[k]
                for j in range(n):
                    moved[i, j] = 0.0
                    for k in range(n):
                        moved[i, j] += F[i, k] * P[k, j]
            for i in range(n):
                for j in range(n):
                    prior[i, j] = Q[i, j]
                    for k in range(n):
                        prior[i, j] += moved[i, k] * F[j, k]
            for i in range(n):
                for j in range(seen):
                    cross[i, j] = 0.0
                    for k in range(n):
                        cross[i, j] += prior[i, k] * H[j, k]
            for i in range(seen):
                off[i] = z[t, i, b]
                for k in range(n):
                    off[i] -= H[i, k] * ahead[k]
                for j in range(seen):
                    spread[i, j] = R[i, j]
                    for k in range(n):
                        spread[i, j] += H[i, k] * cross[k, j]
            det = spread[0, 0] * spread[1, 1] - spread[0, 1] * spread[1, 0]
            for i in range(n):
                gain[i, 0] = (cross[i, 0] * spread[1, 1] - cross[i, 1] * spread[1, 0]) / det
                gain[i, 1] = (cross[i, 1] * spread[0, 0] - cross[i, 0] * spread[0, 1]) / det
                x[i] = ahead[i] + gain[i, 0] * off[0] + gain[i, 1] * off[1]
                states[t, i, b] = x[i]
            for i in range(n):
                for j in range(n):
                    known = 0.0
                    for k in range(n):
                        known += (gain[i, 0] * H[0, k] + gain[i, 1] * H[1, k]) * prior[k, j]
                    P[i, j] = prior[i, j] - known
        last[:, :, b] = P
    return states, last


KERNELS: Mapping[str, Callable[..., Any]] = {
    "histogram-bytes": count_bytes,
    "histogram-reals": count_reals,
    **dict.fromkeys(("csr-banded", "csr-random", "csr-uneven"), spmv),
    "csr-columns": csr_columns,
    "lookup": lookup,
    "recurrent-cell": recurrent_cell,
    "kalman-filter": kalman_filter,
}


def prepare(task: Task) -> Prepared:
    """The loops of the task's name."""
    name = task.problem.removeprefix(PREFIX)
    if name not in KERNELS:
        raise MissingError(f"no loops for {name}")
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    arrays, kernel = tuple(task.arrays.values()), KERNELS[name]
    return Prepared(lambda: kernel(*arrays))
