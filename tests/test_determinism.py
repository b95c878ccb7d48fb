"""The same pipeline gives the same C: in another process, under another hash seed, a second time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# All that could come out of a set: many names, cases, stages that are shared, unnamed results, sizes that
# follow from one another, scalars, recurrences in an order of isl's, sums that are scattered.
PROGRAM = """
import polymat as pm
from polymat import *

M, K, N, T = (Parameter(Int, name) for name in ("M", "K", "N", "T"))
alpha, beta = Parameter(Double, "alpha"), Parameter(Float, "beta")
i, j, k, t = (Variable(Int, name) for name in "ijkt")
PLAINEST = Options(cflags=("-O0",))  # the C is compared, and not run


def upto(n):
    return Interval(Int, 0, n - 1)


def cases_and_sums():
    A, B, x = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Vector(Double, "x", [N])
    product = A @ B
    edged = Function(([i, j], [upto(M), upto(N)]), Double, "edged")
    edged.defn = [
        Case(Condition(i, "<", j), product(i, j) + alpha * x(j)),
        Case(Condition(i, ">=", j), product(i, j) - x(j)),
    ]
    sums = Reduction(([i], [upto(M)]), ([i, j], [upto(M), upto(N)]), Double, "sums")
    sums.defn = [Reduce(sums(i), edged(i, j) * x(j), Op.Sum)]
    return pm.compile([sums, edged], name="both", inputs=[A, B, x], options=PLAINEST)


def unnamed_results():
    A, B, C = (Matrix(Double, name, [N, N]) for name in "ABC")
    several = [A @ B + C.T, (A @ B) @ C, trmm(A, B, alpha), syrk(A, C, alpha, beta)]
    return pm.compile(several, name="many", options=PLAINEST)


def signals():
    x, h = Signal(Float, "x", N), Vector(Float, "h", [T])
    several = [x.fir(h).down(3), x.fir([1, 2, 3], "causal"), x[2::3] * beta, x.up(2)]
    return pm.compile(several, name="signals", options=PLAINEST)


def wavefront():
    A = Matrix(Double, "A", [N, N])
    X = Function(([t, i, j], [Interval(Int, 0, T), upto(N), upto(N)]), Double, "X")
    inside = Condition(t, ">", 0) & Condition(i, ">", 0) & Condition(i, "<", N - 1)
    inside = inside & Condition(j, ">", 0) & Condition(j, "<", N - 1)
    edge = Condition(t, "==", 0) | Condition(i, "==", 0) | Condition(i, "==", N - 1)
    edge = edge | Condition(j, "==", 0) | Condition(j, "==", N - 1)
    near = X(t, i - 1, j) + X(t, i, j - 1) + X(t - 1, i + 1, j) + X(t - 1, i, j + 1)
    X.defn = [Case(edge, A(i, j)), Case(inside, near / 4)]
    last = Function(([i, j], [upto(N), upto(N)]), Double, "last")
    last.defn = [X(T, i, j)]
    return pm.compile(last, name="seidel", options=PLAINEST)


def backwards():
    x = Vector(Double, "x", [N])
    f = Function(([i], [upto(N)]), Double, "f", 1.0)
    f.defn = [Case(Condition(i, "<", N - 1), x(i) * f(i + 1))]
    return pm.compile(f, name="backwards", options=PLAINEST)


def histogram():
    x = Vector(Double, "x", [3 * N + 1])
    r = Reduction(([i], [upto(N)]), ([k], [upto(2 * N)]), Double, "r")
    r.defn = [Reduce(r(k // 2), x(k + N), Op.Max)]
    return pm.compile(r, name="histogram", constraints=[Condition(N, ">", 3)], options=PLAINEST)


PIPELINES = (cases_and_sums, unnamed_results, signals, wavefront, backwards, histogram)
first, second = ([pipeline() for pipeline in PIPELINES] for _ in range(2))
for one, other in zip(first, second, strict=True):
    assert one.source == other.source, f"the second compilation of {one.__name__} differs"
    assert (one.header, one.signature) == (other.header, other.signature)
    print(one.source, one.header, one.signature, sep="\\n")
"""


def source_under(hash_seed: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected() -> str:
    return source_under(0)


@pytest.mark.parametrize("name", ["both", "many", "signals", "seidel", "backwards", "histogram"])
def test_source_is_c(expected: str, name: str) -> None:
    assert f"\nint {name}(" in expected


@pytest.mark.parametrize("hash_seed", [1, 7])
def test_source_does_not_depend_on_the_hash_seed(expected: str, hash_seed: int) -> None:
    assert source_under(hash_seed) == expected
