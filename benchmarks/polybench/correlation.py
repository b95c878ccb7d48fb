"""PolyBench correlation: the correlations of the columns of data."""

from __future__ import annotations

import numpy as np

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
from polymat import Case, Condition, Double, Function, Matrix, Op, Reduce, Reduction, Select, Sqrt

NAME = "correlation"
LEAST = 0.1  # of a standard deviation; columns with less are not scaled


def build() -> Description:
    """Describe the kernel: means, standard deviations, scaled deviations and their products."""
    M, N = sizes = parameters("M N")
    data = Matrix(Double, "data", [N, M])
    i, j, k = variables("i j k")
    rows, columns = upto(N), upto(M)
    over_rows = ([j, i], [columns, rows])
    total = Reduction(([j], [columns]), over_rows, Double, "total")
    total.defn = [Reduce(total(j), data(i, j), Op.Sum)]
    off = Function(([i, j], [rows, columns]), Double, "off")
    off.defn = [data(i, j) - total(j) / N]
    squares = Reduction(([j], [columns]), over_rows, Double, "squares")
    squares.defn = [Reduce(squares(j), off(i, j) * off(i, j), Op.Sum)]
    deviation = Function(([j], [columns]), Double, "deviation")
    found = Sqrt(squares(j) / N)
    deviation.defn = [Select(Condition(found, "<=", LEAST), 1.0, found)]
    z = Function(([i, j], [rows, columns]), Double, "z")
    z.defn = [off(i, j) / (Sqrt(1.0 * N) * deviation(j))]
    products = Reduction(
        ([i, j], [columns, columns]), ([i, j, k], [columns, columns, rows]), Double, "products"
    )
    products.defn = [Reduce(products(i, j), z(k, i) * z(k, j), Op.Sum)]
    corr = Function(([i, j], [columns, columns]), Double, "corr", default=products(i, j))
    corr.defn = [Case(Condition(i, "==", j), 1.0)]
    return Description((corr,), (data,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    M, N = extents(sizes, "M N")
    i, j = index_grid(N, M)
    return {"data": i * j / M + i}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy."""
    data = arrays["data"]
    off = data - data.mean(axis=0)
    deviation = np.sqrt((off * off).mean(axis=0))
    z = off / (np.sqrt(len(data)) * np.where(deviation <= LEAST, 1.0, deviation))
    corr = z.T @ z
    np.fill_diagonal(corr, 1.0)
    return {"corr": corr}


def flops(sizes: Sizes) -> int:
    """Count the useful operations, each pair of columns once."""
    M, N = extents(sizes, "M N")
    return N * M * M + 5 * N * M + 4 * M + 1


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
    roundings=lambda sizes: 4 * sizes["N"] + 12,
    summed=False,
)
