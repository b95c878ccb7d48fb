"""The matrix that PolyBench's factorisations share: a product of a known unit lower triangle with itself."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import Array, index_grid


def factored(N: int) -> Array:
    """A = L L', L(i, j) = 1 - j / N below its diagonal of ones."""
    i, j = index_grid(N, N)
    L = np.where(j < i, -j / N + 1, 1.0 * (i == j))
    A: Array = L @ L.T
    return A
