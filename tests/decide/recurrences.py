"""Recurrences with more dimensions than they need: two arrays in one function, sums along rows."""

from __future__ import annotations

from benchmarks.polybench.kernel import Description, parameters, upto, variables
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Vector


def two_arrays() -> Description:
    """X(t, 0, .) is B and X(t, 1, .) is A after step t; each keeps its own boundary."""
    T, N = sizes = parameters("T N")
    A, B = Vector(Double, "A", [N]), Vector(Double, "B", [N])
    t, h, i = variables("t h i")
    X = Function(([t, h, i], [Interval(Int, 0, T), Interval(Int, 0, 1), upto(N)]), Double, "X")
    inside = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
    given = Condition(t, "==", 0) | Condition(i, "==", 0) | Condition(i, "==", N - 1)
    to_B, to_A = Condition(h, "==", 0), Condition(h, "==", 1)
    X.defn = [
        Case(to_B & given, B(i)),
        Case(to_A & given, A(i)),
        Case(to_B & inside, 0.33333 * (X(t - 1, 1, i - 1) + X(t - 1, 1, i) + X(t - 1, 1, i + 1))),
        Case(to_A & inside, 0.33333 * (X(t, 0, i - 1) + X(t, 0, i) + X(t, 0, i + 1))),
    ]
    last = Function(([i], [upto(N)]), Double, "last")
    last.defn = [X(T, 1, i)]
    return Description((last,), (A, B), sizes)


def sums_along_rows() -> Description:
    """s(i, j) is b_i less the first j products; x_j is read as s(j, j) / L_jj."""
    (N,) = sizes = parameters("N")
    L, b = Matrix(Double, "L", [N, N]), Vector(Double, "b", [N])
    i, j = variables("i j")
    s = Function(([i, j], [upto(N), Interval(Int, 0, i)]), Double, "s")
    s.defn = [
        Case(Condition(j, "==", 0), b(i)),
        Case(Condition(j, ">=", 1), s(i, j - 1) - L(i, j - 1) * (s(j - 1, j - 1) / L(j - 1, j - 1))),
    ]
    x = Function(([i], [upto(N)]), Double, "x")
    x.defn = [s(i, i) / L(i, i)]
    return Description((x,), (L, b), sizes)
