"""PolyBench's other seventeen kernels in Numba, parallel and with fastmath: loops as in plain C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np
from numba import njit, prange

fast = njit(parallel=True, fastmath=True, cache=True)


@fast
def covariance(data):
    z = data - data.sum(axis=0) / data.shape[0]
    return (z.T @ z) / (data.shape[0] - 1.0)


@fast
def correlation(data):
    count = data.shape[0]
    off = data - data.sum(axis=0) / count
    deviation = np.sqrt((off * off).sum(axis=0) / count)
    for j in range(len(deviation)):
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    z = off / (sqrt(count) * deviation)
    corr = z.T @ z
    for j in range(len(deviation)):
        corr[j, j] = 1.0
    return corr


@fast
def cholesky(given):
    A = np.zeros_like(given)
    N = len(A)
    for i in range(N):
        for j in range(i):
            total = given[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / A[j, j]
        total = given[i, i]
        for k in range(i):
            total -= A[i, k] * A[i, k]
        A[i, i] = sqrt(total)
    return A


@fast
def lu(given):
    A = given.copy()
    N = len(A)
    for k in range(N):
        for i in prange(k + 1, N):
            A[i, k] /= A[k, k]
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]
    return A


@fast
def ludcmp(given, b):
    A = lu(given)
    N = len(A)
    x, y = np.empty(N), np.empty(N)
    for i in range(N):
        total = b[i]
        for j in range(i):
            total -= A[i, j] * y[j]
        y[i] = total
    for i in range(N - 1, -1, -1):
        total = y[i]
        for j in range(i + 1, N):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]
    return x


@fast
def trisolv(L, b):
    x = np.empty_like(b)
    for i in range(len(b)):
        total = b[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]
    return x


@fast
def durbin(r):
    y, z = np.empty_like(r), np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = alpha
    for k in range(1, len(r)):
        beta *= 1 - alpha * alpha
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y


@fast
def gramschmidt(given):
    A = given.T.copy()  # a column after the other in memory
    N, M = A.shape
    R, Q = np.zeros((N, N)), np.empty((N, M))
    for k in range(N):
        square = 0.0
        for i in range(M):
            square += A[k, i] * A[k, i]
        R[k, k] = sqrt(square)
        for i in range(M):
            Q[k, i] = A[k, i] / R[k, k]
        for j in prange(k + 1, N):
            total = 0.0
            for i in range(M):
                total += Q[k, i] * A[j, i]
            for i in range(M):
                A[j, i] -= Q[k, i] * total
            R[k, j] = total
    return R, Q.T.copy()


ALPHA = np.float32(0.25)
_E, _E2 = np.exp(-ALPHA), np.exp(np.float32(-2) * ALPHA)
_ONE, _TWO = np.float32(1), np.float32(2)
A1 = (_ONE - _E) * (_ONE - _E) / (_ONE + _TWO * ALPHA * _E - np.exp(_TWO * ALPHA))
A2, A3, A4 = A1 * _E * (ALPHA - _ONE), A1 * _E * (ALPHA + _ONE), -A1 * _E2
B1, B2 = np.exp2(-ALPHA), -_E2


@fast
def deriche(image):
    W, H = image.shape
    between, other, out = np.empty_like(image), np.empty_like(image), np.empty_like(image)
    for i in prange(W):
        p1 = p2 = x1 = x2 = np.float32(0)
        for j in range(H):
            p = A1 * image[i, j] + A2 * x1 + B1 * p1 + B2 * p2
            between[i, j] = p
            x1, p2, p1 = image[i, j], p1, p
        p1 = p2 = x1 = np.float32(0)
        for j in range(H - 1, -1, -1):
            p = A3 * x1 + A4 * x2 + B1 * p1 + B2 * p2
            between[i, j] += p
            x2, x1, p2, p1 = x1, image[i, j], p1, p
    for part in prange((H + 63) // 64):
        first, last = 64 * part, min(64 * part + 64, H)
        for i in range(W):
            for j in range(first, last):
                p = A1 * between[i, j]
                if i > 0:
                    p += A2 * between[i - 1, j] + B1 * other[i - 1, j]
                if i > 1:
                    p += B2 * other[i - 2, j]
                other[i, j] = p
        for i in range(W - 1, -1, -1):
            for j in range(first, last):
                p = np.float32(0)
                if i < W - 1:
                    p += A3 * between[i + 1, j] + B1 * out[i + 1, j]
                if i < W - 2:
                    p += A4 * between[i + 2, j] + B2 * out[i + 2, j]
                out[i, j] = p
    return out + other


@fast
def floyd_warshall(given):
    path = given.copy()
    for k in range(len(path)):
        for i in prange(len(path)):
            for j in range(len(path)):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    return path


@fast
def nussinov(seq):
    N = len(seq)
    table = np.zeros((N, N), np.int32)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            best = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                best = max(best, table[i + 1, j - 1] + np.int32(seq[i] + seq[j] == 3))
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


@fast
def adi(given, T):
    u = given.copy()
    N = len(u)
    v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    ratio = N * N / T
    a, b, d, e = -ratio, 1.0 + 2.0 * ratio, -ratio / 2.0, 1.0 + ratio
    for _ in range(T):
        for i in prange(1, N - 1):
            v[0, i], p[i, 0], q[i, 0], v[N - 1, i] = 1.0, 0.0, 1.0, 1.0
            for j in range(1, N - 1):
                pivot = a * p[i, j - 1] + b
                p[i, j] = -a / pivot
                known = -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1]
                q[i, j] = (known - a * q[i, j - 1]) / pivot
            for j in range(N - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in prange(1, N - 1):
            u[i, 0], p[i, 0], q[i, 0], u[i, N - 1] = 1.0, 0.0, 1.0, 1.0
            for j in range(1, N - 1):
                pivot = d * p[i, j - 1] + e
                p[i, j] = -d / pivot
                known = -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j]
                q[i, j] = (known - d * q[i, j - 1]) / pivot
            for j in range(N - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return u


@fast
def fdtd_2d(ex0, ey0, hz0, fict):
    ex, ey, hz = ex0.copy(), ey0.copy(), hz0.copy()
    NX, NY = ex.shape
    for t in range(len(fict)):
        for i in prange(NX):
            for j in range(NY):
                ey[i, j] = fict[t] if i == 0 else ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
            for j in range(1, NY):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(NX - 1):
            for j in range(NY - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    return ex, ey, hz


@fast
def _warmer(A, B):
    N = len(A)
    for i in prange(1, N - 1):
        for j in range(1, N - 1):
            for k in range(1, N - 1):
                here = 2.0 * A[i, j, k]
                along = A[i + 1, j, k] - here + A[i - 1, j, k]
                across = A[i, j + 1, k] - here + A[i, j - 1, k]
                inwards = A[i, j, k + 1] - here + A[i, j, k - 1]
                B[i, j, k] = 0.125 * along + 0.125 * across + 0.125 * inwards + A[i, j, k]


@fast
def heat_3d(A0, B0, T):
    A, B = A0.copy(), B0.copy()
    for _ in range(T):
        _warmer(A, B)
        _warmer(B, A)
    return A


@fast
def jacobi_1d(A0, B0, T):
    A, B = A0.copy(), B0.copy()
    for _ in range(T):
        for i in range(1, len(A) - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, len(A) - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
    return A


@fast
def _means(A, B):
    for i in prange(1, len(A) - 1):
        for j in range(1, len(A) - 1):
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])


@fast
def jacobi_2d(A0, B0, T):
    A, B = A0.copy(), B0.copy()
    for _ in range(T):
        _means(A, B)
        _means(B, A)
    return A


@fast
def seidel_2d(given, T):
    A = given.copy()
    for _ in range(T):
        for i in range(1, len(A) - 1):
            for j in range(1, len(A) - 1):
                above = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                beside = A[i, j - 1] + A[i, j] + A[i, j + 1]
                below = A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                A[i, j] = (above + beside + below) / 9.0
    return A


KERNELS: Mapping[str, Callable[..., Any]] = {
    "correlation": correlation,
    "covariance": covariance,
    "cholesky": cholesky,
    "durbin": durbin,
    "gramschmidt": gramschmidt,
    "lu": lu,
    "ludcmp": ludcmp,
    "trisolv": trisolv,
    "deriche": deriche,
    "floyd-warshall": floyd_warshall,
    "nussinov": nussinov,
    "adi": adi,
    "fdtd-2d": fdtd_2d,
    "heat-3d": heat_3d,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "seidel-2d": seidel_2d,
}
