"""Eliminations and solves as users may write them: with a step, rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Parameter, Variable
from polymat.lang.types import ScalarType

N, M, S = (Parameter(Int, name) for name in "NMS")
k, i, j = (Variable(Int, name) for name in "kij")
p = k - 1
start, step = Condition(k, "==", 0), Condition(k, ">=", 1)


def upto(size: Any) -> Interval:
    return Interval(Int, 0, size - 1)


def last(W: Function, dtype: ScalarType, steps: Any, rows: Any, columns: Any, name: str = "R") -> Function:
    result = Function(([i, j], [upto(rows), columns]), dtype, name)
    result.defn = [W(steps, i, j)]
    return result


def elimination(dtype: ScalarType = Double, size: Any = N, of: Any = None) -> Function:
    """All steps, of a matrix; multipliers are not stored, but divided by the pivot where they are used."""
    A = pm.Matrix(dtype, "A", [size, size]) if of is None else of
    W = Function(([k, i, j], [Interval(Int, 0, size), upto(size), upto(size)]), dtype, "W")
    after = Condition(i, ">", p) & Condition(j, ">", p)
    W.defn = [
        Case(start, A(i, j)),
        Case(step & (Condition(i, "<=", p) | Condition(j, "<=", p)), W(k - 1, i, j)),
        Case(step & after, W(k - 1, i, j) - W(k - 1, i, p) * W(k - 1, p, j) / W(k - 1, p, p)),
    ]
    return W


def unscaled_lu(dtype: ScalarType = Double, size: Any = N) -> Function:
    """The last step of that."""
    return last(elimination(dtype, size), dtype, size, size, upto(size))


def schur(dtype: ScalarType = Double) -> Function:
    """Only the first S of N unknowns are eliminated, from a matrix with M columns."""
    A = pm.Matrix(dtype, "A", [N, M])
    W = Function(([k, i, j], [Interval(Int, 0, S), upto(N), upto(M)]), dtype, "W")
    below = Condition(i, ">", p)
    W.defn = [
        Case(start, A(i, j)),
        Case(step & (Condition(i, "<=", p) | Condition(j, "<", p)), W(k - 1, i, j)),
        Case(step & below & Condition(j, "==", p), W(k - 1, i, j) / W(k - 1, p, p)),
        Case(step & below & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k - 1, p, j)),
    ]
    return last(W, dtype, S, N, upto(M))


def chained(dtype: ScalarType = Double) -> Function:
    """Multipliers depend on those of the row above, of the same step."""
    A = pm.Matrix(dtype, "A", [N, N])
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), dtype, "W")
    column, inside = step & Condition(j, "==", p), Condition(i, ">", p)
    scaled = W(k - 1, i, j) / W(k - 1, p, p)
    W.defn = [
        Case(start, A(i, j)),
        Case(step & (Condition(i, "<=", p) | Condition(j, "<", p)), W(k - 1, i, j)),
        Case(column & Condition(i, "==", k), scaled),
        Case(column & Condition(i, ">", k), scaled + 0.125 * W(k, i - 1, p)),
        Case(step & inside & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k - 1, p, j)),
    ]
    return last(W, dtype, N, N, upto(N))


def ldlt(dtype: ScalarType = Double) -> Function:
    """The lower triangle: L below the diagonal, D on it."""
    A = pm.Matrix(dtype, "A", [N, N])
    triangle = Interval(Int, 0, i)
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), triangle]), dtype, "W")
    W.defn = [
        Case(start, A(i, j)),
        Case(step & (Condition(j, "<", p) | (Condition(j, "==", p) & Condition(i, "<=", p))), W(k - 1, i, j)),
        Case(step & Condition(j, "==", p) & Condition(i, ">", p), W(k - 1, i, j) / W(k - 1, p, p)),
        Case(step & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k - 1, p, p) * W(k, j, p)),
    ]
    return last(W, dtype, N, N, triangle)


def upper_cholesky(dtype: ScalarType = Double) -> Function:
    """The upper triangle U with A = U.T U."""
    A = pm.Matrix(dtype, "A", [N, N])
    triangle = Interval(Int, i, N - 1)
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), triangle]), dtype, "W")
    on = Condition(i, "==", p)
    W.defn = [
        Case(start, A(i, j)),
        Case(step & Condition(i, "<", p), W(k - 1, i, j)),
        Case(step & on & Condition(j, "==", p), pm.Sqrt(W(k - 1, i, j))),
        Case(step & on & Condition(j, ">", p), W(k - 1, i, j) / W(k, p, p)),
        Case(step & Condition(i, ">", p), W(k - 1, i, j) - W(k, p, i) * W(k, p, j)),
    ]
    return last(W, dtype, N, N, triangle)


def forward_solve(dtype: ScalarType = Double) -> Function:
    """X with L X = B, for M columns of B."""
    L, B = pm.Matrix(dtype, "L", [N, N]), pm.Matrix(dtype, "B", [N, M])
    X = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(M)]), dtype, "X")
    X.defn = [
        Case(start, B(i, j)),
        Case(step & Condition(i, "<", p), X(k - 1, i, j)),
        Case(step & Condition(i, "==", p), X(k - 1, i, j) / L(p, p)),
        Case(step & Condition(i, ">", p), X(k - 1, i, j) - L(i, p) * X(k, p, j)),
    ]
    return last(X, dtype, N, N, upto(M), "Y")


def right_solve(dtype: ScalarType = Double) -> Function:
    """X with X U = B, for M rows of B."""
    U, B = pm.Matrix(dtype, "U", [N, N]), pm.Matrix(dtype, "B", [M, N])
    X = Function(([k, i, j], [Interval(Int, 0, N), upto(M), upto(N)]), dtype, "X")
    X.defn = [
        Case(start, B(i, j)),
        Case(step & Condition(j, "<", p), X(k - 1, i, j)),
        Case(step & Condition(j, "==", p), X(k - 1, i, j) / U(p, p)),
        Case(step & Condition(j, ">", p), X(k - 1, i, j) - U(p, j) * X(k, i, p)),
    ]
    return last(X, dtype, N, M, upto(N), "Y")


def summed(dtype: ScalarType = Double) -> Function:
    """A sum of S products, one a step: no result is read but by itself."""
    A, B = pm.Matrix(dtype, "A", [N, S]), pm.Matrix(dtype, "B", [S, M])
    W = Function(([k, i, j], [Interval(Int, 0, S), upto(N), upto(M)]), dtype, "W")
    W.defn = [Case(start, 1.0), Case(step, W(k - 1, i, j) + 2.0 * A(i, p) * B(p, j))]
    return last(W, dtype, S, N, upto(M))


def gauss_jordan(dtype: ScalarType = Double) -> Function:
    """Every step changes all rows, among them those whose elements it multiplies by."""
    A = pm.Matrix(dtype, "A", [N, N])
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), dtype, "W")
    other = Condition(i, "!=", p)
    W.defn = [
        Case(start, A(i, j)),
        Case(step & Condition(i, "==", p), W(k - 1, i, j) / W(k - 1, p, p)),
        Case(step & other, W(k - 1, i, j) - W(k - 1, i, p) * (W(k - 1, p, j) / W(k - 1, p, p))),
    ]
    return last(W, dtype, N, N, upto(N))


def smoothed(dtype: ScalarType = Double) -> Function:
    """A product of earlier results that are changed later in the same block of steps."""
    A = pm.Matrix(dtype, "A", [N, N])
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), dtype, "W")
    after = Condition(i, ">", p) & Condition(j, ">", p)
    W.defn = [
        Case(start, A(i, j)),
        Case(step & (Condition(i, "<=", p) | Condition(j, "<=", p)), W(k - 1, i, j) * 0.5),
        Case(step & after, W(k - 1, i, j) - W(k - 1, i, p) * W(k - 1, p, j)),
    ]
    return last(W, dtype, N, N, upto(N))


LEGAL: dict[str, Callable[..., Function]] = {
    each.__name__: each
    for each in (unscaled_lu, schur, chained, ldlt, upper_cholesky, forward_solve, right_solve, summed)
}
REFUSED: dict[str, Callable[..., Function]] = {each.__name__: each for each in (gauss_jordan, smoothed)}


def arguments(size: int, columns: int, dtype: str) -> dict[str, Any]:
    """Matrices without small pivots for all of them, by name, and the sizes N, M and S."""
    rng = np.random.default_rng(3)
    square = rng.random((size, size)) - 0.5
    square = square + square.T + 2 * size * np.eye(size)
    wide = rng.random((size, columns)) - 0.5 + 2 * size * np.eye(size, columns)
    return {"square": square.astype(dtype), "wide": wide.astype(dtype), "tall": wide.T.astype(dtype).copy()}
