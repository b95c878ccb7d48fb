"""PolyBench covariance: the covariances of the columns of data."""

from __future__ import annotations

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
from polymat import Double, Function, Matrix, Op, Reduce, Reduction

NAME = "covariance"


def build() -> Description:
    """Describe the kernel: means, deviations from them, their products."""
    M, N = sizes = parameters("M N")
    data = Matrix(Double, "data", [N, M])
    i, j, k = variables("i j k")
    rows, columns = upto(N), upto(M)
    total = Reduction(([j], [columns]), ([j, i], [columns, rows]), Double, "total")
    total.defn = [Reduce(total(j), data(i, j), Op.Sum)]
    z = Function(([i, j], [rows, columns]), Double, "z")
    z.defn = [data(i, j) - total(j) / N]
    products = Reduction(
        ([i, j], [columns, columns]), ([i, j, k], [columns, columns, rows]), Double, "products"
    )
    products.defn = [Reduce(products(i, j), z(k, i) * z(k, j), Op.Sum)]
    cov = Function(([i, j], [columns, columns]), Double, "cov")
    cov.defn = [products(i, j) / (N - 1.0)]
    return Description((cov,), (data,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(N, M)
    return {"data": i * j / M}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    data = arrays["data"]
    z = data - data.mean(axis=0)
    return {"cov": z.T @ z / (len(data) - 1)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations, each pair of columns once."""
    M, N = extents(sizes, "M N")
    return M * (M + 1) * (2 * N + 1) // 2 + M * (N + 1) + N * M


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    M, N = extents(sizes, "M N")
    return DOUBLE * (N * M + M * M)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "M N",
        MINI=(28, 32),
        SMALL=(80, 100),
        MEDIUM=(240, 260),
        LARGE=(1200, 1400),
        EXTRALARGE=(2600, 3000),
    ),
    builds={"loops": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 4 * sizes["N"] + 8,
    summed=False,
)
