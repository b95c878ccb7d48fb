"""PolyBench gemver: B = A + u1 v1' + u2 v2'; x = x + beta B' y + z; w = w + alpha B x."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import (
    ALPHA,
    BETA,
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    counter,
    index_grid,
    parameters,
    scalar_parameters,
    size_table,
)
from polymat import Double, Matrix, Vector, outer

NAME = "gemver"
VECTORS = ("u1", "v1", "u2", "v2", "w", "x", "y", "z")


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    (N,) = sizes = parameters("N")
    alpha, beta = scalar_parameters()
    A = Matrix(Double, "A", [N, N])
    u1, v1, u2, v2, w, x, y, z = vectors = [Vector(Double, name, [N]) for name in VECTORS]
    B = A + outer(u1, v1) + outer(u2, v2)
    new_x = x + beta * (B.T @ y) + z
    return Description((w + alpha * (B @ new_x),), (A, *vectors), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    t = counter(N) + 1
    return {
        "A": i * j % N / N,
        "u1": counter(N).astype(np.float64),
        "v1": t / N / 4,
        "u2": t / N / 2,
        "v2": t / N / 6,
        "w": np.zeros(N),
        "x": np.zeros(N),
        "y": t / N / 8,
        "z": t / N / 9,
    }


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, u1, v1, u2, v2, w, x, y, z = (arrays[name] for name in ("A", *VECTORS))
    B = A + np.outer(u1, v1) + np.outer(u2, v2)
    x = x + BETA * (B.T @ y) + z
    return {"w": w + ALPHA * (B @ x)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return 8 * N * N + 3 * N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * (N * N + 9 * N)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "N",
        MINI=(40,),
        SMALL=(120,),
        MEDIUM=(400,),
        LARGE=(2000,),
        EXTRALARGE=(4000,),
    ),
    builds={"algebra": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 2 * sizes["N"] + 12,
    scalars={"alpha": ALPHA, "beta": BETA},
    inplace={"w": "w"},
    compute_bound=False,
)
