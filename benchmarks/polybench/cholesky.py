"""PolyBench cholesky: A = L L', L lower triangular."""

from __future__ import annotations

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
from benchmarks.polybench.signature import lower_triangle
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Sqrt

NAME = "cholesky"


def build() -> Description:
    """Describe the steps: step k finishes column p = k - 1 and takes it from the columns behind it."""
    (N,) = sizes = parameters("N")
    A = Matrix(Double, "A", [N, N])
    k, i, j = variables("k i j")
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), Interval(Int, 0, i)]), Double, "W")
    p = k - 1
    step, pivot_column = Condition(k, ">=", 1), Condition(j, "==", p)
    W.defn = [
        Case(Condition(k, "==", 0), A(i, j)),
        Case(step & Condition(j, "<", p), W(k - 1, i, j)),
        Case(step & pivot_column & Condition(i, "==", p), Sqrt(W(k - 1, i, j))),
        Case(step & pivot_column & Condition(i, ">", p), W(k - 1, i, j) / W(k, p, p)),
        Case(step & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k, j, p)),
    ]
    L = Function(([i, j], [upto(N), Interval(Int, 0, i)]), Double, "L")
    L.defn = [W(N, i, j)]
    return Description((L,), (A,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    return {"A": factored(sizes["N"])}


def reference(arrays: Arrays) -> Arrays:
    """Solve with LAPACK, which reads the lower triangle alone."""
    if not len(arrays["A"]):
        return {"A": arrays["A"].copy()}
    L, status = lapack.dpotrf(arrays["A"].T, lower=0)
    assert status == 0
    return {"A": L.T}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return N * (N + 1) * (2 * N + 1) // 6


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * N * (N + 1)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,)),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 8 * sizes["N"] ** 2 + 8,
    unread={"A": 1},
    dumped={"A": lower_triangle},
    summed=False,
)
