"""PolyBench mvt: x1 = x1 + A y1 and x2 = x2 + A' y2."""

from __future__ import annotations

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
)
from polymat import Double, Matrix, Vector

NAME = "mvt"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    (N,) = sizes = parameters("N")
    A = Matrix(Double, "A", [N, N])
    x1, x2, y1, y2 = (Vector(Double, name, [N]) for name in ("x1", "x2", "y1", "y2"))
    return Description((x1 + A @ y1, x2 + A.T @ y2), (A, x1, x2, y1, y2), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    t = counter(N)
    return {
        "A": i * j % N / N,
        "x1": t / N,
        "x2": (t + 1) % N / N,
        "y1": (t + 3) % N / N,
        "y2": (t + 4) % N / N,
    }


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A = arrays["A"]
    return {"x1": arrays["x1"] + A @ arrays["y1"], "x2": arrays["x2"] + A.T @ arrays["y2"]}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return 4 * N * N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * (N * N + 6 * N)


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
    roundings=lambda sizes: sizes["N"] + 1,
    inplace={"x1": "x1", "x2": "x2"},
    compute_bound=False,
)
