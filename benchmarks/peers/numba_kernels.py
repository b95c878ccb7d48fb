"""PolyBench in Numba, parallel and with fastmath: loops over rows, and `@` for products."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from benchmarks.peers import numba_recurrences
from benchmarks.task import MissingError, Prepared, Task

ALPHA, BETA = 1.5, 1.2
fast = njit(parallel=True, fastmath=True, cache=True)


@fast
def gemm(A, B, C):
    return ALPHA * (A @ B) + BETA * C


@fast
def two_mm(A, B, C, D):
    return ALPHA * ((A @ B) @ C) + BETA * D


@fast
def three_mm(A, B, C, D):
    return (A @ B) @ (C @ D)


@fast
def symm(A, B, C):
    S = np.empty_like(A)
    for i in prange(A.shape[0]):
        for j in range(i + 1):
            S[i, j] = A[i, j]
        for j in range(i + 1, A.shape[0]):
            S[i, j] = A[j, i]
    return ALPHA * (S @ B) + BETA * C


@fast
def syrk(A, C):
    P = A @ A.T
    result = C.copy()
    for i in prange(C.shape[0]):
        for j in range(i + 1):
            result[i, j] = ALPHA * P[i, j] + BETA * C[i, j]
    return result


@fast
def syr2k(A, B, C):
    P = A @ B.T
    result = C.copy()
    for i in prange(C.shape[0]):
        for j in range(i + 1):
            result[i, j] = ALPHA * (P[i, j] + P[j, i]) + BETA * C[i, j]
    return result


@fast
def trmm(A, B):
    result = np.empty_like(B)
    for i in prange(B.shape[0]):
        for j in range(B.shape[1]):
            result[i, j] = B[i, j]
        for k in range(i + 1, B.shape[0]):
            for j in range(B.shape[1]):
                result[i, j] += A[k, i] * B[k, j]
        for j in range(B.shape[1]):
            result[i, j] *= ALPHA
    return result


@fast
def doitgen(A, C4):
    rows = A.shape[0] * A.shape[1]
    return (A.reshape(rows, A.shape[2]) @ C4).reshape(A.shape)


@fast
def gemver(A, u1, v1, u2, v2, w, x, y, z):
    n = A.shape[0]
    B = np.empty_like(A)
    for i in prange(n):
        for j in range(n):
            B[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    new = x + BETA * (y @ B) + z
    result = np.empty(n)
    for i in prange(n):
        total = 0.0
        for j in range(n):
            total += B[i, j] * new[j]
        result[i] = w[i] + ALPHA * total
    return result


@fast
def gesummv(A, B, x):
    n = A.shape[0]
    result = np.empty(n)
    for i in prange(n):
        first, second = 0.0, 0.0
        for j in range(n):
            first += A[i, j] * x[j]
            second += B[i, j] * x[j]
        result[i] = ALPHA * first + BETA * second
    return result


@fast
def atax(A, x):
    result = np.zeros(A.shape[1])
    for i in prange(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        result += total * A[i]
    return result


@fast
def bicg(A, p, r):
    s = np.zeros(A.shape[1])
    q = np.empty(A.shape[0])
    for i in prange(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * p[j]
        q[i] = total
        s += r[i] * A[i]
    return s, q


@fast
def mvt(A, x1, x2, y1, y2):
    first = np.empty_like(x1)
    second = np.zeros_like(x2)
    for i in prange(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * y1[j]
        first[i] = x1[i] + total
        second += y2[i] * A[i]
    return first, second + x2


@fast
def blur_last(image):
    rows, columns, channels = image.shape
    result = np.empty((rows - 4, columns - 4, channels), image.dtype)
    for i in prange(rows - 4):
        for j in range(columns - 4):
            for c in range(channels):
                total = np.float32(0.0)
                for a in range(5):
                    for b in range(5):
                        total += np.float32((a + 1) * (b + 1) / 225.0) * image[i + a, j + b, c]
                result[i, j, c] = total
    return result


@fast
def blur_flat(image):
    rows, columns = image.shape
    result = np.empty((rows - 4, columns - 12), image.dtype)
    for i in prange(rows - 4):
        for j in range(columns - 12):
            total = np.float32(0.0)
            for a in range(5):
                for b in range(5):
                    total += np.float32((a + 1) * (b + 1) / 225.0) * image[i + a, j + 3 * b]
            result[i, j] = total
    return result


@fast
def blur_bytes(image):
    rows, columns, channels = image.shape
    result = np.empty((rows - 4, columns - 4, channels), image.dtype)
    for i in prange(rows - 4):
        for j in range(columns - 4):
            for c in range(channels):
                total = np.float32(0.5)
                for a in range(5):
                    for b in range(5):
                        total += np.float32((a + 1) * (b + 1) / 225.0) * np.float32(image[i + a, j + b, c])
                result[i, j, c] = np.uint8(min(max(total, np.float32(0.0)), np.float32(255.0)))
    return result


KERNELS: Mapping[str, Callable[..., Any]] = {
    "gemm": gemm,
    "2mm": two_mm,
    "3mm": three_mm,
    "symm": symm,
    "syrk": syrk,
    "syr2k": syr2k,
    "trmm": trmm,
    "doitgen": doitgen,
    "gemver": gemver,
    "gesummv": gesummv,
    "atax": atax,
    "bicg": bicg,
    "mvt": mvt,
    "blur-last": blur_last,
    "blur-flat": blur_flat,
    "blur-bytes": blur_bytes,
}


def prepare(task: Task) -> Prepared:
    """The kernel of the task's name; products go to SciPy's BLAS."""
    known = {**KERNELS, **numba_recurrences.KERNELS}
    if task.problem not in known:
        raise MissingError(f"no kernel {task.problem}")
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    kernel, arrays = known[task.problem], tuple(task.arrays.values())
    counts = task.values.get("counts", {}).values()
    return Prepared(lambda: kernel(*arrays, *counts))
