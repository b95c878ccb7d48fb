"""Each routine is found however it is written: matrix algebra, sums in any order, transposed, scaled, added.

The calls are carried out in NumPy and compared with the interpreter, so that a spelling is not only named
right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from polymat import (
    Case,
    Complex,
    Condition,
    Conj,
    Double,
    Image,
    Int,
    Interval,
    Matrix,
    Op,
    Reduce,
    Reduction,
    Sqrt,
    Variable,
    Vector,
)  # fmt: skip
from tests.idiom.recognise import (
    K,
    L,
    M,
    N,
    alpha,
    beta,
    check,
    i,
    j,
    k,
    l,
    point,
    recognised,
    routines,
    total,
    upto,
)  # fmt: skip

A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
At, Bt, Ct = Matrix(Double, "At", [K, M]), Matrix(Double, "Bt", [N, K]), Matrix(Double, "Ct", [N, M])
S, T, U, D = (Matrix(Double, name, [M, M]) for name in "STUD")
V, W = Matrix(Double, "V", [M, K]), Matrix(Double, "W", [N, N])
x, y, z, u = (Vector(Double, name, [size]) for name, size in (("x", M), ("y", N), ("z", K), ("u", M)))
Z = Matrix(Complex, "Z", [M, K])
a, b, rows, summed = (Variable(Int, name) for name in ("a", "b", "rows", "summed"))
MN, MM = [(i, upto(M)), (j, upto(N))], [(i, upto(M)), (j, upto(M))]
IN_K, IN_M, IN_N = [(k, upto(K))], [(k, upto(M))], [(k, upto(N))]
UP_TO, BEFORE, AFTER = Interval(Int, 0, i), Interval(Int, 0, i - 1), Interval(Int, i + 1, M - 1)
LOWER = [(i, upto(M)), (j, UP_TO)]


def reordered() -> Any:
    """The reduced index first, other names, the target turned, the factors the other way round."""
    spans = [upto(K), upto(N), upto(M)]
    P = Reduction(([i, j], [upto(M), upto(N)]), ([summed, a, rows], spans), Double, "P")
    P.defn = [Reduce(P(rows, a), B(summed, a) * A(rows, summed), Op.Sum)]
    return P


def in_two_steps() -> Any:
    """Scaled and added to in a stage of its own."""
    P = total("P", MN, IN_K, A(i, k) * B(k, j))
    return point("R", MN, beta * C(i, j) + P(i, j) * alpha)


def halved() -> Any:
    """Two sums of one definition, of even and of odd terms: two products."""
    P = Reduction(([i, j], [upto(M), upto(N)]), ([i, j, k], [upto(M), upto(N), upto(K)]), Double, "P")
    P.defn = [Reduce(P(i, j), A(i, k) * B(k, j), Op.Sum), Reduce(P(i, j), V(i, k) * B(k, j), Op.Sum)]
    return P


def symmetric() -> Any:
    """A symmetric matrix from one triangle, as a stage of its own."""
    lower = [Case(Condition(k, "<=", i), S(i, k)), Case(Condition(k, ">", i), S(k, i))]
    return point("F", [(i, upto(M)), (k, upto(M))], lower)


def solved(shape: Any, over: Interval, start: Any, term: Callable[[Any], Any]) -> Any:
    dims, spans = [dim for dim, _ in shape], [span for _, span in shape]
    X = Reduction((dims, spans), ([*dims, k], [*spans, over]), Double, "X", init=start)
    X.defn = [Reduce(X(*dims), term(X), Op.Sum)]
    return X


SPELLINGS: dict[str, dict[str, Callable[[], Any]]] = {
    "gemm": {
        "algebra": lambda: A @ B,
        "the star of PolyMage": lambda: A * B,
        "algebra, transposed": lambda: At.T @ Bt.T,
        "scaled and added in algebra": lambda: alpha * (A @ B) + beta * C,
        "subtracted": lambda: C - A @ B,
        "both factors turned": lambda: total("P", MN, IN_K, Bt(j, k) * At(k, i)),
        "the function": lambda: pm.gemm(A, B, C, alpha, beta),
        "any order and naming": reordered,
        "in two steps": in_two_steps,
        "the scale inside": lambda: total("P", MN, IN_K, alpha * A(i, k) * 2.0 * B(k, j)),
        "the scale divides": lambda: total("P", MN, IN_K, A(i, k) * B(k, j) / alpha),
        "the accumulation as a start": lambda: total("P", MN, IN_K, A(i, k) * B(k, j), init=C(i, j)),
        "every second row": lambda: total("P", MN, IN_K, Matrix(Double, "E", [2 * M, K])(2 * i, k) * B(k, j)),
        "the depth backwards": lambda: total("P", MN, IN_K, A(i, K - 1 - k) * B(K - 1 - k, j)),
        "a part": lambda: total("P", MN, IN_K, Matrix(Double, "E", [M + 2, K + 1])(i + 2, k + 1) * B(k, j)),
        "a batch": lambda: total(
            "P",
            [(l, upto(L)), *MN],
            IN_K,
            Image(Double, "E", [L, M, K])(l, i, k) * Image(Double, "G", [L, K, N])(l, k, j),
        ),
        "a batch with strides": lambda: total(
            "P",
            [(l, upto(L)), *MN],
            IN_K,
            Image(Double, "E", [M, L, K])(i, l, k) * Image(Double, "G", [K, L, N])(k, l, j),
        ),
        "merged indices": lambda: total(
            "P", [(l, upto(L)), *MN], IN_K, Image(Double, "E", [L, M, K])(l, i, k) * B(k, j)
        ),
        "two summed indices": lambda: total(
            "P",
            MN,
            [(k, upto(K)), (l, upto(L))],
            Image(Double, "E", [M, K, L])(i, k, l) * Image(Double, "G", [K, L, N])(k, l, j),
        ),
    },
    "gemm gemm": {
        "one sum of two": lambda: total("P", MN, IN_K, A(i, k) * B(k, j) + V(i, k) * B(k, j)),
        "two sums": halved,
        "algebra": lambda: A @ B - 2.0 * (V @ B),
    },
    "gemv": {
        "algebra": lambda: A @ z,
        "algebra, transposed": lambda: At.T @ z,
        "from the left": lambda: z @ At,
        "turned": lambda: total("P", [(i, upto(M))], IN_K, z(k) * At(k, i)),
        "scaled and added": lambda: beta * x + alpha * (A @ z),
        "backwards": lambda: total("P", [(i, upto(M))], IN_K, A(i, K - 1 - k) * z(K - 1 - k)),
        "a column": lambda: total("P", [(i, upto(M))], IN_K, A(i, k) * Matrix(Double, "E", [K, 2])(k, 1)),
        "of a batch": lambda: total(
            "P", [(l, upto(L)), (i, upto(M))], IN_K, Image(Double, "E", [L, M, K])(l, i, k) * z(k)
        ),
    },
    "ger": {
        "algebra": lambda: C + pm.outer(x, y),
        "scaled": lambda: C - alpha * pm.outer(x, y),
        "by points": lambda: point("P", MN, x(i) * y(j) * beta + C(i, j)),
        "the row first": lambda: point("P", MN, C(i, j) + y(j) * x(i)),
        "alone": lambda: pm.outer(x, y),
    },
    "dot": {
        "algebra": lambda: pm.dot(x, u),
        "a sum": lambda: total("P", [], IN_M, u(k) * x(k)),
        "with a start": lambda: total("P", [], IN_M, alpha * u(k) * x(k), init=beta),
        "of matrices": lambda: total("P", [], [(i, upto(M)), (k, upto(K))], A(i, k) * V(i, k)),
        "of rows": lambda: total("P", [(i, upto(M))], IN_K, A(i, k) * V(i, k)),
        "both backwards": lambda: total("P", [], IN_M, x(M - 1 - k) * u(M - 1 - k)),
    },
    "axpy": {
        "algebra": lambda: alpha * x + u,
        "the other way round": lambda: u + x * alpha,
        "subtracted": lambda: point("P", [(i, upto(M))], u(i) - 2.0 * x(i)),
        "divided": lambda: point("P", [(i, upto(M))], u(i) - x(i) / beta),
    },
    "scal": {
        "algebra": lambda: alpha * x,
        "of a matrix": lambda: point("P", MN, C(i, j) * beta),
    },
    "nrm2": {
        "a root": lambda: point("R", [], Sqrt(total("P", [], IN_M, x(k) * x(k))())),
        "of a power": lambda: point("R", [], Sqrt(total("P", [], IN_M, x(k) ** 2)())),
        "of dot": lambda: point("R", [], Sqrt(pm.dot(x, x)())),
    },
    "symm": {
        "the function": lambda: pm.symm(S, C, C, M, N, alpha, beta),
        "a symmetric stage": lambda: total("P", MN, IN_M, symmetric()(i, k) * C(k, j)),
        "two sums": lambda: _two_halves(C(k, j), MN),
        "at the right": lambda: total(
            "P", [(j, upto(N)), (i, upto(M))], IN_M, Ct(j, k) * symmetric()(i, k)
        ),
    },
    "symv": {
        "a symmetric stage": lambda: total("P", [(i, upto(M))], IN_M, symmetric()(i, k) * x(k)),
        "two sums": lambda: _two_halves(x(k), [(i, upto(M))]),
    },
    "syrk": {
        "the function": lambda: pm.syrk(A, S, alpha, beta),
        "a triangle": lambda: total("P", LOWER, IN_K, A(i, k) * A(j, k)),
        "turned": lambda: total("P", LOWER, IN_K, At(k, j) * At(k, i) * alpha),
        "the other triangle": lambda: total(
            "P", [(i, upto(M)), (j, Interval(Int, i, M - 1))], IN_K, A(i, k) * A(j, k)
        ),
        "the depth backwards": lambda: total("P", LOWER, IN_K, A(i, K - 1 - k) * A(j, K - 1 - k)),
        "other names": lambda: total("P", [(a, upto(M)), (b, Interval(Int, 0, a))], IN_K, A(b, k) * A(a, k)),
    },
    "syr2k": {
        "the function": lambda: pm.syr2k(A, V, S, alpha, beta),
        "a triangle": lambda: total("P", LOWER, IN_K, A(i, k) * V(j, k) + V(i, k) * A(j, k)),
        "the other way round": lambda: total("P", LOWER, IN_K, V(j, k) * A(i, k) + A(j, k) * V(i, k)),
    },
    "herk": {
        "a triangle": lambda: total("P", LOWER, IN_K, Z(i, k) * Conj(Z(j, k)), dtype=Complex),
        "the other way round": lambda: total("P", LOWER, IN_K, Conj(Z(j, k)) * Z(i, k), dtype=Complex),
    },
    "trmm": {
        "the function": lambda: pm.trmm(T, C, alpha),
        "a sum": lambda: total("P", MN, [(k, UP_TO)], T(i, k) * C(k, j)),
        "turned": lambda: total("P", MN, [(k, UP_TO)], C(k, j) * T(k, i) * alpha),
        "backwards": lambda: total(
            "P", MN, [(k, Interval(Int, M - 1 - i, M - 1))], T(i, M - 1 - k) * C(M - 1 - k, j)
        ),
        "moved": lambda: total("P", MN, [(k, Interval(Int, 1, i + 1))], T(i, k - 1) * C(k - 1, j)),
        "ones apart": lambda: total("P", MN, [(k, BEFORE)], T(i, k) * C(k, j), init=C(i, j)),
        "a diagonal apart": lambda: total("P", MN, [(k, AFTER)], T(i, k) * C(k, j), init=T(i, i) * C(i, j)),
        "at the right": lambda: total("P", MN, [(k, Interval(Int, 0, j))], C(i, k) * W(k, j)),
    },
    "trmv": {
        "a sum": lambda: total("P", [(i, upto(M))], [(k, UP_TO)], x(k) * T(i, k)),
        "ones apart": lambda: total("P", [(i, upto(M))], [(k, BEFORE)], T(i, k) * x(k), init=x(i)),
    },
    "trsm": {
        "a quotient": lambda: solved(
            MN, BEFORE, C(i, j) / T(i, i), lambda X: -(T(i, k) * X(k, j)) / T(i, i)
        ),
        "scaled": lambda: solved(
            MN, BEFORE, alpha * C(i, j) / T(i, i), lambda X: -T(i, k) / T(i, i) * X(k, j)
        ),
        "ones": lambda: solved(MN, AFTER, C(i, j), lambda X: X(k, j) * (-1.0) * T(i, k)),
        "moved": lambda: solved(MN, Interval(Int, 1, i), C(i, j), lambda X: -T(i, k - 1) * X(k - 1, j)),
        "at the right": lambda: solved(
            MN, Interval(Int, 0, j - 1), C(i, j) / W(j, j), lambda X: -X(i, k) * W(k, j) / W(j, j)
        ),
    },
    "trsv": {
        "a quotient": lambda: solved(
            [(i, upto(M))], BEFORE, x(i) / T(i, i), lambda X: -T(i, k) * X(k) / T(i, i)
        ),
        "turned": lambda: solved([(i, upto(M))], AFTER, x(i), lambda X: -X(k) * T(k, i)),
    },
}  # fmt: skip


def _two_halves(value: Any, shape: Any, other: Any = S) -> Any:
    """The stored triangle with its diagonal, and the other one from it."""
    dims, spans = [dim for dim, _ in shape], [span for _, span in shape]
    P = Reduction((dims, spans), ([*dims, k], [*spans, upto(M)]), Double, "P")
    P.defn = [
        Case(Condition(k, "<=", i), Reduce(P(*dims), S(i, k) * value, Op.Sum)),
        Case(Condition(k, ">", i), Reduce(P(*dims), value * other(k, i), Op.Sum)),
    ]
    return P


CASES = [(names, how) for names, spellings in SPELLINGS.items() for how in spellings]


@pytest.mark.parametrize(("names", "how"), CASES, ids=[f"{n}: {how}" for n, how in CASES])
def test_is_found(names: str, how: str) -> None:
    idiom = check(SPELLINGS[names][how](), sizes=((0, 2, 1, 1), (1, 1, 1, 1), (5, 3, 4, 2)))
    assert " ".join(call.routine for call in idiom.calls) == names


NEAR_MISSES: dict[str, Callable[[], Any]] = {
    "gemm, a wrong transposition": lambda: total("P", MM, IN_M, S(i, k) * T(i, j)),
    "gemm, one factor backwards": lambda: total("P", MN, IN_K, A(i, K - 1 - k) * B(k, j)),
    "gemm, a turning point that moves": lambda: total("P", MM, [(k, UP_TO)], S(i, i - k) * T(i - k, j)),
    "trmm, one factor moved": lambda: total("P", MN, [(k, Interval(Int, 1, i))], T(i, k - 1) * C(k, j)),
    "gemm, an index twice": lambda: total("P", MM, IN_M, S(i, k) * T(k, k)),
    "gemm, largest products": lambda: total("P", MN, IN_K, A(i, k) * B(k, j), op=Op.Max),
    "gemm, smallest products": lambda: total("P", MN, IN_K, A(i, k) * B(k, j), op=Op.Min),
    "gemm, products of products": lambda: total("P", MN, IN_K, A(i, k) * B(k, j), op=Op.Mul),
    "gemm, a conjugate": lambda: total("P", [(i, upto(M)), (j, upto(M))], IN_K,
                                       Conj(Z(i, k)) * Matrix(Complex, "Y", [K, M])(k, j), dtype=Complex),
    "gemm, three arrays": lambda: total("P", MN, IN_K, A(i, k) * B(k, j) * z(k)),
    "gemm, a weight": lambda: total("P", MN, IN_K, A(i, k) * B(k, j) * (k + 1)),
    "gemv, an index twice": lambda: total("P", [(i, upto(M))], IN_M, S(k, k) * x(i)),
    "gemv, largest": lambda: total("P", [(i, upto(M))], IN_K, A(i, k) * z(k), op=Op.Max),
    "ger, a row twice": lambda: point("P", MM, x(i) * u(i) + S(i, j)),
    "dot, backwards": lambda: total("P", [], IN_M, x(k) * u(M - 1 - k)),
    "dot, smallest": lambda: total("P", [], IN_M, x(k) * u(k), op=Op.Min),
    "axpy, a square": lambda: point("P", [(i, upto(M))], x(i) * x(i) + u(i)),
    "scal, backwards": lambda: point("P", [(i, upto(M))], 2.0 * x(M - 1 - i)),
    "nrm2, scaled squares": lambda: point("R", [], Sqrt(total("P", [], IN_M, 2.0 * x(k) * x(k))())),
    "symm, the diagonal twice": lambda: total("P", MN, [(k, UP_TO)], (S(i, k) + S(k, i)) * C(k, j)),
    "symm, no diagonal": lambda: total("P", MN, [(k, BEFORE)], (S(i, k) + S(k, i)) * C(k, j)),
    "symv, two arrays": lambda: _two_halves(x(k), [(i, upto(M))], T),
    "syrk, a bound off by one": lambda: total("P", [(i, upto(M)), (j, BEFORE)], IN_K, A(i, k) * A(j, k)),
    "syr2k, one half": lambda: total("P", LOWER, IN_K, A(i, k) * V(j, k) + A(i, k) * V(j, k) * 2.0),
    "herk, the other conjugate": lambda: total("P", LOWER, IN_K, Conj(Z(i, k)) * Z(j, k), dtype=Complex),
    "trmm, a bound off by one": lambda: total("P", MN, [(k, BEFORE)], T(i, k) * C(k, j)),
    "trmm, largest": lambda: total("P", MN, [(k, UP_TO)], T(i, k) * C(k, j), op=Op.Max),
    "trmv, half a diagonal": lambda: total("P", [(i, upto(M))], [(k, BEFORE)], T(i, k) * x(k),
                                           init=0.5 * x(i)),
    "trsm, a bound off by one": lambda: solved(MN, Interval(Int, 0, i - 2), C(i, j),
                                               lambda X: -T(i, k) * X(k, j)),
    "trsm, added": lambda: solved(MN, BEFORE, C(i, j), lambda X: T(i, k) * X(k, j)),
    "trsm, half a quotient": lambda: solved(MN, BEFORE, C(i, j) / T(i, i), lambda X: -T(i, k) * X(k, j)),
    "trsv, another diagonal": lambda: solved([(i, upto(M))], BEFORE, x(i) / S(i, i),
                                             lambda X: -T(i, k) * X(k) / S(i, i)),
    "trsv, the row's value": lambda: solved([(i, upto(M))], BEFORE, x(i), lambda X: -T(i, k) * X(i - 1)),
}  # fmt: skip


NO_SYSTEMS = {
    "trsm, a bound off by one": "its sum is not over all indices on one side of the diagonal: ",
    "trsm, added": "whose sum is not subtracted from the right-hand side",
    "trsm, half a quotient": "C(i, j) / T(i, i) and T(i, k) are not divided by the same",
    "trsv, another diagonal": "it is divided by S(i, i), which is not the diagonal of T(i, k)",
    "trsv, the row's value": "X(i - 1) is not X at its own indices with the summed one for the triangle's",
}


@pytest.mark.parametrize("name", NO_SYSTEMS)
def test_why_a_recurrence_is_no_system(name: str) -> None:
    assert NO_SYSTEMS[name] in recognised(NEAR_MISSES[name]()).reason


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_every_near_miss_has_a_reason(name: str) -> None:
    assert recognised(NEAR_MISSES[name]()).reason


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_is_not_found(name: str) -> None:
    assert routines(NEAR_MISSES[name]()) == []
