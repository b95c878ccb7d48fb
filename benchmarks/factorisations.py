"""Recurrences that no list of kernels has, as users write them: factorisations, and tables of least costs."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from benchmarks.polybench.factored import factored
from benchmarks.polybench.kernel import (
    Array,
    Arrays,
    Description,
    Sizes,
    extents,
    parameters,
    size_table,
    upto,
    variables,
)
from benchmarks.program import Program, between
from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Reduce,
    Reduction,
    Sqrt,
    Vector,
)

PREFIX = "factors_"  # of the problems of tasks


def build_ldlt() -> Description:
    """Describe the steps: step k divides column p = k - 1 and takes it from those behind it."""
    (N,) = sizes = parameters("N")
    A = Matrix(Double, "A", [N, N])
    k, i, j = variables("k i j")
    triangle = Interval(Int, 0, i)
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), triangle]), Double, "W")
    p, step = k - 1, Condition(k, ">=", 1)
    below = step & Condition(j, "==", p) & Condition(i, ">", p)
    W.defn = [
        Case(Condition(k, "==", 0), A(i, j)),
        Case(step & (Condition(j, "<", p) | (Condition(j, "==", p) & Condition(i, "<=", p))), W(k - 1, i, j)),
        Case(below, W(k - 1, i, j) / W(k - 1, p, p)),
        Case(step & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k - 1, p, p) * W(k, j, p)),
    ]
    LD = Function(([i, j], [upto(N), triangle]), Double, "LD")
    LD.defn = [W(N, i, j)]
    return Description((LD,), (A,), sizes)


def reference_ldlt(A: Array) -> Arrays:
    """Solve with LAPACK, whose factor has the roots of D in its columns."""
    factor = np.linalg.cholesky(A) if len(A) else A.copy()
    roots = np.diag(factor)
    return {"LD": np.tril(factor / roots, -1) + np.diag(roots**2)}


def inputs_ldlt(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a positive definite matrix."""
    return {"A": factored(sizes["N"])}


def build_banded() -> Description:
    """Describe rows one after the other: element (i, i - d) of the triangle, d <= K, lies at (i, d)."""
    N, K = sizes = parameters("N K")
    A = Matrix(Double, "A", [N, K + 1])
    i, d, e = variables("i d e")
    rows, offsets = upto(N), between(0, K)
    total = Reduction(([i, d], [rows, offsets]), ([i, d, e], [rows, offsets, between(1, K)]), Double, "total")
    L = Function(([i, d], [rows, offsets]), Double, "L", default=0.0)
    there = Condition(d + e, "<=", i) & Condition(d + e, "<=", K)
    total.defn = [Case(there, Reduce(total(i, d), L(i, d + e) * L(i - d, e), Op.Sum))]
    left = Condition(d, ">=", 1) & Condition(d, "<=", i)
    L.defn = [
        Case(Condition(d, "==", 0), Sqrt(A(i, 0) - total(i, 0))),
        Case(left, (A(i, d) - total(i, d)) / L(i - d, 0)),
    ]
    return Description((L,), (A,), sizes)


def inputs_banded(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a matrix whose diagonal is larger than all else of a row; beyond its first column are zeros."""
    N, K = extents(sizes, "N K")
    bands = rng.random((N, K + 1))
    bands[:, 0] += 2 * K + 1
    bands[np.arange(N)[:, None] < np.arange(K + 1)] = 0
    return {"A": bands}


def reference_banded(A: Array) -> Arrays:
    """Solve with LAPACK, which has the diagonals in rows, from the outermost one to the first."""
    if not A.size:
        return {"L": A.copy()}
    factor, status = lapack.dpbtrf(A.T[::-1])
    assert status == 0
    return {"L": factor[::-1].T.copy()}


def build_chain() -> Description:
    """Describe the least cost of multiplying matrices i to j of a chain; matrix i is p(i) x p(i + 1)."""
    (N,) = sizes = parameters("N")
    p = Vector(Double, "p", [N + 1])
    i, j, k = variables("i j k")
    spans = [upto(N), between(i, N - 1)]
    best = Reduction(([i, j], spans), ([i, j, k], [*spans, between(i, j - 1)]), Double, "best")
    cost = Function(([i, j], spans), Double, "cost")
    best.defn = [Reduce(best(i, j), cost(i, k) + cost(k + 1, j) + p(i) * p(k + 1) * p(j + 1), Op.Min)]
    cost.defn = [Case(Condition(i, "==", j), 0.0), Case(Condition(j, ">", i), best(i, j))]
    return Description((cost,), (p,), sizes)


def reference_chain(p: Array) -> Arrays:
    """Solve with NumPy, the cuts of a chain at once."""
    count = len(p) - 1
    cost = np.zeros((count, count))
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            cuts = cost[i, i:j] + cost[i + 1 : j + 1, j] + p[i] * p[i + 1 : j + 1] * p[j + 1]
            cost[i, j] = cuts.min()
    return {"cost": cost}


def build_tree() -> Description:
    """Describe the least mean depth of search trees of keys i to j - 1, which weigh s(j) - s(i)."""
    (N,) = sizes = parameters("N")
    s = Vector(Double, "s", [N])
    i, j, r = variables("i j r")
    spans = [upto(N), between(i, N - 1)]
    best = Reduction(([i, j], spans), ([i, j, r], [*spans, between(i, j - 1)]), Double, "best")
    depth = Function(([i, j], spans), Double, "depth")
    best.defn = [Reduce(best(i, j), depth(i, r) + depth(r + 1, j), Op.Min)]
    depth.defn = [Case(Condition(i, "==", j), 0.0), Case(Condition(j, ">", i), best(i, j) + s(j) - s(i))]
    return Description((depth,), (s,), sizes)


def reference_tree(s: Array) -> Arrays:
    """Solve with NumPy, the roots of a tree at once."""
    depth = np.zeros((len(s), len(s)))
    for i in range(len(s) - 1, -1, -1):
        for j in range(i + 1, len(s)):
            depth[i, j] = (depth[i, i:j] + depth[i + 1 : j + 1, j]).min() + s[j] - s[i]
    return {"depth": depth}


def cuts(sizes: Sizes) -> int:
    """Count the places at which all parts of a row of things may be cut."""
    return (sizes["N"] ** 3 - sizes["N"]) // 6


LDLT = Program(
    name="ldlt",
    sizes=size_table("N", S=(1000,), M=(2000,), L=(4000,)),
    build=build_ldlt,
    inputs=inputs_ldlt,
    reference=reference_ldlt,
    operations=1 / 3,
    traffic=0,
    tolerance=1e-9,
    points=lambda sizes: sizes["N"] ** 3,
    relative=True,
)
BANDED = Program(
    name="banded-cholesky",
    sizes=size_table("N K", S=(4000, 16), M=(4000, 64), L=(4000, 256)),
    build=build_banded,
    inputs=inputs_banded,
    reference=reference_banded,
    operations=1,
    traffic=0,
    tolerance=1e-12,
    points=lambda sizes: sizes["N"] * sizes["K"] * (sizes["K"] + 2),
    relative=True,
)
CHAIN = Program(
    name="matrix-chain",
    sizes=size_table("N", S=(500,), M=(1000,), L=(2000,)),
    build=build_chain,
    inputs=lambda sizes, rng: {"p": rng.random(sizes["N"] + 1)},
    reference=reference_chain,
    operations=4,
    traffic=0,
    tolerance=1e-12,
    points=cuts,
    relative=True,
)
TREE = Program(
    name="search-tree",
    sizes=size_table("N", S=(500,), M=(1000,), L=(2000,)),
    build=build_tree,
    inputs=lambda sizes, rng: {"s": np.cumsum(rng.random(sizes["N"]))},
    reference=reference_tree,
    operations=2,
    traffic=0,
    tolerance=1e-12,
    points=cuts,
    relative=True,
)
PROGRAMS = (LDLT, BANDED, CHAIN, TREE)


def find_program(name: str) -> Program:
    """The program of that name."""
    (found,) = (program for program in PROGRAMS if program.name == name)
    return found
