"""PolyBench's recurrences for JAX: loops over steps, and all that a step computes as whole arrays.

Of nussinov and seidel-2d, whose points follow one another, there is nothing to compute at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular

from benchmarks.polybench.deriche import coefficients


def repeated(count, step, state):
    """A step so many times."""
    return lax.fori_loop(0, count, lambda _, now: step(now), state)


def covariance(data):
    off = data - data.mean(axis=0)
    return (off.T @ off / (len(data) - 1),)


def correlation(data):
    off = data - data.mean(axis=0)
    deviation = jnp.sqrt((off * off).mean(axis=0))
    z = off / (jnp.sqrt(float(len(data))) * jnp.where(deviation <= 0.1, 1.0, deviation))
    found = z.T @ z
    return (jnp.where(jnp.eye(len(found), dtype=bool), 1.0, found),)


def cholesky(A):
    return (jnp.linalg.cholesky(A),)


def lu(A):
    places = jnp.arange(len(A))

    def step(k, A):
        factors = jnp.where(places > k, A[:, k] / A[k, k], 0.0)
        rest = A - factors[:, None] * jnp.where(places > k, A[k], 0.0)
        return rest.at[:, k].set(jnp.where(places > k, factors, A[:, k]))

    return (lax.fori_loop(0, len(A), step, A),)


def ludcmp(A, b):
    return (jnp.linalg.solve(A, b),)


def trisolv(L, b):
    return (solve_triangular(L, b, lower=True),)


def durbin(r):
    N = len(r)
    turned, none = r[::-1], jnp.zeros(N, r.dtype)

    def step(k, state):
        y, alpha, beta = state
        beta = beta * (1 - alpha * alpha)
        total = lax.dynamic_slice(jnp.concatenate([turned, none]), (N - k,), (N,)) @ y
        alpha = -(r[k] + total) / beta
        other = lax.dynamic_slice(jnp.concatenate([y[::-1], none]), (N - k,), (N,))
        return (y + alpha * other).at[k].set(alpha), alpha, beta

    first = none.at[0].set(-r[0])
    return (lax.fori_loop(1, N, step, (first, -r[0], 1.0))[0],)


def gramschmidt(A):
    M, N = A.shape
    places = jnp.arange(N)

    def step(k, state):
        A, R, Q = state
        length = jnp.sqrt(A[:, k] @ A[:, k])
        q = A[:, k] / length
        row = jnp.where(places > k, q @ A, 0.0)
        return A - q[:, None] * row, R.at[k].set(row.at[k].set(length)), Q.at[:, k].set(q)

    _, R, Q = lax.fori_loop(0, N, step, (A, jnp.zeros((N, N)), jnp.zeros((M, N))))
    return R, Q


def deriche(image):
    (a1, a2, a3, a4), (b1, b2) = (tuple(map(jnp.float32, each)) for each in coefficients())

    def both(x):
        none = jnp.zeros(x.shape[1], x.dtype)

        def down(state, x):
            x1, y1, y2 = state
            y = a1 * x + a2 * x1 + b1 * y1 + b2 * y2
            return (x, y, y1), y

        def up(state, x):
            x1, x2, y1, y2 = state
            y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
            return (x, x1, y, y1), y

        first = lax.scan(down, (none,) * 3, x)[1]
        return first + lax.scan(up, (none,) * 4, x, reverse=True)[1]

    return (both(both(image.T).T),)


def floyd_warshall(path):
    return (lax.fori_loop(0, len(path), lambda k, p: jnp.minimum(p, p[:, k, None] + p[k]), path),)


def adi(u, T):
    ratio = float(len(u)) * len(u) / T
    a, b, d, e = -ratio, 1 + 2 * ratio, -ratio / 2, 1 + ratio

    def solved(off, diagonal, known):
        def ahead(state, known):
            p, q = state
            pivot = off * p + diagonal
            after = (-off / pivot, (known - off * q) / pivot)
            return after, after

        def back(x, factors):
            x = factors[0] * x + factors[1]
            return x, x

        ends = jnp.ones((1, known.shape[1]))
        factors = lax.scan(ahead, (0.0, ends[0]), known)[1]
        return jnp.concatenate([ends, lax.scan(back, ends[0], factors, reverse=True)[1], ends])

    def step(u):
        v = solved(a, b, -d * u[1:-1, :-2] + (1 + 2 * d) * u[1:-1, 1:-1] - d * u[1:-1, 2:])
        along = -a * v[:-2] + (1 + 2 * a) * v[1:-1] - a * v[2:]
        return u.at[1:-1].set(solved(d, e, along.T).T)

    return (repeated(T, step, u),)


def fdtd_2d(ex, ey, hz, fict):
    def step(state, driven):
        ex, ey, hz = state
        ey = ey.at[0].set(driven).at[1:].add(-0.5 * (hz[1:] - hz[:-1]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        rise = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        return (ex, ey, hz.at[:-1, :-1].add(-0.7 * rise)), None

    return lax.scan(step, (ex, ey, hz), fict)[0]


def heat_3d(A, B, T):
    def warmer(A, B):
        here = A[1:-1, 1:-1, 1:-1]
        near = A[2:, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1] + A[1:-1, 2:, 1:-1] + A[1:-1, :-2, 1:-1]
        near += A[1:-1, 1:-1, 2:] + A[1:-1, 1:-1, :-2]
        return B.at[1:-1, 1:-1, 1:-1].set(0.125 * (near - 6 * here) + here)

    def step(state):
        A, B = state
        B = warmer(A, B)
        return warmer(B, A), B

    return (repeated(T, step, (A, B))[0],)


def jacobi_1d(A, B, T):
    def step(state):
        A, B = state
        B = B.at[1:-1].set(0.33333 * (A[:-2] + A[1:-1] + A[2:]))
        return A.at[1:-1].set(0.33333 * (B[:-2] + B[1:-1] + B[2:])), B

    return (repeated(T, step, (A, B))[0],)


def jacobi_2d(A, B, T):
    def means(A):
        return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])

    def step(state):
        A, B = state
        B = B.at[1:-1, 1:-1].set(means(A))
        return A.at[1:-1, 1:-1].set(means(B)), B

    return (repeated(T, step, (A, B))[0],)


LOOPS: Mapping[str, Callable[..., Any]] = {
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
    "adi": adi,
    "fdtd-2d": fdtd_2d,
    "heat-3d": heat_3d,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
}
