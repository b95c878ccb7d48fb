"""PolyBench problems as functions that read themselves, with every time or elimination step stored.

The leading index numbers the steps, step 0 holds the input, and a last function picks the final step:
nothing is overwritten, so a definition reads like its formula.
"""

from __future__ import annotations

from benchmarks.polybench.kernel import Description, parameters, upto, variables
from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Min,
    Op,
    Reduce,
    Reduction,
    Sqrt,
    Vector,
)


def jacobi_1d() -> Description:
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


def jacobi_2d() -> Description:
    """The same on a square, with a five-point mean."""
    T, N = sizes = parameters("T N")
    A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
    t, h, i, j = variables("t h i j")
    X = Function(([t, h, i, j], [Interval(Int, 0, T), Interval(Int, 0, 1), upto(N), upto(N)]), Double, "X")
    inside = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
    inside = inside & Condition(j, ">=", 1) & Condition(j, "<=", N - 2)
    given = Condition(t, "==", 0) | Condition(i, "==", 0) | Condition(i, "==", N - 1)
    given = given | Condition(j, "==", 0) | Condition(j, "==", N - 1)
    to_B, to_A = Condition(h, "==", 0), Condition(h, "==", 1)
    mean_A = X(t - 1, 1, i, j) + X(t - 1, 1, i, j - 1) + X(t - 1, 1, i, j + 1)
    mean_A = mean_A + X(t - 1, 1, i + 1, j) + X(t - 1, 1, i - 1, j)
    mean_B = X(t, 0, i, j) + X(t, 0, i, j - 1) + X(t, 0, i, j + 1) + X(t, 0, i + 1, j) + X(t, 0, i - 1, j)
    X.defn = [
        Case(to_B & given, B(i, j)),
        Case(to_A & given, A(i, j)),
        Case(to_B & inside, 0.2 * mean_A),
        Case(to_A & inside, 0.2 * mean_B),
    ]
    last = Function(([i, j], [upto(N), upto(N)]), Double, "last")
    last.defn = [X(T, 1, i, j)]
    return Description((last,), (A, B), sizes)


def seidel_2d() -> Description:
    """Nine-point mean of new values above and to the left, and old ones elsewhere."""
    T, N = sizes = parameters("T N")
    A = Matrix(Double, "A", [N, N])
    t, i, j = variables("t i j")
    X = Function(([t, i, j], [Interval(Int, 0, T), upto(N), upto(N)]), Double, "X")
    inside = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
    inside = inside & Condition(j, ">=", 1) & Condition(j, "<=", N - 2)
    given = Condition(t, "==", 0) | Condition(i, "==", 0) | Condition(i, "==", N - 1)
    given = given | Condition(j, "==", 0) | Condition(j, "==", N - 1)
    above = X(t, i - 1, j - 1) + X(t, i - 1, j) + X(t, i - 1, j + 1)
    beside = X(t, i, j - 1) + X(t - 1, i, j) + X(t - 1, i, j + 1)
    below = X(t - 1, i + 1, j - 1) + X(t - 1, i + 1, j) + X(t - 1, i + 1, j + 1)
    X.defn = [Case(given, A(i, j)), Case(inside, (above + beside + below) / 9)]
    last = Function(([i, j], [upto(N), upto(N)]), Double, "last")
    last.defn = [X(T, i, j)]
    return Description((last,), (A,), sizes)


def cholesky() -> Description:
    """Right-looking: step k finishes column p = k-1 and updates the columns after it."""
    (N,) = sizes = parameters("N")
    A = Matrix(Double, "A", [N, N])
    k, i, j = variables("k i j")
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), Interval(Int, 0, i)]), Double, "W")
    p = k - 1
    step, pivot_column = Condition(k, ">=", 1), Condition(j, "==", p)
    W.defn = [
        Case(Condition(k, "==", 0), A(i, j)),
        Case(step & Condition(j, "<", p), W(k - 1, i, j)),
        Case(step & pivot_column & Condition(i, "==", p), Sqrt(W(k - 1, i, j))),
        Case(step & pivot_column & Condition(i, ">", p), W(k - 1, i, j) / W(k, p, p)),
        Case(step & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k, j, p)),
    ]
    L = Function(([i, j], [upto(N), Interval(Int, 0, i)]), Double, "L")
    L.defn = [W(N, i, j)]
    return Description((L,), (A,), sizes)


def lu() -> Description:
    """Right-looking elimination without pivoting; L below the diagonal, U on and above it."""
    (N,) = sizes = parameters("N")
    A = Matrix(Double, "A", [N, N])
    k, i, j = variables("k i j")
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), Double, "W")
    p = k - 1
    step, below = Condition(k, ">=", 1), Condition(i, ">", p)
    W.defn = [
        Case(Condition(k, "==", 0), A(i, j)),
        Case(step & (Condition(i, "<=", p) | Condition(j, "<", p)), W(k - 1, i, j)),
        Case(step & below & Condition(j, "==", p), W(k - 1, i, j) / W(k - 1, p, p)),
        Case(step & below & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k - 1, p, j)),
    ]
    result = Function(([i, j], [upto(N), upto(N)]), Double, "LU")
    result.defn = [W(N, i, j)]
    return Description((result,), (A,), sizes)


def trisolv() -> Description:
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


def trisolv_reduction() -> Description:
    """x(i) as a reduction over the x(j) before it."""
    (N,) = sizes = parameters("N")
    L, b = Matrix(Double, "L", [N, N]), Vector(Double, "b", [N])
    i, j = variables("i j")
    x = Reduction(
        ([i], [upto(N)]),
        ([i, j], [upto(N), Interval(Int, 0, i - 1)]),
        Double,
        "x",
        init=b(i) / L(i, i),
    )
    x.defn = [Reduce(x(i), -(L(i, j) / L(i, i)) * x(j), Op.Sum)]
    return Description((x,), (L, b), sizes)


def floyd_warshall() -> Description:
    """P(k, ., .) is the lightest path through the nodes before k."""
    (N,) = sizes = parameters("N")
    path = Matrix(Int, "path", [N, N])
    k, i, j = variables("k i j")
    P = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), Int, "P")
    through = P(k - 1, i, k - 1) + P(k - 1, k - 1, j)
    P.defn = [
        Case(Condition(k, "==", 0), path(i, j)),
        Case(Condition(k, ">=", 1), Min(P(k - 1, i, j), through)),
    ]
    last = Function(([i, j], [upto(N), upto(N)]), Int, "last")
    last.defn = [P(N, i, j)]
    return Description((last,), (path,), sizes)
