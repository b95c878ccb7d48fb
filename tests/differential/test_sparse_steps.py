"""Iterations that read their states where data say: sparse matrices and tables of rules, beside SciPy and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Clamp, Double, Function, Int, Interval, Op, Reduce, Reduction, UChar, Vector
from tests.tolerance import assert_close

sparse = pytest.importorskip("scipy.sparse")

N, M, T = (pm.Parameter(Int, name) for name in "NMT")
i, k = pm.Variable(Int, "i"), pm.Variable(Int, "k")
POINTS = Interval(Int, 0, N - 1)
row = Vector(Int, "row", [N + 1], values=(0, M), sorted=True)
column, value = Vector(Int, "column", [M], values=(0, N - 1)), Vector(Double, "value", [M])
b, zero = Vector(Double, "b", [N]), Vector(Double, "zero", [N])
cells, rule = Vector(UChar, "cells", [N]), Vector(UChar, "rule", [8])


def product(v: Any, name: str) -> Any:
    inside = Interval(Int, row(i), row(i + 1) - 1)
    made = Reduction(([i], [POINTS]), ([i, k], [POINTS, inside]), Double, name)
    made.defn = [Reduce(made(i), value(k) * v(column(k)), Op.Sum)]
    return made


def conjugate_gradients() -> Any:
    def step(x: Any, r: Any, p: Any) -> Any:
        image, squared = product(p, "image"), pm.dot(r, r)
        length = squared() / pm.dot(p, image)()
        after = r - length * image
        return x + length * p, after, after + (pm.dot(after, after)() / squared()) * p

    return pm.iterate(step, [zero, b, b], steps=T)[0].named("solution")


def power_iteration() -> Any:
    def step(u: Any) -> Any:
        image = product(u, "power")
        return image / pm.Sqrt((image * image).sum())

    return pm.iterate(step, b, steps=T, keep=2).named("powers")


def page_rank() -> Any:
    """Of a graph whose edges are the matrix, each row of which is shared out to the columns."""

    def step(rank: Any) -> Any:
        spread = Reduction(
            ([k], [Interval(Int, 0, N - 1)]), ([i], [Interval(Int, 0, M - 1)]), Double, "spread"
        )
        spread.defn = [Reduce(spread(column(i)), rank(column(M - 1 - i)), Op.Sum)]
        after = Function(([i], [POINTS]), Double, "after")
        after.defn = [0.15 + 0.85 * spread(i) / M]
        return after

    return pm.iterate(step, b, steps=T).named("ranks")


def automaton() -> Any:
    def step(c: Any) -> Any:
        left, right = c(Clamp(i - 1, 0, N - 1)), c(Clamp(i + 1, 0, N - 1))
        after = Function(([i], [POINTS]), UChar, "automaton")
        after.defn = [rule((left & 1) * 4 + (c(i) & 1) * 2 + (right & 1))]
        return after

    return pm.iterate(step, cells, steps=T).named("grown")


def laplacian(side: int) -> Any:
    line = sparse.diags([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], [-1, 0, 1])
    return (sparse.kron(line, sparse.identity(side)) + sparse.kron(sparse.identity(side), line)).tocsr()


@pytest.mark.parametrize("threads", [1, 2])
def test_beside_scipy_and_numpy(threads: int) -> None:
    from scipy.sparse.linalg import cg

    options = pm.Options(parallel_threshold=0, threads=threads)
    outputs = [conjugate_gradients(), power_iteration(), page_rank(), automaton()]
    compiled = pm.compile(outputs, inputs=[row, column, value, b, zero, cells, rule], options=options)
    rng = np.random.default_rng(0)
    for side, steps in ((2, 1), (7, 9), (13, 20)):
        A, n = laplacian(side), side * side
        given, start = rng.random(n), rng.integers(0, 2, n, dtype=np.uint8)
        rules = rng.integers(0, 2, 8, dtype=np.uint8)
        found = compiled(A.indptr, A.indices, A.data, given, np.zeros(n), start, rules, T=steps)
        expected, _ = cg(A, given, rtol=1e-300, atol=0.0, maxiter=steps)
        assert_close(found[0], expected, roundings=1000 * steps, magnitude=float(np.abs(expected).max()))
        states = [given]
        for _ in range(steps):
            states.append(A @ states[-1])
            states[-1] = states[-1] / np.sqrt(states[-1] @ states[-1])
        assert_close(found[1], np.array(states[-2:]), roundings=1000 * steps, magnitude=1.0)
        rank = given
        for _ in range(steps):
            spread = np.bincount(A.indices, rank[A.indices[::-1]], minlength=n)
            rank = 0.15 + 0.85 * spread / A.nnz
        assert_close(found[2], rank, roundings=1000 * steps, magnitude=1.0)
        for _ in range(steps):
            left, right = np.append(start[0], start[:-1]), np.append(start[1:], start[-1])
            start = rules[(left & 1) * 4 + (start & 1) * 2 + (right & 1)]
        assert np.array_equal(found[3], start)
