"""PolyBench nussinov: the most pairs that a sequence of bases forms when it folds, in whole numbers."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import (
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
from polymat import (
    Case,
    Cast,
    Condition,
    Function,
    Int,
    Int8,
    Interval,
    Max,
    Op,
    Reduce,
    Reduction,
    Select,
    Vector,
)

NAME = "nussinov"
INT = 4


def build() -> Description:
    """Describe the table: the best of a sequence from i to j by those of shorter ones."""
    (N,) = sizes = parameters("N")
    seq = Vector(Int8, "seq", [N])
    i, j, k = variables("i j k")
    spans, between = [upto(N), Interval(Int, i, N - 1)], Interval(Int, i + 1, j - 1)
    table = Function(([i, j], spans), Int, "table")
    split = Reduction(([i, j], spans), ([i, j, k], [*spans, between]), Int, "split", init=0)
    split.defn = [Reduce(split(i, j), table(i, k) + table(k + 1, j), Op.Max)]
    pair = Select(Condition(Cast(Int, seq(i)) + Cast(Int, seq(j)), "==", 3), 1, 0)
    shorter = Max(table(i, j - 1), table(i + 1, j))
    table.defn = [
        Case(Condition(j, "==", i), 0),
        Case(Condition(j, "==", i + 1), shorter),
        Case(Condition(j, ">=", i + 2), Max(Max(shorter, table(i + 1, j - 1) + pair), split(i, j))),
    ]
    return Description((table,), (seq,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    return {"seq": ((counter(sizes["N"]) + 1) % 4).astype(np.int8)}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy, the split of a sequence as the largest of a sum of vectors."""
    seq = arrays["seq"].astype(np.int32)
    N = len(seq)
    table = np.zeros((N, N), np.int32)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            best = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                best = max(best, table[i + 1, j - 1] + (seq[i] + seq[j] == 3))
                best = max(best, np.max(table[i, i + 1 : j] + table[i + 2 : j + 1, j]))
            table[i, j] = best
    return {"table": table}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    N = sizes["N"]
    return 3 * N * (N - 1) // 2 + (N - 1) * (N - 2) // 2 + N * (N - 1) * (N - 2) // 3


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return N + INT * N * (N + 1)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table("N", MINI=(60,), SMALL=(180,), MEDIUM=(500,), LARGE=(2500,), EXTRALARGE=(5500,)),
    builds={"sums": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 0,
    dumped={"table": lambda table: table[np.triu_indices(len(table))]},
    dtype=np.int32,
    summed=False,
)
