"""PolyBench floyd-warshall: lightest paths between all pairs of nodes, in whole numbers."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import (
    Arrays,
    Description,
    Kernel,
    Sizes,
    index_grid,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Function, Int, Interval, Matrix, Min

NAME = "floyd-warshall"
INT = 4


def build() -> Description:
    """Describe the steps: P(k, ., .) is the lightest path through the nodes before k."""
    (N,) = sizes = parameters("N")
    path = Matrix(Int, "path", [N, N])
    k, i, j = variables("k i j")
    P = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), Int, "P")
    through = P(k - 1, i, k - 1) + P(k - 1, k - 1, j)
    P.defn = [
        Case(Condition(k, "==", 0), path(i, j)),
        Case(Condition(k, ">=", 1), Min(P(k - 1, i, j), through)),
    ]
    last = Function(([i, j], [upto(N), upto(N)]), Int, "last")
    last.defn = [P(N, i, j)]
    return Description((last,), (path,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    i, j = index_grid(sizes["N"], sizes["N"])
    far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return {"path": np.where(far, 999, i * j % 7 + 1).astype(np.int32)}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    path = arrays["path"].copy()
    for k in range(len(path)):
        np.minimum(path, path[:, k : k + 1] + path[k], out=path)
    return {"path": path}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    return 2 * sizes["N"] ** 3


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    return 2 * INT * sizes["N"] ** 2


KERNEL = Kernel(
    name=NAME,
    sizes=size_table("N", MINI=(60,), SMALL=(180,), MEDIUM=(500,), LARGE=(2800,), EXTRALARGE=(5600,)),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 0,
    dtype=np.int32,
    summed=False,
)
