"""A solution that adds sums in the order of their index, as PolyBench's loops do."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays


def _total(terms: Array) -> Array:
    """The sum over the first axis, term after term: NumPy's own adds in pairs."""
    total = np.zeros(terms.shape[1:])
    for term in terms:
        total = total + term
    return total


def gramschmidt(given: Array) -> Arrays:
    """Columns made orthogonal, one after the other; bit for bit what the suite's C prints."""
    A = given.copy()
    N = A.shape[1]
    R, Q = np.zeros((N, N)), np.zeros_like(A)
    for k in range(N):
        R[k, k] = np.sqrt(_total(A[:, k] * A[:, k]))
        with np.errstate(invalid="ignore"):  # beyond the rank a column may be all zeros
            Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = _total(Q[:, k : k + 1] * A[:, k + 1 :])
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])
    return {"R": R, "Q": Q}
