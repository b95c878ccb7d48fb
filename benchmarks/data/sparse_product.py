"""A sparse matrix in compressed rows times a vector, banded, random, with long rows; or times columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.npbench import spmv
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
from polymat import Double, Int, Interval, Matrix, Vector

BAND = 5  # elements before the diagonal


def banded(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a matrix with its elements side by side around the diagonal."""
    M, N, NNZ = extents(sizes, "M N NNZ")
    counts = np.full(M, NNZ // max(M, 1))
    counts[: NNZ - counts.sum()] += 1
    begins = np.clip(np.arange(M) - BAND, 0, N - counts)
    within = np.arange(NNZ) - np.repeat(np.cumsum(counts) - counts, counts)
    return arrays_of(counts, np.repeat(begins, counts) + within, N, rng)


def random(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a matrix with elements anywhere."""
    return spmv.inputs(sizes, rng)


def uneven(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a matrix whose rows have elements by a power law, the longest ones anywhere."""
    M, N, NNZ = extents(sizes, "M N NNZ")
    shares = rng.permutation(1.0 / np.arange(1, M + 1))
    counts = np.floor(NNZ * shares / shares.sum()).astype(int)
    counts[: NNZ - counts.sum()] += 1
    return arrays_of(counts, rng.integers(0, N, NNZ), N, rng)


def arrays_of(counts: Array, column: Array, N: int, rng: np.random.Generator) -> Arrays:
    """Return rows of so many elements, in the columns that are given."""
    return {
        "row": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "column": column.astype(np.int32),
        "value": rng.random(len(column)),
        "x": rng.random(N),
    }


def reference(row: Array, column: Array, value: Array, x: Array) -> Arrays:
    """Add up with NumPy what falls on each row."""
    rows = np.repeat(np.arange(len(row) - 1), np.diff(row))
    found = np.bincount(rows, value * x[column], minlength=len(row) - 1)
    return {"y": found.astype(np.float64)}  # of no rows NumPy counts in integers


BANDED = replace(
    spmv.PROGRAM,
    name="csr-banded",
    sizes=size_table("M N NNZ", S=(20_000, 20_000, 220_000), M=(180_000, 180_000, 1_980_000)),
    inputs=banded,
    reference=reference,
    traffic=12,
    relative=True,
)
RANDOM = replace(
    BANDED,
    name="csr-random",
    sizes=size_table("M N NNZ", S=(20_000, 20_000, 200_000), M=(200_000, 200_000, 2_000_000)),
    inputs=random,
)
UNEVEN = replace(RANDOM, name="csr-uneven", inputs=uneven)


def build_columns() -> Description:
    """Describe the product with several columns."""
    M, N, NNZ, C = sizes = parameters("M N NNZ C")
    i, j, k = variables("i j k")
    row = Vector(Int, "row", [M + 1], values=(0, NNZ), sorted=True)
    column = Vector(Int, "column", [NNZ], values=(0, N - 1))
    value, x = Vector(Double, "value", [NNZ]), Matrix(Double, "x", [N, C])
    elements = Interval(Int, row(i), row(i + 1) - 1)
    y = summed("y", (i, j), (M, C), (k,), (elements,), value(k) * x(column(k), j))
    return Description((y,), (row, column, value, x), sizes)


def columns(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a matrix with elements anywhere, and several columns."""
    return random(sizes, rng) | {"x": rng.random(extents(sizes, "N C"))}


def reference_columns(row: Array, column: Array, value: Array, x: Array) -> Arrays:
    """Multiply column by column."""
    each = [reference(row, column, value, one)["y"] for one in x.T]
    return {"y": np.stack(each, axis=1)}


COLUMNS = replace(
    RANDOM,
    name="csr-columns",
    sizes=size_table("M N NNZ C", S=(20_000, 20_000, 200_000, 8), M=(200_000, 200_000, 2_000_000, 8)),
    build=build_columns,
    inputs=columns,
    reference=reference_columns,
    operations=16,
    traffic=24,
)
