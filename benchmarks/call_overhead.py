"""What a call costs: a 4x4 product beside NumPy's, and the growth from two arrays to twelve.

Rounds are interleaved and medians taken, since neighbours on the machine disturb single rounds.

    python -m benchmarks.call_overhead
"""

from __future__ import annotations

import statistics
import sys
import timeit
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

import polymat as pm

ROUNDS, CALLS = 15, 20_000
MAX_ARRAYS = 12


def product(sizes: int | None = None) -> pm.Compiled:
    """C = A B for all sizes, or for one."""
    m, k, n = (pm.Parameter(pm.Int, name) for name in "MKN")
    a, b = pm.Matrix(pm.Double, "A", [m, k]), pm.Matrix(pm.Double, "B", [k, n])
    exact = None if sizes is None else dict.fromkeys((m, k, n), sizes)
    return pm.compile(a @ b, name="product", inputs=[a, b], sizes=exact)


def total(arrays: int) -> pm.Compiled:
    """The sum of `arrays - 1` matrices of one shape."""
    m, n = (pm.Parameter(pm.Int, name) for name in "MN")
    inputs = [pm.Matrix(pm.Double, f"A{index}", [m, n]) for index in range(arrays - 1)]
    result = reduce(add, inputs) if len(inputs) > 1 else -inputs[0]
    return pm.compile(result, name=f"total{arrays}", inputs=inputs)


def nanoseconds(calls: Sequence[Callable[[], Any] | str], names: dict[str, Any]) -> list[float]:
    """The median cost of each statement over interleaved rounds, the empty loop taken off."""
    timers = [timeit.Timer(statement, globals=names) for statement in ("pass", *calls)]
    rounds = [[timer.timeit(CALLS) / CALLS * 1e9 for timer in timers] for _ in range(ROUNDS)]
    empty, *medians = (statistics.median(column) for column in zip(*rounds, strict=True))
    return [median - empty for median in medians]


def main() -> None:
    """Print the tables."""
    out = sys.stdout
    a, b, r = np.random.default_rng(0).random((3, 4, 4))
    names: dict[str, Any] = {"c": product(), "c4": product(4), "np": np, "a": a, "b": b, "r": r}
    statements: tuple[str, ...] = ("c(a, b, out=r)", "c4(a, b, out=r)", "c(A=a, B=b, out=r)", "c(a, b)")
    statements += ("c(a, b.T)", "np.matmul(a, b, out=r)", "a @ b", "np.add(a, b, out=r)")
    out.write("4 x 4 product, float64         ns a call   (c4: compiled with sizes=4)\n")
    for statement, cost in zip(statements, nanoseconds(statements, names), strict=True):
        out.write(f"  {statement:28s} {cost:8.0f}\n")
    counts = range(2, MAX_ARRAYS + 1)
    names = {f"c{count}": total(count) for count in counts}
    names.update({f"x{index}": np.ones((4, 4)) for index in range(MAX_ARRAYS)}, r=r)
    statements = tuple(f"c{n}({', '.join(f'x{i}' for i in range(n - 1))}, out=r)" for n in counts)
    costs = nanoseconds(statements, names)
    out.write("\narrays   ns a call of a sum of 4 x 4 matrices\n")
    for count, cost in zip(counts, costs, strict=True):
        out.write(f"  {count:4d} {cost:8.0f}\n")
    growth = (costs[-1] - costs[0]) / (len(costs) - 1)
    out.write(f"  each further array, its addition included: {growth:.1f} ns\n")


if __name__ == "__main__":
    main()
