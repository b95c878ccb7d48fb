"""PolyBench seidel-2d: means of nine neighbours in place, of which those before are new already."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    inside,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix

NAME = "seidel-2d"


def build() -> Description:
    """Describe the sweeps: X(t, ., .) is the field after t of them."""
    T, N = sizes = parameters("T N")
    A = Matrix(Double, "A", [N, N])
    t, i, j = variables("t i j")
    X = Function(([t, i, j], [Interval(Int, 0, T), upto(N), upto(N)]), Double, "X", default=A(i, j))
    above = X(t, i - 1, j - 1) + X(t, i - 1, j) + X(t, i - 1, j + 1)
    beside = X(t, i, j - 1) + X(t - 1, i, j) + X(t - 1, i, j + 1)
    below = X(t - 1, i + 1, j - 1) + X(t - 1, i + 1, j) + X(t - 1, i + 1, j + 1)
    X.defn = [Case(Condition(t, ">=", 1) & inside(N, i, j), (above + beside + below) / 9)]
    last = Function(([i, j], [upto(N), upto(N)]), Double, "last")
    last.defn = [X(T, i, j)]
    return Description((last,), (A,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    return {"A": (i * (j + 2) + 2) / N}


def reference(arrays: Arrays, T: int) -> Arrays:
    """Take the sweeps with NumPy, each row by a recursive filter of SciPy."""
    A = arrays["A"].copy()
    if len(A) < 3:
        return {"A": A}
    ahead, back = np.array([1 / 9]), np.array([1, -1 / 9])
    for _ in range(T):
        for i in range(1, len(A) - 1):
            row, above, below = A[i], A[i - 1], A[i + 1]
            known = above[:-2] + above[1:-1] + above[2:] + row[1:-1] + row[2:]
            known += below[:-2] + below[1:-1] + below[2:]
            row[1:-1], _ = lfilter(ahead, back, known, zi=row[:1] / 9)
    return {"A": A}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    T, N = extents(sizes, "T N")
    return 9 * T * (N - 2) ** 2


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * (N * N + (N - 2) ** 2)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "T N",
        MINI=(20, 40),
        SMALL=(40, 120),
        MEDIUM=(100, 400),
        LARGE=(500, 2000),
        EXTRALARGE=(1000, 4000),
    ),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 20 * sizes["T"] + 8,
    counts=("T",),
    summed=False,
)
