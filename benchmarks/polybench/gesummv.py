"""PolyBench gesummv: y = alpha A x + beta B x."""

from __future__ import annotations

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
from polymat import Double, Matrix, Vector

NAME = "gesummv"


def build() -> Description:
    """Describe the kernel in matrix algebra."""
    (N,) = sizes = parameters("N")
    alpha, beta = scalar_parameters()
    A, B, x = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N]), Vector(Double, "x", [N])
    return Description((alpha * (A @ x) + beta * (B @ x),), (A, B, x), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    return {"A": (i * j + 1) % N / N, "B": (i * j + 2) % N / N, "x": counter(N) / N}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    A, B, x = arrays["A"], arrays["B"], arrays["x"]
    return {"y": ALPHA * (A @ x) + BETA * (B @ x)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return 4 * N * N + 3 * N


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * (2 * N * N + 2 * N)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "N",
        MINI=(30,),
        SMALL=(90,),
        MEDIUM=(250,),
        LARGE=(1300,),
        EXTRALARGE=(2800,),
    ),
    builds={"algebra": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: sizes["N"] + 2,
    scalars={"alpha": ALPHA, "beta": BETA},
    compute_bound=False,
)
