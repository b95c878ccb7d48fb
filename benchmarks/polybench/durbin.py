"""PolyBench durbin: T y = -r for a symmetric Toeplitz matrix T by the recursion of Levinson and Durbin."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    counter,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Reduce, Reduction, Vector

NAME = "durbin"


def build() -> Description:
    """Describe the solutions of growing length: y(k, .) has k + 1 elements."""
    (N,) = sizes = parameters("N")
    r = Vector(Double, "r", [N])
    k, i = variables("k i")
    steps, later_steps, known = upto(N), Interval(Int, 1, N - 1), Interval(Int, 0, k - 1)
    alpha, beta = (Function(([k], [steps]), Double, name) for name in ("alpha", "beta"))
    total = Reduction(([k], [later_steps]), ([k, i], [later_steps, known]), Double, "total")
    y = Function(([k, i], [steps, Interval(Int, 0, k)]), Double, "y")
    first, later = Condition(k, "==", 0), Condition(k, ">=", 1)
    total.defn = [Reduce(total(k), r(k - i - 1) * y(k - 1, i), Op.Sum)]
    beta.defn = [Case(first, 1.0), Case(later, (1 - alpha(k - 1) * alpha(k - 1)) * beta(k - 1))]
    alpha.defn = [Case(first, -r(0)), Case(later, -(r(k) + total(k)) / beta(k))]
    y.defn = [
        Case(first, -r(0)),
        Case(later & Condition(i, "<=", k - 1), y(k - 1, i) + alpha(k) * y(k - 1, k - 1 - i)),
        Case(later & Condition(i, "==", k), alpha(k)),
    ]
    solution = Function(([i], [steps]), Double, "solution")
    solution.defn = [y(N - 1, i)]
    return Description((solution,), (r,), sizes, (Condition(N, ">=", 1),))


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    return {"r": sizes["N"] + 1.0 - counter(sizes["N"])}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    r = arrays["r"]
    y = np.empty_like(r)
    y[0] = alpha = -r[0]
    beta = 1.0
    for k in range(1, len(r)):
        beta *= 1 - alpha * alpha
        alpha = -(r[k] + r[k - 1 :: -1] @ y[:k]) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return {"y": y}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return (N - 1) * (2 * N + 5)


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    return DOUBLE * 2 * sizes["N"]


KERNEL = Kernel(
    name=NAME,
    sizes=size_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,)),
    builds={"sums": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    # PolyBench's matrix is indefinite: its condition number grows to 2e5 at MEDIUM.
    roundings=lambda sizes: 100 * sizes["N"] ** 2 + 8,
    summed=False,
)
