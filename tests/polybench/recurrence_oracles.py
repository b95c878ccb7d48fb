"""Initial values and NumPy solutions of the PolyBench problems that read what they have written."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Sizes, counter, index_grid, size_table

SIZES = {
    "jacobi-1d": size_table("T N", MINI=(20, 30), SMALL=(40, 120)),
    "jacobi-2d": size_table("T N", MINI=(20, 30), SMALL=(40, 90)),
    "seidel-2d": size_table("T N", MINI=(20, 40), SMALL=(40, 120)),
    "cholesky": size_table("N", MINI=(40,), SMALL=(120,)),
    "lu": size_table("N", MINI=(40,), SMALL=(120,)),
    "trisolv": size_table("N", MINI=(40,), SMALL=(120,)),
    "floyd-warshall": size_table("N", MINI=(60,), SMALL=(180,)),
}


def jacobi_1d_inputs(sizes: Sizes) -> Arrays:
    N = sizes["N"]
    return {"A": (counter(N) + 2) / N, "B": (counter(N) + 3) / N}


def jacobi_1d(arrays: Arrays, steps: int) -> Array:
    A, B = arrays["A"].copy(), arrays["B"].copy()
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return A


def jacobi_2d_inputs(sizes: Sizes) -> Arrays:
    N = sizes["N"]
    i, j = index_grid(N, N)
    return {"A": (i * (j + 2) + 2) / N, "B": (i * (j + 3) + 3) / N}


def _cross(A: Array) -> Array:
    total: Array = A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
    return 0.2 * total


def jacobi_2d(arrays: Arrays, steps: int) -> Array:
    A, B = arrays["A"].copy(), arrays["B"].copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = _cross(A)
        A[1:-1, 1:-1] = _cross(B)
    return A


def seidel_2d_inputs(sizes: Sizes) -> Arrays:
    N = sizes["N"]
    i, j = index_grid(N, N)
    return {"A": (i * (j + 2) + 2) / N}


def seidel_2d(arrays: Arrays, steps: int) -> Array:
    A = arrays["A"].copy()
    for _ in range(steps):
        for i in range(1, len(A) - 1):
            row = A[i]
            known = A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:]
            unknown = row[1:-1] + row[2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            for j in range(1, len(A) - 1):
                row[j] = (known[j - 1] + row[j - 1] + unknown[j - 1]) / 9
    return A


def factored_inputs(sizes: Sizes) -> Arrays:
    """The matrix of cholesky and lu: L L' with a known unit lower triangular L."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    L = np.where(j < i, -j / N + 1, np.where(i == j, 1.0, 0.0)) if N else np.zeros((0, 0))
    A = np.zeros((N, N))
    for t in range(N):
        A += np.outer(L[:, t], L[:, t])
    return {"A": A}


def cholesky(arrays: Arrays) -> Array:
    L = np.tril(arrays["A"])
    for k in range(len(L)):
        L[k, k] = np.sqrt(L[k, k])
        L[k + 1 :, k] /= L[k, k]
        L[k + 1 :, k + 1 :] -= np.tril(np.outer(L[k + 1 :, k], L[k + 1 :, k]))
    return L


def lu(arrays: Arrays) -> Array:
    A = arrays["A"].copy()
    for k in range(len(A)):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A


def trisolv_inputs(sizes: Sizes) -> Arrays:
    """The entries above the diagonal of L must never be read."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    L = np.where(j <= i, (i + N - j + 1) * 2.0 / N, -999.0)
    return {"L": L, "b": counter(N).astype(np.float64)}


def trisolv(arrays: Arrays) -> Array:
    L, b = arrays["L"], arrays["b"]
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def floyd_warshall_inputs(sizes: Sizes) -> Arrays:
    i, j = index_grid(sizes["N"], sizes["N"])
    far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return {"path": np.where(far, 999, i * j % 7 + 1).astype(np.int32)}


def floyd_warshall(arrays: Arrays) -> Array:
    path = arrays["path"].copy()
    for k in range(len(path)):
        path = np.minimum(path, path[:, k : k + 1] + path[k : k + 1, :])
    return path
