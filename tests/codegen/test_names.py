"""No name that a user gives meets a name that generated code makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Cos,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Options,
    Parameter,
    Reduce,
    Reduction,
    Sin,
    Variable,
    Vector,
)

N = Parameter(Int, "N")
i, j, k = (Variable(Int, name) for name in "ijk")
whole = Interval(Int, 0, N - 1)
x = Vector(Double, "x", [N])


def pointwise(name: str, value: Any) -> Function:
    f = Function(([i], [whole]), Double, name)
    f.defn = [value]
    return f


def test_functions_of_several_nests_of_a_stage() -> None:
    a = Reduction(([i], [Interval(Int, 0, 2 * N)]), ([j, k], [whole, whole]), Double, "a")
    a.defn = [Reduce(a(j + k), x(j) * x(k), Op.Sum)]
    others = [pointwise("a_start", Sin(x(i))), pointwise("start_a", Cos(x(i))), pointwise("a_0", x(i) + 1)]
    compiled = pm.compile([a, *others])
    data = np.arange(4.0)
    for found, wanted in zip(compiled(data), compiled.reference(data), strict=True):
        np.testing.assert_allclose(found, wanted)


def test_accumulators() -> None:
    A, v = Matrix(Double, "A", [N, N]), Vector(Double, "c_sum_0", [N])
    c = Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, "c")
    c.defn = [Reduce(c(i), A(i, k) * v(k), Op.Sum)]
    np.testing.assert_array_equal(pm.compile(c)(np.ones((20, 20)), np.ones(20)), np.full(20, 20.0))


def test_parts_of_the_workspace() -> None:
    s = Reduction(([], []), ([k], [whole]), Double, "s")
    s.defn = [Reduce(s(), x(k), Op.Sum)]
    t = pointwise("threads_2", Sin(x(i)))
    y = pointwise("y", t(i) * t(N - 1 - i) + s())
    compiled = pm.compile(y, options=Options(fuse=False))
    np.testing.assert_allclose(compiled(np.ones(5)), np.sin(1.0) ** 2 + np.full(5, 5.0))


def test_the_runtime_of_openmp() -> None:
    v = Vector(Double, "omp_get_max_threads", [N])
    np.testing.assert_array_equal(pm.compile(pointwise("y", v(i) + 1))(np.zeros(2)), [1.0, 1.0])


@pytest.mark.parametrize(
    ("row", "column", "size"), [("i", "k", "N"), ("i", "k", "c2"), ("c2", "c1", "c3"), ("i", "c2", "c2_")]
)
def test_loops_of_a_recurrence(row: str, column: str, size: str) -> None:
    n, r, c = Parameter(Int, size), Variable(Int, row), Variable(Int, column)
    rows = Interval(Int, 0, n - 1)
    L, b = Matrix(Double, "L", [n, n]), Vector(Double, "b", [n])
    y = Reduction(([r], [rows]), ([r, c], [rows, Interval(Int, 0, r - 1)]), Double, "y", init=b(r))
    y.defn = [Reduce(y(r), -L(r, c) * y(c), Op.Sum)]
    lower = np.tril(np.arange(36.0).reshape(6, 6) / 36, -1)
    compiled = pm.compile(y, inputs=[L, b])
    np.testing.assert_allclose(compiled(lower, np.ones(6)), np.linalg.solve(lower + np.eye(6), np.ones(6)))


def test_cases_of_a_recurrence_that_both_share_parts() -> None:
    """Beside each other in one loop, each has a `_pm_t0` of its own."""
    A = Matrix(Double, "A", [N, N])
    g = Function(([i, j], [whole, whole]), Double, "g")
    a = A(i, j) + 1
    first, last = pm.Condition(j, "==", 0), pm.Condition(j, "==", N - 1)
    below, inside = pm.Condition(i, ">", 0), pm.Condition(j, ">", 0)

    def square(value: Any) -> Any:
        return value * value * 0.01

    g.defn = [
        pm.Case(pm.Condition(i, "==", 0), a * a),
        pm.Case(below & first, a * a * a),
        pm.Case(below & inside & pm.Condition(j, "<", N - 1), square(g(i - 1, j) + a)),
        pm.Case(below & inside & last, square(g(i - 1, j - 1) + a) + a),
    ]
    data = np.random.default_rng(0).normal(size=(9, 9))
    compiled = pm.compile(g)
    assert compiled.source.count("const double _pm_t0") > 1
    np.testing.assert_allclose(compiled(data), compiled.reference(data), rtol=1e-13)
