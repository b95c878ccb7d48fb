"""PolyBench gramschmidt: A = Q R, column after column (the modified form)."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Op, Reduce, Reduction, Sqrt

NAME = "gramschmidt"
NOISE = 1e-8  # of the largest norm: what is left of a column that depends on those before it


def build() -> Description:
    """Describe the steps: step k makes column k of Q, row k of R, and takes both from the columns behind."""
    M, N = sizes = parameters("M N")
    A = Matrix(Double, "A", [M, N])
    i, j, k = variables("i j k")
    rows, columns, behind = upto(M), upto(N), Interval(Int, k + 1, N - 1)
    a = Function(([k, i, j], [columns, rows, columns]), Double, "a")
    square = Reduction(([k], [columns]), ([k, i], [columns, rows]), Double, "square")
    square.defn = [Reduce(square(k), a(k, i, k) * a(k, i, k), Op.Sum)]
    norm = Function(([k], [columns]), Double, "norm")
    norm.defn = [Sqrt(square(k))]
    Q = Function(([i, k], [rows, columns]), Double, "Q")
    Q.defn = [a(k, i, k) / norm(k)]
    products = Reduction(
        ([k, j], [columns, columns]), ([k, j, i], [columns, behind, rows]), Double, "products"
    )
    products.defn = [Reduce(products(k, j), Q(i, k) * a(k, i, j), Op.Sum)]
    later = Condition(k, ">=", 1)
    a.defn = [
        Case(Condition(k, "==", 0), A(i, j)),
        Case(later & Condition(j, ">=", k), a(k - 1, i, j) - Q(i, k - 1) * products(k - 1, j)),
        Case(later & Condition(j, "<", k), a(k - 1, i, j)),
    ]
    R = Function(([k, j], [columns, columns]), Double, "R")
    R.defn = [
        Case(Condition(j, "<", k), 0.0),
        Case(Condition(j, "==", k), norm(k)),
        Case(Condition(j, ">", k), products(k, j)),
    ]
    return Description((R, Q), (A,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values, whose columns depend on each other."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(M, N)
    return {"A": i * j % M / M * 100 + 10}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A = arrays["A"].copy()
    N = A.shape[1]
    R, Q = np.zeros((N, N)), np.zeros_like(A)
    for k in range(N):
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        with np.errstate(invalid="ignore"):  # beyond the rank a column may be all zeros
            Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])
    return {"R": R, "Q": Q}


def leading(results: Arrays) -> Arrays:
    """The rows of R and columns of Q ahead of the first column that is noise."""
    norms = np.diag(results["R"])
    noise = ~(norms > NOISE * np.max(norms[:1], initial=0.0))
    rank = int(np.argmax(noise)) if np.any(noise) else len(norms)
    return {"R": results["R"][:rank], "Q": results["Q"][:, :rank]}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    M, N = extents(sizes, "M N")
    return 2 * M * N * N + M * N + N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (2 * M * N + N * (N + 1) // 2)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "M N",
        MINI=(20, 30),
        SMALL=(60, 80),
        MEDIUM=(200, 240),
        LARGE=(1000, 1200),
        EXTRALARGE=(2000, 2600),
    ),
    builds={"sums": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 100 * sizes["M"] * sizes["N"] + 8,
    sound=leading,
    summed=False,
)
