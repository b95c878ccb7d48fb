"""PolyBench lu: A = L U without pivots, L below the diagonal and U on and above it."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from benchmarks.polybench.factored import factored
from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Parameter

NAME = "lu"


def eliminated(A: Matrix, N: Parameter) -> Function:
    """The steps of an elimination: step k divides column p = k - 1 and takes row p from the rows below."""
    k, i, j = variables("k i j")
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), Double, "W")
    p = k - 1
    step, below = Condition(k, ">=", 1), Condition(i, ">", p)
    W.defn = [
        Case(Condition(k, "==", 0), A(i, j)),
        Case(step & (Condition(i, "<=", p) | Condition(j, "<", p)), W(k - 1, i, j)),
        Case(step & below & Condition(j, "==", p), W(k - 1, i, j) / W(k - 1, p, p)),
        Case(step & below & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k - 1, p, j)),
    ]
    return W


def build() -> Description:
    """Describe the steps, and read the last one."""
    (N,) = sizes = parameters("N")
    A = Matrix(Double, "A", [N, N])
    i, j = variables("i j")
    W = eliminated(A, N)
    LU = Function(([i, j], [upto(N), upto(N)]), Double, "LU")
    LU.defn = [W(N, i, j)]
    return Description((LU,), (A,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    return {"A": factored(sizes["N"])}


def reference(arrays: Arrays) -> Arrays:
    """Solve with LAPACK, which looks for pivots and finds them on the diagonal."""
    A = arrays["A"]
    if not len(A):
        return {"A": A.copy()}
    LU, pivots, _ = lapack.dgetrf(A)
    assert np.array_equal(pivots, np.arange(len(A)))
    return {"A": LU}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return N * (N - 1) * (4 * N + 1) // 6


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    return DOUBLE * 2 * sizes["N"] ** 2


KERNEL = Kernel(
    name=NAME,
    sizes=size_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,)),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 8 * sizes["N"] ** 2 + 8,
    summed=False,
)
