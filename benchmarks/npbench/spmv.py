"""NPBench spmv: a sparse matrix in compressed rows times a vector."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import summed
from benchmarks.polybench.kernel import (
    Array,
    Arrays,
    Description,
    Sizes,
    extents,
    parameters,
    size_table,
    variables,
)
from benchmarks.program import Program
from polymat import Double, Int, Interval, Vector


def build() -> Description:
    """Describe the product."""
    M, N, NNZ = sizes = parameters("M N NNZ")
    i, k = variables("i k")
    row = Vector(Int, "row", [M + 1], values=(0, NNZ), sorted=True)
    column = Vector(Int, "column", [NNZ], values=(0, N - 1))
    value, x = Vector(Double, "value", [NNZ]), Vector(Double, "x", [N])
    elements = Interval(Int, row(i), row(i + 1) - 1)
    y = summed("y", (i,), (M,), (k,), (elements,), value(k) * x(column(k)))
    return Description((y,), (row, column, value, x), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a matrix with elements anywhere."""
    M, N, NNZ = extents(sizes, "M N NNZ")
    counts = np.bincount(rng.integers(0, M, NNZ), minlength=M) if M else np.zeros(0, int)
    return {
        "row": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "column": rng.integers(0, N, NNZ, dtype=np.int32),
        "value": rng.random(NNZ),
        "x": rng.random(N),
    }


def reference(row: Array, column: Array, value: Array, x: Array) -> Arrays:
    """Solve with NumPy: the sum of a row is what its end has more than its beginning."""
    total = np.concatenate([[0.0], np.cumsum(value * x[column])])
    return {"y": total[row[1:]] - total[row[:-1]]}


PROGRAM = Program(
    name="spmv",
    sizes=size_table(
        "M N NNZ",
        S=(4096, 4096, 8192),
        M=(32768, 32768, 65536),
        L=(262144, 262144, 262144),
        PAPER=(131072, 131072, 262144),
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=2,
    traffic=20,
    tolerance=1e-11,
    points=lambda sizes: sizes["NNZ"],
)
