"""PolyBench ludcmp: A x = b by A = L U without pivots and two triangular systems."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.factored import factored
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
from benchmarks.polybench.lu import eliminated
from polymat import Double, Function, Int, Interval, Matrix, Op, Reduce, Reduction, Vector

NAME = "ludcmp"


def build() -> Description:
    """Describe the elimination, L y = b downwards and U x = y upwards."""
    (N,) = sizes = parameters("N")
    A, b = Matrix(Double, "A", [N, N]), Vector(Double, "b", [N])
    i, j = variables("i j")
    W = eliminated(A, N)
    LU = Function(([i, j], [upto(N), upto(N)]), Double, "LU")
    LU.defn = [W(N, i, j)]
    left = Reduction(([i], [upto(N)]), ([i, j], [upto(N), Interval(Int, 0, i - 1)]), Double, "left")
    right = Reduction(([i], [upto(N)]), ([i, j], [upto(N), Interval(Int, i + 1, N - 1)]), Double, "right")
    y, x = (Function(([i], [upto(N)]), Double, name) for name in ("y", "x"))
    left.defn = [Reduce(left(i), LU(i, j) * y(j), Op.Sum)]
    y.defn = [b(i) - left(i)]
    right.defn = [Reduce(right(i), LU(i, j) * x(j), Op.Sum)]
    x.defn = [(y(i) - right(i)) / LU(i, i)]
    return Description((x,), (A, b), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    return {"A": factored(N), "b": (counter(N) + 1) / N / 2 + 4}


def reference(arrays: Arrays) -> Arrays:
    """Solve with LAPACK."""
    return {"x": np.linalg.solve(arrays["A"], arrays["b"])}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return N * (N - 1) * (4 * N + 1) // 6 + 2 * N * N - N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * (N * N + 2 * N)


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
