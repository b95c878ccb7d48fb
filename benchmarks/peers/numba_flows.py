"""NPBench's transform, contour integral and channel in Numba, parallel and with fastmath."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import njit, prange

fast = njit(parallel=True, fastmath=True, cache=True)


@fast
def _pass(given, out, before):
    behind = len(given) // 2 // before
    for k in prange(before):
        turned = np.exp(-1j * np.pi * k / before)
        for j in range(behind):
            even, odd = given[k * 2 * behind + j], turned * given[(k * 2 + 1) * behind + j]
            out[k * behind + j], out[(k + before) * behind + j] = even + odd, even - odd


def stockham_fft(x):
    y, other, before = x.copy(), np.empty_like(x), 1
    while before < len(x):
        _pass(y, other, before)
        y, other, before = other, y, 2 * before
    return y


@njit(fastmath=True, cache=True)
def _solve(A, R):
    C = A.shape[1]
    for k in range(R):
        pivot = k
        for i in range(k + 1, R):
            if abs(A[i, k].real) + abs(A[i, k].imag) > abs(A[pivot, k].real) + abs(A[pivot, k].imag):
                pivot = i
        scale = 1.0 / A[pivot, k]
        for j in range(k, C):
            head = A[pivot, j] * scale
            A[pivot, j] = A[k, j]
            A[k, j] = head
        for i in range(R):
            if i != k:
                factor = A[i, k]
                for j in range(k, C):
                    A[i, j] -= factor * A[k, j]


@fast
def contour_integral(H, point, Y):
    (R, M), Z = Y.shape, len(point)
    systems = np.empty((Z, R, R + M), np.complex128)
    first, second = np.zeros((R, M), np.complex128), np.zeros((R, M), np.complex128)
    for z in prange(Z):
        at = point[z]
        for i in range(R):
            for j in range(R):
                systems[z, i, j] = at * H[0, i, j] + H[1, i, j] + H[2, i, j] / at
            for m in range(M):
                systems[z, i, R + m] = Y[i, m]
        _solve(systems[z], R)
    for i in prange(R):
        for z in range(Z):
            sign = -1.0 if abs(point[z]) < 1 else 1.0
            for m in range(M):
                x = sign * systems[z, i, R + m]
                first[i, m] += x
                second[i, m] += point[z] * x
    return first, second


@fast
def _sources(u, v, b, density, dx, dy, dt):
    Y, X = u.shape
    for y in prange(1, Y - 1):
        for x in range(X):
            w, e = (x - 1 if x > 0 else X - 1), (x + 1 if x < X - 1 else 0)
            ux, uy = (u[y, e] - u[y, w]) / (2 * dx), (u[y + 1, x] - u[y - 1, x]) / (2 * dy)
            vx, vy = (v[y, e] - v[y, w]) / (2 * dx), (v[y + 1, x] - v[y - 1, x]) / (2 * dy)
            b[y, x] = density * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)


@fast
def _pressures(p, b, new, dx2, dy2):
    Y, X = p.shape
    for y in prange(1, Y - 1):
        for x in range(X):
            w, e = (x - 1 if x > 0 else X - 1), (x + 1 if x < X - 1 else 0)
            beside = (p[y, e] + p[y, w]) * dy2 + (p[y + 1, x] + p[y - 1, x]) * dx2
            new[y, x] = (beside - dx2 * dy2 * b[y, x]) / (2 * (dx2 + dy2))
    new[0], new[Y - 1] = new[1], new[Y - 2]


@fast
def _velocities(u, v, p, new_u, new_v, density, viscosity, force, dx, dy, dt):
    Y, X = u.shape
    for y in prange(1, Y - 1):
        for x in range(X):
            w, e = (x - 1 if x > 0 else X - 1), (x + 1 if x < X - 1 else 0)
            a, b = u[y, x] * dt / dx, v[y, x] * dt / dy
            spread = dt / dx**2 * (u[y, e] - 2 * u[y, x] + u[y, w])
            spread += dt / dy**2 * (u[y + 1, x] - 2 * u[y, x] + u[y - 1, x])
            carried = a * (u[y, x] - u[y, w]) + b * (u[y, x] - u[y - 1, x])
            slope = (p[y, e] - p[y, w]) / (2 * dx)
            new_u[y, x] = u[y, x] - carried - dt / density * slope + viscosity * spread + force * dt
            spread = dt / dx**2 * (v[y, e] - 2 * v[y, x] + v[y, w])
            spread += dt / dy**2 * (v[y + 1, x] - 2 * v[y, x] + v[y - 1, x])
            carried = a * (v[y, x] - v[y, w]) + b * (v[y, x] - v[y - 1, x])
            slope = (p[y + 1, x] - p[y - 1, x]) / (2 * dy)
            new_v[y, x] = v[y, x] - carried - dt / density * slope + viscosity * spread
    new_u[0], new_u[Y - 1], new_v[0], new_v[Y - 1] = 0.0, 0.0, 0.0, 0.0


def channel_flow(u, v, p, T, P, density, viscosity, force):
    dx, dy = 2.0 / (u.shape[1] - 1), 2.0 / (u.shape[0] - 1)
    dt = 0.1 / ((u.shape[1] - 1) * (u.shape[0] - 1))
    u, v, p = u.copy(), v.copy(), p.copy()
    new_u, new_v, new, b = (np.zeros_like(u) for _ in range(4))
    for _ in range(T):
        _sources(u, v, b, density, dx, dy, dt)
        for _ in range(P):
            _pressures(p, b, new, dx * dx, dy * dy)
            p, new = new, p
        _velocities(u, v, p, new_u, new_v, density, viscosity, force, dx, dy, dt)
        u, v, new_u, new_v = new_u, new_v, u, v
    return u, v, p


FLOWS: Mapping[str, Callable[..., Any]] = {
    "stockham_fft": stockham_fft,
    "contour_integral": contour_integral,
    "channel_flow": channel_flow,
}
