"""NPBench's programs in Numba, parallel and with fastmath: the loops that their definitions are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from benchmarks.peers.numba_flows import FLOWS
from benchmarks.peers.numba_layers import LAYERS
from benchmarks.task import MissingError, Prepared, Task

PREFIX = "npbench_"
fast = njit(parallel=True, fastmath=True, cache=True)


@fast
def hdiff(field, rate):
    rows, columns, levels = rate.shape
    out = np.empty_like(rate)
    for i in prange(rows):
        lap = np.empty((5, columns + 4, levels))
        for r in range(i + 1, i + 4):
            for c in range(1, columns + 3):
                for k in range(levels):
                    near = field[r - 1, c, k] + field[r + 1, c, k] + field[r, c - 1, k] + field[r, c + 1, k]
                    lap[r - i, c, k] = 4.0 * field[r, c, k] - near
        for j in range(columns):
            y, x = i + 2, j + 2
            for k in range(levels):
                total = 0.0
                rise = lap[3, x, k] - lap[2, x, k]
                if not rise * (field[y + 1, x, k] - field[y, x, k]) > 0:
                    total += rise
                rise = lap[2, x, k] - lap[1, x, k]
                if not rise * (field[y, x, k] - field[y - 1, x, k]) > 0:
                    total -= rise
                rise = lap[2, x + 1, k] - lap[2, x, k]
                if not rise * (field[y, x + 1, k] - field[y, x, k]) > 0:
                    total += rise
                rise = lap[2, x, k] - lap[2, x - 1, k]
                if not rise * (field[y, x, k] - field[y, x - 1, k]) > 0:
                    total -= rise
                out[i, j, k] = field[y, x, k] - rate[i, j, k] * total
    return out


@fast
def vadv(tendency, now, wind, before, forcing, rate):
    rows, columns, levels = now.shape
    out = np.empty_like(now)
    for i in prange(rows):
        c, d = np.empty(levels), np.empty(levels)
        for j in range(columns):
            above = pull = 0.0
            for k in range(levels):
                below = next_pull = 0.0
                if k < levels - 1:
                    below = 0.125 * (wind[i + 1, j, k + 1] + wind[i, j, k + 1])
                    next_pull = below * (now[i, j, k + 1] - now[i, j, k])
                right = rate * before[i, j, k] + forcing[i, j, k] + tendency[i, j, k] - pull - next_pull
                pivot = rate - above - below
                if k > 0:
                    pivot -= above * c[k - 1]
                    right -= above * d[k - 1]
                c[k], d[k] = below / pivot, right / pivot
                above, pull = -below, next_pull
            x = d[levels - 1]
            out[i, j, levels - 1] = rate * (x - before[i, j, levels - 1])
            for k in range(levels - 2, -1, -1):
                x = d[k] - c[k] * x
                out[i, j, k] = rate * (x - before[i, j, k])
    return out


@fast
def _pressure_step(p, source, new, dx2, dy2):
    rows, columns = p.shape
    for y in prange(1, rows - 1):
        for x in range(1, columns - 1):
            beside = (p[y, x + 1] + p[y, x - 1]) * dy2 + (p[y + 1, x] + p[y - 1, x]) * dx2
            new[y, x] = (beside - dx2 * dy2 * source[y, x]) / (2 * (dx2 + dy2))
        new[y, 0], new[y, columns - 1] = new[y, 1], new[y, columns - 2]
    new[0], new[rows - 1] = new[1], 0.0


@fast
def _source(u, v, source, density, dx, dy, dt):
    for y in prange(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            ux, uy = (u[y, x + 1] - u[y, x - 1]) / (2 * dx), (u[y + 1, x] - u[y - 1, x]) / (2 * dy)
            vx, vy = (v[y, x + 1] - v[y, x - 1]) / (2 * dx), (v[y + 1, x] - v[y - 1, x]) / (2 * dy)
            source[y, x] = density * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)


@fast
def _velocity(u, v, p, new_u, new_v, density, viscosity, dx, dy, dt):
    for y in prange(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            a, b = u[y, x] * dt / dx, v[y, x] * dt / dy
            spread = dt / dx**2 * (u[y, x + 1] - 2 * u[y, x] + u[y, x - 1])
            spread += dt / dy**2 * (u[y + 1, x] - 2 * u[y, x] + u[y - 1, x])
            carried = a * (u[y, x] - u[y, x - 1]) + b * (u[y, x] - u[y - 1, x])
            slope = (p[y, x + 1] - p[y, x - 1]) / (2 * dx)
            new_u[y, x] = u[y, x] - carried - dt / density * slope + viscosity * spread
            spread = dt / dx**2 * (v[y, x + 1] - 2 * v[y, x] + v[y, x - 1])
            spread += dt / dy**2 * (v[y + 1, x] - 2 * v[y, x] + v[y - 1, x])
            carried = a * (v[y, x] - v[y, x - 1]) + b * (v[y, x] - v[y - 1, x])
            slope = (p[y + 1, x] - p[y - 1, x]) / (2 * dy)
            new_v[y, x] = v[y, x] - carried - dt / density * slope + viscosity * spread


def cavity_flow(u, v, p, T, P, density, viscosity):
    dx, dy = 2.0 / (u.shape[1] - 1), 2.0 / (u.shape[0] - 1)
    dt = 0.1 / ((u.shape[1] - 1) * (u.shape[0] - 1))
    p, new = p.copy(), np.empty_like(p)
    source, next_u, next_v = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    next_u[-1] = 1
    u, v = u.copy(), v.copy()
    for _ in range(T):
        _source(u, v, source, density, dx, dy, dt)
        for _ in range(P):
            _pressure_step(p, source, new, dx * dx, dy * dy)
            p, new = new, p
        _velocity(u, v, p, next_u, next_v, density, viscosity, dx, dy, dt)
        u, v, next_u, next_v = next_u, next_v, u, v
        next_u[-1] = 1
    return u, v, p


@njit(fastmath=True, cache=True)
def nbody(mass, start, moving, T, step, gravity, softening):
    bodies = len(mass)
    position, velocity = start.copy(), moving.copy()
    force = np.empty_like(position)
    kinetic, potential = np.zeros(T + 1), np.zeros(T + 1)
    for d in range(3):
        velocity[:, d] -= (mass * moving[:, d]).sum() / mass.sum()
    for t in range(T + 1):
        if t > 0:
            velocity += 0.5 * step * gravity * force
            position += step * velocity
        for i in range(bodies):
            x = y = z = energy = 0.0
            for j in range(bodies):
                a = position[j, 0] - position[i, 0]
                b = position[j, 1] - position[i, 1]
                c = position[j, 2] - position[i, 2]
                square = a * a + b * b + c * c
                soft = square + softening * softening
                pull = mass[j] / (soft * np.sqrt(soft))
                x, y, z = x + a * pull, y + b * pull, z + c * pull
                if j > i:
                    energy += mass[j] / np.sqrt(square)
            force[i, 0], force[i, 1], force[i, 2] = x, y, z
            potential[t] -= gravity * mass[i] * energy
        if t > 0:
            velocity += 0.5 * step * gravity * force
        for i in range(bodies):
            kinetic[t] += 0.5 * mass[i] * (velocity[i, 0] ** 2 + velocity[i, 1] ** 2 + velocity[i, 2] ** 2)
    return kinetic, potential


@fast
def _followed(X, Y, T, most, left, right, low, high):
    real, imaginary = np.empty((Y, X)), np.empty((Y, X))
    count = np.empty((Y, X), np.int32)
    for y in prange(Y):
        im = low + (high - low) * y / (Y - 1)
        for x in range(X):
            re = left + (right - left) * x / (X - 1)
            a = b = 0.0
            n = 0
            while n < T and a * a + b * b <= most:
                a, b = a * a - b * b + re, 2.0 * a * b + im
                n += 1
            real[y, x], imaginary[y, x], count[y, x] = a, b, n
    return real, imaginary, count


def mandelbrot1(X, Y, T, **window):
    real, imaginary, count = _followed(X, Y, T, np.nextafter(4.0, 0.0), **window)
    return real, imaginary, np.where(count < T, count - 1, 0).astype(np.int32)


def mandelbrot2(X, Y, T, **window):
    real, imaginary, count = _followed(X, Y, T, 4.0, **window)
    inside = real * real + imaginary * imaginary <= 4.0
    for part in (real, imaginary, count):
        part[inside] = 0
    return real, imaginary, count


@fast
def arc_distance(theta_1, phi_1, theta_2, phi_2):
    angle = np.empty_like(theta_1)
    for i in prange(len(theta_1)):
        up, along = np.sin((theta_2[i] - theta_1[i]) / 2), np.sin((phi_2[i] - phi_1[i]) / 2)
        h = up * up + np.cos(theta_1[i]) * np.cos(theta_2[i]) * (along * along)
        angle[i] = 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))
    return angle


@fast
def compute(x, y, a, b, c):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = min(max(x[i, j], 2), 10) * a + y[i, j] * b + c
    return out


@fast
def go_fast(a):
    out, trace = np.empty_like(a), 0.0
    for i in range(len(a)):
        trace += np.tanh(a[i, i])
    for i in prange(len(a)):
        for j in range(len(a)):
            out[i, j] = a[i, j] + trace
    return out


@fast
def azimint_naive(data, radius, B):
    mean, top = np.empty(B), radius.max()
    for b in prange(B):
        low, high = top * b / B, top * (b + 1) / B
        total = count = 0.0
        for k in range(len(data)):
            if low <= radius[k] and radius[k] < high:
                total += data[k]
                count += 1.0
        mean[b] = total / count
    return mean


@njit(cache=True)
def azimint_hist(data, radius, B):
    total, count = np.zeros(B), np.zeros(B)
    least, top = radius.min(), radius.max()
    for k in range(len(data)):
        ring = min(int((radius[k] - least) / (top - least) * B), B - 1)
        total[ring] += data[k]
        count[ring] += 1.0
    return total / count


@njit(cache=True)
def _remainder(data):
    table = np.empty(256, np.uint16)
    for byte in range(256):
        rest = byte
        for _ in range(8):
            rest = (rest >> 1) ^ ((rest & 1) * 0x8408)
        table[byte] = rest
    rest = np.uint16(0xFFFF)
    for byte in data:
        rest = (rest >> np.uint16(8)) ^ table[(rest ^ byte) & 0xFF]
    return rest ^ 0xFFFF


def crc16(data):
    last = int(_remainder(data))
    return np.array((last << 8 | last >> 8) & 0xFFFF, np.uint16)


@fast
def spmv(row, column, value, x):
    y = np.empty(len(row) - 1)
    for i in prange(len(y)):
        total = 0.0
        for k in range(row[i], row[i + 1]):
            total += value[k] * x[column[k]]
        y[i] = total
    return y


@fast
def scattering_self_energies(near, dH, G, P):
    momenta, losses, atoms, neighbours, directions, _ = P.shape
    size = dH.shape[-1]
    right = np.zeros((losses, atoms, neighbours, size, size), np.complex128)
    for a in prange(atoms):
        moved = np.empty((size, size), np.complex128)
        for w in range(losses):
            for b in range(neighbours):
                for i in range(directions):
                    moved[:] = 0
                    for j in range(directions):
                        weight = 0j
                        for q in range(momenta):
                            weight += P[q, w, a, b, i, j]
                        for m in range(size):
                            for n in range(size):
                                moved[m, n] += dH[a, b, j, m, n] * weight
                    for m in range(size):
                        for o in range(size):
                            for n in range(size):
                                right[w, a, b, m, n] += dH[a, b, i, m, o] * moved[o, n]
    sigma = np.zeros_like(G)
    for k in range(G.shape[0]):
        for e in prange(G.shape[1]):
            for a in range(atoms):
                for w in range(min(losses, e + 1)):
                    for b in range(neighbours):
                        c = near[a, b]
                        for m in range(size):
                            for o in range(size):
                                for n in range(size):
                                    sigma[k, e, a, m, n] += G[k, e - w, c, m, o] * right[w, a, b, o, n]
    return sigma


KERNELS: Mapping[str, Callable[..., Any]] = {
    "hdiff": hdiff,
    "vadv": vadv,
    "cavity_flow": cavity_flow,
    "nbody": nbody,
    "mandelbrot1": mandelbrot1,
    "mandelbrot2": mandelbrot2,
    "arc_distance": arc_distance,
    "compute": compute,
    "go_fast": go_fast,
    "azimint_naive": azimint_naive,
    "azimint_hist": azimint_hist,
    "crc16": crc16,
    "spmv": spmv,
    "scattering_self_energies": scattering_self_energies,
    **LAYERS,
    **FLOWS,
}


def prepare(task: Task) -> Prepared:
    """The loops of the task's name."""
    name = task.problem.removeprefix(PREFIX)
    if name not in KERNELS:
        raise MissingError(f"no loops for {name}")
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    arrays, kernel, named = tuple(task.arrays.values()), KERNELS[name], task.values["scalars"]
    return Prepared(lambda: kernel(*arrays, **named))
