"""PolyBench adi: diffusion by alternating directions, a tridiagonal system along each line of either."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import (
    DOUBLE,
    Array,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    inside,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, iterate

NAME = "adi"


def build() -> Description:
    """Describe the steps: v solves along columns, and the next u along rows, both from the elimination q."""
    T, N = sizes = parameters("T N")
    u0 = Matrix(Double, "u", [N, N])
    i, j = variables("i j")
    inner, from_first = Interval(Int, 1, N - 2), Interval(Int, 0, N - 2)
    square = 1.0 * N * N / T  # of the ratio of a step in time and in space
    a, b = -square, 1 + 2.0 * square
    d, e = -0.5 * square, 1 + square

    def factor(name: str, off: Any, diagonal: Any) -> Function:
        """The factors p of a tridiagonal matrix, alike for all lines."""
        p = Function(([j], [from_first]), Double, name)
        p.defn = [
            Case(Condition(j, "==", 0), 0.0),
            Case(Condition(j, ">=", 1), -off / (off * p(j - 1) + diagonal)),
        ]
        return p

    across, along = factor("across", a, b), factor("along", d, e)

    def step(u: Any) -> Function:
        q = Function(([j, i], [from_first, inner]), Double, "q")
        v = Function(([j, i], [upto(N), inner]), Double, "v")
        ends, between = Condition(j, "==", 0) | Condition(j, "==", N - 1), inside(N, j)
        known = -d * u(j, i - 1) + (1 + 2.0 * d) * u(j, i) - d * u(j, i + 1)
        q.defn = [
            Case(Condition(j, "==", 0), 1.0),
            Case(Condition(j, ">=", 1), (known - a * q(j - 1, i)) / (a * across(j - 1) + b)),
        ]
        v.defn = [Case(ends, 1.0), Case(between, across(j) * v(j + 1, i) + q(j, i))]

        r = Function(([i, j], [inner, from_first]), Double, "r")
        after = Function(([i, j], [upto(N), upto(N)]), Double, "u")
        known = -a * v(i - 1, j) + (1 + 2.0 * a) * v(i, j) - a * v(i + 1, j)
        r.defn = [
            Case(Condition(j, "==", 0), 1.0),
            Case(Condition(j, ">=", 1), (known - d * r(i, j - 1)) / (d * along(j - 1) + e)),
        ]
        after.defn = [
            Case(Condition(i, "==", 0) | Condition(i, "==", N - 1), u(i, j)),
            Case(inside(N, i) & ends, 1.0),
            Case(inside(N, i, j), along(j) * after(i, j + 1) + r(i, j)),
        ]
        return after

    return Description((iterate(step, u0, steps=T),), (u0,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    N = sizes["N"]
    i, j = index_grid(N, N)
    return {"u": (i + N - j) / N}


def solved(off: float, diagonal: float, known: Array) -> Array:
    """The solutions of tridiagonal systems along the first axis, 1 beyond both ends."""
    lines, count = np.ones((len(known) + 2, known.shape[1])), len(known)
    q, p = np.ones((count + 1, known.shape[1])), np.zeros(count + 1)
    for j in range(1, count + 1):
        pivot = off * p[j - 1] + diagonal
        p[j], q[j] = -off / pivot, (known[j - 1] - off * q[j - 1]) / pivot
    for j in range(count, 0, -1):
        lines[j] = p[j] * lines[j + 1] + q[j]
    return lines


def reference(arrays: Arrays, T: int) -> Arrays:
    """Take the steps with NumPy, all lines at a time."""
    u = arrays["u"].copy()
    N = len(u)
    for _ in range(T if N > 2 else 0):
        square = N * N / T
        a, b, d, e = -square, 1 + 2 * square, -square / 2, 1 + square
        v = solved(a, b, -d * u[1:-1, :-2] + (1 + 2 * d) * u[1:-1, 1:-1] - d * u[1:-1, 2:])
        u[1:-1] = solved(d, e, (-a * v[:-2] + (1 + 2 * a) * v[1:-1] - a * v[2:]).T).T
    return {"u": u}


def flops(sizes: Sizes) -> int:
    """Count the useful operations, pivots and factors at each point."""
    T, N = extents(sizes, "T N")
    return 26 * T * (N - 2) ** 2


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    N = sizes["N"]
    return DOUBLE * 2 * N * (N - 2)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "T N",
        MINI=(20, 20),
        SMALL=(40, 60),
        MEDIUM=(100, 200),
        LARGE=(500, 1000),
        EXTRALARGE=(1000, 2000),
    ),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 40 * sizes["T"] * sizes["N"] + 40,
    counts=("T",),
    summed=False,
)
