"""Why sums are no library calls: each reason is true, since without what it names a routine matches."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Abs,
    Case,
    Cast,
    Complex,
    Condition,
    Conj,
    Double,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Matrix,
    Op,
    Select,
    Vector,
)
from tests.idiom.recognise import K, L, M, N, i, j, k, l, point, recognised, total, upto

A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
S, T = Matrix(Double, "S", [M, M]), Matrix(Double, "T", [M + 1, N])
U = Matrix(Double, "U", [M, M + 1])
x, y = Vector(Double, "x", [K]), Vector(Double, "y", [M + K])
Z, Y = Matrix(Complex, "Z", [M, K]), Matrix(Complex, "Y", [K, N])
z, w = Vector(Complex, "z", [K]), Vector(Complex, "w", [K])
X, Z2, z_ = Matrix(Complex, "X", [M, M]), Matrix(Complex, "Z", [M, N]), Vector(Double, "z", [M])
F, H = Matrix(Float, "F", [K, N]), Matrix(Int, "H", [M, K])
G = Matrix(Int, "G", [K, N])
D, E = Image(Double, "D", [N, M, K]), Image(Double, "E", [N, K, L])
P, Q = Image(Double, "P", [M, K, L]), Image(Double, "Q", [L, K, N])
MN, MK, SUM = [(i, upto(M)), (j, upto(N))], [(i, upto(M))], [(k, upto(K))]
BELOW, UP = [(i, upto(M)), (j, Interval(Int, 0, i))], [(k, Interval(Int, 0, i))]


def gemm(value: Any, dtype: Any = Double, **other: Any) -> Function:
    return total("R", MN, SUM, value, dtype=dtype, **other)


def gemv(value: Any, dtype: Any = Double) -> Function:
    return total("R", MK, SUM, value, dtype=dtype)


def rows(value: Any, last: Any) -> Function:
    return total("R", MN, [(k, Interval(Int, 0, last))], value)


def below(value: Any, last: Any = i) -> Function:
    return total("R", [(i, upto(M)), (j, Interval(Int, 0, last))], SUM, value)


def both_sides(above: Any) -> Function:
    """Products with the lower triangle and, for k > i, with `above`: symmetric where that mirrors it."""
    halves = [Case(Condition(k, "<=", i), S(i, k)), Case(Condition(k, ">", i), above)]
    square = point("Q", [(i, upto(M)), (k, upto(M))], halves)
    return total("R", MN, [(k, upto(M))], square(i, k) * C(k, j))


GOOD = gemm(A(i, k) * B(k, j))

NEAR_MISSES: dict[str, tuple[Function, str, Function]] = {
    "maximum": (gemm(A(i, k) * B(k, j), op=Op.Max), "by Op.Max, and libraries add", GOOD),
    "integers": (gemm(H(i, k) * G(k, j), Int), "libraries do not multiply Int", GOOD),
    "three arrays": (gemm(A(i, k) * B(k, j) * x(k)), "3 array elements are multiplied: A(i, k), ", GOOD),
    "magnitudes": (gemm(Abs(A(i, k)) * B(k, j)), "Abs(A(i, k)) is no array element", GOOD),
    "precisions": (gemm(A(i, k) * F(k, j)), "F(k, j) is Float and the result Double: convert", GOOD),
    "real times complex": (
        gemm(A(i, k) * Y(k, j), Complex),
        "real and complex values are multiplied: A(i, k) is Double, Y(k, j) is Complex",
        gemm(Z(i, k) * Y(k, j), Complex),
    ),
    "a quotient": (gemm(A(i, k) * B(k, j) / A(i, 0)), "it is divided by A(i, 0)", GOOD),
    "a weight": (gemm(A(i, k) * B(k, j) * (k + 1)), "its factor k + 1 is computed of indices", GOOD),
    "values compared": (
        gemm(Select(Condition(A(i, k), ">", 0.0), A(i, k), 0.0) * B(k, j)),
        "Select(A(i, k) > 0.0, A(i, k), 0.0) is no array element",
        GOOD,
    ),
    "one array": (gemv(A(i, k)), "A(i, k) is summed alone", gemv(A(i, k) * x(k))),
    "an index in neither": (gemm(A(i, k) * x(k)), "neither A(i, k) nor x(k) depends on j", GOOD),
    "a sum over one": (gemm(A(i, k) * C(i, j)), "k is summed over and C(i, j) does not depend on it", GOOD),
    "an index used twice": (
        total("R", [(i, upto(M))], [(k, upto(M))], S(k, k) * S(i, k)),
        "k is in 2 indices of S(k, k)",
        total("R", [(i, upto(M))], [(k, upto(M))], S(0, k) * S(i, k)),
    ),
    "elements twice each": (gemm(A(i, k) * B(k // 2, j)), "k does not move B((k)//2, j) by a constant", GOOD),
    "one operand backwards": (gemm(A(i, K - 1 - k) * B(k, j)), "k runs backwards in A(i, ", GOOD),
    "sliding": (gemm(y(i + k) * B(k, j)), "i and k are in one index of y(i + k)", GOOD),
    "no neighbours": (
        gemm(Matrix(Double, "W", [2 * M, 2 * K])(2 * i, 2 * k) * B(k, j)),
        "none of i, k moves W(2*i, 2*k) from one element to the next",
        GOOD,
    ),
    "last index a batch": (
        total("R", [(i, upto(M)), (l, upto(L)), (j, upto(N))], SUM, D(j, i, k) * E(j, k, l)),
        "j, along which results are neighbours, is an index of both arrays: ",
        total("R", [(j, upto(N)), (i, upto(M)), (l, upto(L))], SUM, D(j, i, k) * E(j, k, l)),
    ),
    "sums in another order": (
        total("R", MN, [(k, upto(K)), (l, upto(L))], P(i, k, l) * Q(l, k, j)),
        "k and l do not run over the elements of P(i, k, l) and Q(l, k, j) as one index would",
        total("R", MN, [(k, upto(K)), (l, upto(L))], P(i, k, l) * Image(Double, "Q", [K, L, N])(k, l, j)),
    ),
    "conjugates": (
        gemm(Conj(Z(i, k)) * Y(k, j), Complex),
        "libraries conjugate what is transposed alone, and not conj(Z(i, k))",
        gemm(Conj(Matrix(Complex, "Z", [K, M])(k, i)) * Y(k, j), Complex),
    ),
    "a conjugated vector": (
        gemv(Z(i, k) * Conj(z(k)), Complex),
        "no routine conjugates the vector: conj(z(k))",
        gemv(Z(i, k) * z(k), Complex),
    ),
    "two conjugates": (
        total("R", [], SUM, Conj(z(k)) * Conj(w(k)), dtype=Complex),
        "both factors are conjugated",
        total("R", [], SUM, Conj(z(k)) * w(k), dtype=Complex),
    ),
    "a bound off by one": (
        rows(U(i, k) * T(k, j), i + 1),
        "no rectangle with affine bounds and no triangle up to a diagonal",
        rows(S(i, k) * C(k, j), i),
    ),
    "below the diagonal": (
        rows(S(i, k) * C(k, j), i - 1),
        "a triangle of the sum is without its diagonal",
        rows(S(i, k) * C(k, j), i),
    ),
    "a triangle that is added": (
        total("R", MN, UP, S(i, k) * C(k, j), init=C(i, j)),
        "a triangle of the sum is added to something",
        rows(S(i, k) * C(k, j), i),
    ),
    "half of a product": (
        below(A(i, k) * Matrix(Double, "V", [M, K])(j, k)),
        "a triangle of the result is computed, which libraries do for an array times its own",
        below(A(i, k) * A(j, k)),
    ),
    "strictly half": (
        below(A(i, k) * A(j, k), i - 1),
        "a triangle of the result is without its diagonal",
        below(A(i, k) * A(j, k)),
    ),
    "a triangle of more than a matrix": (
        total("R", [(i, upto(M)), (j, upto(N))], UP, Image(Double, "V", [M, N, M])(i, j, k) * z_(k)),
        "i and j are in V(i, j, k) alone, which is no matrix then",
        total("R", MK, UP, S(i, k) * z_(k)),
    ),
    "two indices across": (
        total(
            "R",
            [(i, upto(M)), (j, upto(N)), (l, upto(L))],
            UP,
            S(i, k) * Image(Double, "V", [M, L, N])(k, l, j),
        ),
        "j and l do not run over the elements of V(k, l, j) and the result as one index would",
        total(
            "R",
            [(i, upto(M)), (j, upto(N)), (l, upto(L))],
            UP,
            S(i, k) * Image(Double, "V", [M, N, L])(k, j, l),
        ),
    ),
    "a triangle of conjugates": (
        total("R", MN, UP, Conj(X(i, k)) * Z2(k, j), dtype=Complex),
        "no routine conjugates beside a triangle: conj(X(i, k))",
        total("R", MN, UP, X(i, k) * Z2(k, j), dtype=Complex),
    ),
    "a triangle between two arrays": (
        total("R", MN, UP, S(i, k) * Image(Double, "V", [M, M, N])(i, k, j)),
        "i and k, of the triangle, are not both in one alone of ",
        rows(S(i, k) * C(k, j), i),
    ),
    "no symmetric array": (
        both_sides(S(i, k)),
        "its sums on both sides of the diagonal, C(k, j) * S(i, k) and C(k, j) * S(i, k), are not",
        both_sides(S(k, i)),
    ),
    "a start of magnitudes": (
        gemm(A(i, k) * B(k, j), init=Abs(C(i, j))),
        "Abs(C(i, j)) is no array element",
        gemm(A(i, k) * B(k, j), init=C(i, j)),
    ),
}


@pytest.mark.parametrize("name", [name for name, (_, reason, _) in NEAR_MISSES.items() if reason])
def test_without_what_is_named_it_is_a_call(name: str) -> None:
    near_miss, reason, mended = NEAR_MISSES[name]
    found = recognised(near_miss)
    assert found.idiom is None
    assert reason in found.reason
    assert recognised(mended).idiom is not None
    assert recognised(mended).reason == ""


def test_the_term_that_is_no_call_is_the_one_named() -> None:
    both = gemm(A(i, k) * B(k, j) + A(i, k) * B(k // 2, j))
    assert "B((k)//2, j)" in recognised(both).reason


def test_other_stages_have_reasons_too() -> None:
    rectified = point("R", MN, Select(Condition(C(i, j), ">", 0.0), C(i, j), 0.0))
    assert "is no array element" in recognised(rectified).reason
    converted = gemm(Cast(Double, F(k, j)) * A(i, k))
    assert "F(k, j) is Float and the result Double" in recognised(converted).reason
