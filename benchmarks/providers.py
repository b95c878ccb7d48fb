"""The same source with every BLAS that is here: from which sizes each is called, and what that is worth.

    python -m benchmarks.providers [LIBRARY ...]

A library is what POLYMAT_BLAS takes; all that are found when none is named.  Products without register
blocks and triangular systems are computed as chosen, by the library always, and never, on one thread.  The
crossover is the least size, all extents alike, from which the time is that of the library's calls.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

import polymat as pm
from benchmarks.peers.table import PEERS_HOME
from benchmarks.polybench.kernel import parameters, upto, variables
from polymat import Double, Interval, Matrix, Op, Options, Reduce, Reduction, Vector

SIZES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
WAYS: tuple[Literal["auto", "always", "never"], ...] = ("auto", "always", "never")
LEAST_SECONDS, ROUNDS = 1e-4, 40  # of one measurement; how often each way is measured, in turn
Build = Callable[[], tuple[Any, list[Any]]]


def product() -> tuple[Any, list[Any]]:
    """C = A B."""
    (N,) = parameters("N")
    A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
    return A @ B, [A, B]


def triangle() -> tuple[Any, list[Any]]:
    """X = L B, L lower triangular."""
    (N,) = parameters("N")
    i, j, k = variables("i j k")
    L, B = Matrix(Double, "L", [N, N]), Matrix(Double, "B", [N, N])
    inside = [upto(N), upto(N), Interval(pm.Int, 0, i)]
    X = Reduction(([i, j], [upto(N), upto(N)]), ([i, j, k], inside), Double, "X")
    X.defn = [Reduce(X(i, j), L(i, k) * B(k, j), Op.Sum)]
    return X, [L, B]


def systems() -> tuple[Any, list[Any]]:
    """L X = B."""
    (N,) = parameters("N")
    i, j, k = variables("i j k")
    L, B = Matrix(Double, "L", [N, N]), Matrix(Double, "B", [N, N])
    before = [upto(N), upto(N), Interval(pm.Int, 0, i - 1)]
    start = B(i, j) / L(i, i)
    X = Reduction(([i, j], [upto(N), upto(N)]), ([i, j, k], before), Double, "X", init=start)
    X.defn = [Reduce(X(i, j), -L(i, k) / L(i, i) * X(k, j), Op.Sum)]
    return X, [L, B]


def system() -> tuple[Any, list[Any]]:
    """L x = b."""
    (N,) = parameters("N")
    i, k = variables("i k")
    L, b = Matrix(Double, "L", [N, N]), Vector(Double, "b", [N])
    x = Reduction(
        ([i], [upto(N)]), ([i, k], [upto(N), Interval(pm.Int, 0, i - 1)]), Double, "x", init=b(i) / L(i, i)
    )
    x.defn = [Reduce(x(i), -L(i, k) / L(i, i) * x(k), Op.Sum)]
    return x, [L, b]


CASES: tuple[tuple[str, Build], ...] = (
    ("product", product),
    ("triangle times matrix", triangle),
    ("triangular systems", systems),
    ("triangular system", system),
)


def measured(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """The least seconds of each, measured in turn."""
    least = [float("inf")] * len(calls)
    begin = time.perf_counter()
    calls[0]()
    count = max(1, int(LEAST_SECONDS / max(time.perf_counter() - begin, 1e-7)))
    for _ in range(ROUNDS):
        for place, call in enumerate(calls):
            begin = time.perf_counter()
            for _ in range(count):
                call()
            least[place] = min(least[place], (time.perf_counter() - begin) / count)
    return least


def rows(build: Build) -> Iterator[tuple[int, list[float]]]:
    """Seconds of each way at each size; nothing of the sizes is said when it is compiled."""
    output, inputs = build()
    ways = [
        pm.compile(output, name="timed", inputs=inputs, options=Options(blas=way, kernels=False, threads=1))
        for way in WAYS
    ]
    for n in SIZES:
        rng = np.random.default_rng(n)
        arrays = [rng.uniform(0.5, 1.0, [n] * len(array.shape)) for array in inputs]
        arrays[0] += n * np.eye(n)
        results = [way(*arrays) for way in ways]
        for result in results[1:]:
            np.testing.assert_allclose(result, results[0], rtol=1e-10)
        yield n, measured([partial(way, *arrays, out=results[0]) for way in ways])


def compare() -> None:
    """Print the tables of the library that POLYMAT_BLAS names."""
    for name, build in CASES:
        print(f"\n| {name} | auto, us | always | never | best / auto |\n|---|---|---|---|---|", flush=True)
        for n, (auto, always, never) in rows(build):
            share = min(always, never) / auto
            print(
                f"| {n} | {auto * 1e6:.2f} | {always * 1e6:.2f} | {never * 1e6:.2f} | {share:.2f} |",
                flush=True,
            )


def main(names: Sequence[str]) -> int:
    """Each library in a process of its own."""
    if os.environ.get("_BENCHMARK_PROVIDER"):
        compare()
        return 0
    mkl = PEERS_HOME / "lib" / "libmkl_rt.so.3"
    found = list(names) or ["openblas", *([str(mkl)] if mkl.exists() else [])]
    status = 0
    for name in found:
        print(f"\n### {name}", flush=True)
        environment = {
            **os.environ,
            "POLYMAT_BLAS": name,
            "_BENCHMARK_PROVIDER": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        environment["LD_LIBRARY_PATH"] = (
            f"{PEERS_HOME / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        )
        for name_of_core in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
            environment.pop(name_of_core, None)
        command = [sys.executable, "-m", "benchmarks.providers"]
        status |= subprocess.run(command, check=False, env=environment).returncode
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
