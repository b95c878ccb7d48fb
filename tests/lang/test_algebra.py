"""Shapes, types and definitions of what the matrix algebra makes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.algebra import Result, dims
from polymat.lang.expr import Load
from polymat.lang.expressiontext import condition_text, expr_text
from polymat.lang.function import CaseEntry
from polymat.lang.reduction import ReduceEntry
from polymat.lang.traverse import walk
from polymat.lang.types import ALL_TYPES, STORED, ScalarType

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
A, B, C = (pm.Matrix(pm.Double, n, s) for n, s in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
S = pm.Matrix(pm.Double, "S", [N, N])
x, y = pm.Vector(pm.Double, "x", [K]), pm.Vector(pm.Double, "y", [K])
alpha, beta = pm.Parameter(pm.Double, "alpha"), pm.Parameter(pm.Double, "beta")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
f = pm.Function(([i, j], [pm.Interval(pm.Int, 0, K - 1), pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "f")
d = pm.dot(x, y)


def entry_text(entry: Any) -> str:
    match entry:
        case CaseEntry(condition, value):
            return f"{condition_text(condition)}: {entry_text(value)}"
        case ReduceEntry(_, value, op):
            return f"{op.value}= {expr_text(value)}"
        case _:
            return expr_text(entry)


def definition(stage: Result) -> str:
    return "; ".join(entry_text(entry) for entry in stage.defn)


@pytest.mark.parametrize(
    ("result", "shape", "label", "text"),
    [
        (A + A, "M x K", "(A + A)", "A(i, j) + A(i, j)"),
        (A - A, "M x K", "(A - A)", "A(i, j) - A(i, j)"),
        (-A, "M x K", "(-A)", "-A(i, j)"),
        (A + 1.0, "M x K", "(A + 1.0)", "A(i, j) + 1.0"),
        (1 - A, "M x K", "(1 - A)", "1 - A(i, j)"),
        (alpha * A, "M x K", "(alpha * A)", "alpha * A(i, j)"),
        (A * (2 * alpha + 1), "M x K", "(A * 2 * alpha + 1)", "A(i, j) * (2 * alpha + 1)"),
        (A / alpha, "M x K", "(A / alpha)", "A(i, j) / alpha"),
        (np.float64(2) * A, "M x K", "(2.0 * A)", "2.0 * A(i, j)"),
        (A * np.float32(2), "M x K", "(A * 2.0)", "A(i, j) * 2.0"),
        (N * A, "M x K", "(N * A)", "N * A(i, j)"),
        (A * B, "M x N", "(A @ B)", "+= A(i, k) * B(k, j)"),
        (A @ B, "M x N", "(A @ B)", "+= A(i, k) * B(k, j)"),
        (A @ x, "M", "(A @ x)", "+= A(i, j) * x(j)"),
        (A * x, "M", "(A @ x)", "+= A(i, j) * x(j)"),
        (x @ B, "N", "(x @ B)", "+= x(j) * B(j, i)"),
        (x * B, "N", "(x @ B)", "+= x(j) * B(j, i)"),
        (x @ y, "scalar", "(x @ y)", "+= x(i) * y(i)"),
        (A.T, "K x M", "A.T", "A(j, i)"),
        (A.T.T @ B, "M x N", "(A.T.T @ B)", "+= A.T.T(i, k) * B(k, j)"),
        (A @ f, "M x N", "(A @ f)", "+= A(i, k) * f(k, j)"),
        (f + B, "K x N", "(f + B)", "f(i, j) + B(i, j)"),
        (f @ S, "K x N", "(f @ S)", "+= f(i, k) * S(k, j)"),
        (x + y, "K", "(x + y)", "x(i) + y(i)"),
        (d + 1, "scalar", "(dot(x, y) + 1)", "dot(x, y)() + 1"),
        (d * x, "K", "(dot(x, y) * x)", "dot(x, y)() * x(i)"),
        (x / d, "K", "(x / dot(x, y))", "x(i) / dot(x, y)()"),
        (d * d, "scalar", "(dot(x, y) * dot(x, y))", "dot(x, y)() * dot(x, y)()"),
        (A(0, N - 1) * x, "K", "(A(0, N - 1) * x)", "A(0, N - 1) * x(i)"),
        (pm.transpose(A), "K x M", "A.T", "A(j, i)"),
        (pm.dot(x, y), "scalar", "dot(x, y)", "+= x(i) * y(i)"),
        (pm.outer(x, y), "K x K", "outer(x, y)", "x(i) * y(j)"),
        (pm.elementwise_mul(A, A), "M x K", "elementwise_mul(A, A)", "A(i, j) * A(i, j)"),
        (pm.elementwise_mul(x, y), "K", "elementwise_mul(x, y)", "x(i) * y(i)"),
        (pm.scalar_mul(A, alpha), "M x K", "scalar_mul(A, alpha)", "alpha * A(i, j)"),
        (
            pm.gemm(A, B, C, alpha, beta),
            "M x N",
            "gemm(A, B, C)",
            "alpha * (A @ B)(i, j) + beta * C(i, j)",
        ),
        (pm.gemm(A, B, C, 1, 1), "M x N", "gemm(A, B, C)", "(A @ B)(i, j) + C(i, j)"),
        (pm.gemm(A, B, C, 2, 0), "M x N", "gemm(A, B, C)", "2 * (A @ B)(i, j)"),
        (pm.gemm(A, B, C, 1, 0.0), "M x N", "gemm(A, B, C)", "+= A(i, k) * B(k, j)"),
        (
            pm.syrk(S, S, alpha, 1),
            "N x N",
            "syrk(S, S)",
            "j <= i: alpha * (lower S @ S.T)(i, j) + S(i, j); j > i: S(i, j)",
        ),
        (
            pm.syr2k(S, S, S, 1, 0),
            "N x N",
            "syr2k(S, S, S)",
            "j <= i: (lower S @ S.T + S @ S.T)(i, j); j > i: S(i, j)",
        ),
        (pm.trmm(S, S, 1), "N x N", "trmm(S, S)", "+= S(k, i) * S(k, j)"),
        (
            pm.symm(S, S, S, N, N, 1, 0),
            "N x N",
            "symm(S, S, S)",
            "k <= i: += S(i, k) * S(k, j); k > i: += S(k, i) * S(k, j)",
        ),
    ],
)
def test_result(result: Result, shape: str, label: str, text: str) -> None:
    assert dims(result.shape) == shape
    assert result.label == label
    assert definition(result) == text
    assert result.name is None


COMPUTED = [dtype for dtype in ALL_TYPES if dtype not in STORED]  # which arrays alone have
NUMBERS = [dtype for dtype in COMPUTED if dtype != pm.Bool]  # products of Bool are refused


@pytest.mark.parametrize(("left", "right"), list(itertools.product(NUMBERS, NUMBERS)), ids=str)
def test_results_have_numpys_types(left: ScalarType, right: ScalarType) -> None:
    a, b = pm.Matrix(left, "A", [N, N]), pm.Matrix(right, "B", [N, N])
    one, other = np.ones((2, 2), left.dtype), np.ones((2, 2), right.dtype)
    assert (a + b).dtype.dtype == (one + other).dtype
    assert (a @ b).dtype.dtype == (one @ other).dtype
    assert pm.gemm(a, a, b, 1, 0).dtype.dtype == (one @ one + 0 * other).dtype
    assert (np.dtype(right.dtype).type(2) * a).dtype.dtype == (np.dtype(right.dtype).type(2) * one).dtype


@pytest.mark.parametrize("dtype", COMPUTED, ids=str)
def test_literals_are_weak_in_algebra(dtype: ScalarType) -> None:
    a, one = pm.Matrix(dtype, "A", [N, N]), np.ones((2, 2), dtype.dtype)
    for literal in (2, 2.5, 2j):
        assert (literal * a).dtype.dtype == (literal * one).dtype
        assert (a / literal).dtype.dtype == (one / literal).dtype


def test_triangular_domains_and_initial_values() -> None:
    product = next(n.source for n in _loads(pm.syrk(S, S, 1, 1)) if n.source is not S)
    assert [str(b.hi) for b in product.intervals] == ["N - 1", "i"]
    trmm = pm.trmm(S, S, 1)
    assert isinstance(trmm, pm.Reduction)
    assert trmm.init is not None
    assert expr_text(trmm.init) == "S(i, j)"
    assert [(str(b.lo), str(b.hi)) for b in trmm.reduction_intervals][-1] == ("i + 1", "N - 1")
    assert [v.name for v in trmm.reduction_variables] == ["i", "j", "k"]


def _loads(stage: Result) -> list[Any]:
    values = [getattr(entry, "value", entry) for entry in stage.defn]
    return [node for value in values for node in walk(value) if isinstance(node, Load)]


def test_variables_avoid_the_names_of_sizes_and_scalars() -> None:
    sizes = [pm.Parameter(pm.Int, name) for name in ("i", "k", "i1")]
    factor = pm.Parameter(pm.Double, "j")
    a, b = pm.Matrix(pm.Double, "a", sizes[:2]), pm.Matrix(pm.Double, "b", sizes[1:])
    product = a @ b
    used = {v.name for v in product.reduction_variables}
    assert used.isdisjoint({"i", "k", "i1"})
    assert {v.name for v in (factor * a).variables}.isdisjoint({"i", "k", "j"})


def test_more_sizes_than_letters() -> None:
    sizes = [pm.Parameter(pm.Int, name) for name in "ijklmnpqrs"]
    image = pm.Matrix(pm.Double, "a", [sum(sizes[1:], sizes[0]), N])
    assert [v.name for v in (image + image).variables] == ["i1", "i2"]


def test_equal_extents_in_another_order_fit() -> None:
    a, b = pm.Vector(pm.Double, "a", [N + M]), pm.Vector(pm.Double, "b", [M + N])
    assert dims((a + b).shape) == "N + M"
    assert dims(pm.outer(a, b).shape) == "(N + M) x (M + N)"


def test_vectors_are_their_own_transpose() -> None:
    assert x.T is x
    assert +A is A


def test_long_formulas_are_not_spelled_out() -> None:
    total: Any = S
    for _ in range(50):
        total = total @ S
    assert len(total.label) <= 40
    assert "(unnamed Matrix)" in total.text
    assert len(total.text) < 80


def test_augmented_assignment_makes_a_new_stage() -> None:
    total: Any = A
    total += A
    assert total is not A
    assert total.label == "(A + A)"
