"""PolyBench trisolv: L x = b, L lower triangular."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    counter,
    index_grid,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Double, Function, Int, Interval, Matrix, Op, Reduce, Reduction, Vector

NAME = "trisolv"


def build() -> Description:
    """Describe the substitution: each sum over what is solved already."""
    (N,) = sizes = parameters("N")
    L, b = Matrix(Double, "L", [N, N]), Vector(Double, "b", [N])
    i, j = variables("i j")
    known = Reduction(([i], [upto(N)]), ([i, j], [upto(N), Interval(Int, 0, i - 1)]), Double, "known")
    x = Function(([i], [upto(N)]), Double, "x")
    known.defn = [Reduce(known(i), L(i, j) * x(j), Op.Sum)]
    x.defn = [(b(i) - known(i)) / L(i, i)]
    return Description((x,), (L, b), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values; what lies above the diagonal of L is never read."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    L = np.where(j <= i, (i + N - j + 1) * 2.0 / N, -999.0)
    return {"L": L, "b": counter(N).astype(np.float64)}


def reference(arrays: Arrays) -> Arrays:
    """Solve with BLAS."""
    return {"x": solve_triangular(arrays["L"], arrays["b"], lower=True, check_finite=False)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    return sizes["N"] ** 2


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * (N * (N + 1) // 2 + 2 * N)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table("N", MINI=(40,), SMALL=(120,), MEDIUM=(400,), LARGE=(2000,), EXTRALARGE=(4000,)),
    builds={"sums": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 8 * sizes["N"] ** 2 + 8,
    unread={"L": 1},
    compute_bound=False,
    summed=False,
)
