"""What a call costs: a 4x4 product beside NumPy's, and the growth from two arrays to twelve.

Rounds are interleaved and medians taken, since neighbours on the machine disturb single rounds.

    python -m benchmarks.call_overhead [--keep FILE]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

import polymat as pm
from benchmarks.measure import Row
from benchmarks.plainrows import keep_rows, plain_row
from benchmarks.records import Heading

ROUNDS, CALLS = 15, 20_000
MAX_ARRAYS = 12
STATEMENTS = (
    *("c(a, b, out=r)", "c4(a, b, out=r)", "c(A=a, B=b, out=r)", "c(a, b)", "c(a, b.T)"),
    *("np.matmul(a, b, out=r)", "a @ b", "np.add(a, b, out=r)"),
)
CALLED = (
    ("into an array that is there", "products", {"polymat": STATEMENTS[0], "NumPy": STATEMENTS[5]}),
    ("compiled with sizes=4", "products", {"polymat": STATEMENTS[1], "NumPy": STATEMENTS[5]}),
    ("arguments by name", "products", {"polymat": STATEMENTS[2], "NumPy": STATEMENTS[5]}),
    ("a new result", "products", {"polymat": STATEMENTS[3], "NumPy": STATEMENTS[6]}),
)
"""Cases of a record: their names, groups and statements."""
HEADING = Heading("Calls of a product of two 4 x 4 matrices, and of sums of several", {"polymat": ("NumPy",)})


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
    return pm.compile(result, name=f"total{arrays}", inputs=inputs)  # type: ignore[arg-type]


def nanoseconds(calls: Sequence[Callable[[], Any] | str], names: dict[str, Any]) -> list[list[float]]:
    """The cost of each statement in each of the interleaved rounds, the empty loop taken off."""
    timers = [timeit.Timer(statement, globals=names) for statement in ("pass", *calls)]
    rounds = [[timer.timeit(CALLS) / CALLS * 1e9 for timer in timers] for _ in range(ROUNDS)]
    empty, *columns = map(list, zip(*rounds, strict=True))
    return [[each - statistics.median(empty) for each in column] for column in columns]


def measured() -> tuple[dict[str, list[float]], dict[int, list[float]]]:
    """Nanoseconds of all rounds, of calls of a product by their texts, and of sums by their arrays."""
    a, b, r = np.random.default_rng(0).random((3, 4, 4))
    names: dict[str, Any] = {"c": product(), "c4": product(4), "np": np, "a": a, "b": b, "r": r}
    products = dict(zip(STATEMENTS, nanoseconds(STATEMENTS, names), strict=True))
    counts = range(2, MAX_ARRAYS + 1)
    names = {f"c{count}": total(count) for count in counts}
    names.update({f"x{index}": np.ones((4, 4)) for index in range(MAX_ARRAYS)}, r=r)
    statements = tuple(f"c{n}({', '.join(f'x{i}' for i in range(n - 1))}, out=r)" for n in counts)
    return products, dict(zip(counts, nanoseconds(statements, names), strict=True))


def rows_of(products: Mapping[str, Sequence[float]], sums: Mapping[int, Sequence[float]]) -> Iterator[Row]:
    """What was measured as rows of a record, in seconds."""
    for case, group, ways in CALLED:
        yield plain_row(case, group, {name: _seconds(products[text]) for name, text in ways.items()})
    for count, rounds in sums.items():
        yield plain_row(f"a sum, {count} arrays in all", "sums", {"polymat": _seconds(rounds)})


def _seconds(nanoseconds: Sequence[float]) -> list[float]:
    return [max(each, 0.1) * 1e-9 for each in nanoseconds]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables, and keep them as a record where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where to leave a record")
    asked = parser.parse_args(argv)
    products, sums = measured()
    out = sys.stdout
    out.write("4 x 4 product, float64         ns a call   (c4: compiled with sizes=4)\n")
    for statement, rounds in products.items():
        out.write(f"  {statement:28s} {statistics.median(rounds):8.0f}\n")
    out.write("\narrays   ns a call of a sum of 4 x 4 matrices\n")
    costs = {count: statistics.median(rounds) for count, rounds in sums.items()}
    for count, cost in costs.items():
        out.write(f"  {count:4d} {cost:8.0f}\n")
    growth = (costs[MAX_ARRAYS] - costs[2]) / (MAX_ARRAYS - 2)
    out.write(f"  each further array, its addition included: {growth:.1f} ns\n")
    if asked.keep is not None:
        keep_rows(asked.keep, "calls", HEADING, [*rows_of(products, sums)])


if __name__ == "__main__":
    main()
