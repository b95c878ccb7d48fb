"""Rank-k and rank-2k updates of a triangle, and rank-1 updates."""

from __future__ import annotations

from typing import Any

import pytest

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
    Vector,
    outer,
    syr2k,
    syrk,
)  # fmt: skip
from polymat.idiom.call import LibraryCall
from tests.idiom.recognise import K, L, M, N, alpha, beta, check, i, j, k, l, point, routines, total, upto

A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [M, K]), Matrix(Double, "C", [M, M])
At, Bt = Matrix(Double, "At", [K, M]), Matrix(Double, "Bt", [K, M])
Z, Zt = Matrix(Complex, "Z", [M, K]), Matrix(Complex, "Zt", [K, M])
LOWER = [(i, upto(M)), (j, Interval(Int, 0, i))]
UPPER = [(i, upto(M)), (j, Interval(Int, i, M - 1))]
STRICT = [(i, upto(M)), (j, Interval(Int, 0, i - 1))]
IN_K = [(k, upto(K))]


def one(*outputs: Any) -> LibraryCall:
    (call,) = check(*outputs).calls
    return call


def kind(call: LibraryCall) -> tuple[Any, ...]:
    return call.routine, call.triangle, tuple(operand.transposed for operand in call.operands)


def test_algebra() -> None:
    assert kind(one(syrk(A, C, alpha, beta))) == ("syrk", "lower", (False,))
    assert kind(one(syr2k(A, B, C, alpha, beta))) == ("syr2k", "lower", (False, False))


@pytest.mark.parametrize(("shape", "triangle"), [(LOWER, "lower"), (UPPER, "upper")])
def test_triangles_and_transpositions(shape: Any, triangle: str) -> None:
    assert kind(one(total("P", shape, IN_K, A(i, k) * A(j, k)))) == ("syrk", triangle, (False,))
    assert kind(one(total("P", shape, IN_K, At(k, j) * alpha * At(k, i)))) == ("syrk", triangle, (True,))
    value = At(k, j) * Bt(k, i) + At(k, i) * Bt(k, j)
    assert kind(one(total("P", shape, IN_K, value))) == ("syr2k", triangle, (True, True))


def test_a_condition_instead_of_an_interval() -> None:
    P = total("P", [(i, upto(M)), (j, upto(M))], IN_K, A(i, k) * A(j, k))
    lower = point("R", [(i, upto(M)), (j, upto(M))], [
        Case(Condition(j, "<=", i), P(i, j)), Case(Condition(j, ">", i), C(i, j)),
    ])  # fmt: skip
    idiom = check(lower)
    assert [call.routine for call in idiom.calls] == ["syrk"]
    assert len(idiom.others) == 1


def test_two_sums_are_one_rank_2k_update() -> None:
    P = total("P", LOWER, IN_K, A(i, k) * B(j, k))
    Q = total("Q", LOWER, [(l, upto(K))], A(j, l) * B(i, l))
    assert one(point("R", LOWER, alpha * P(i, j) + alpha * Q(i, j) + C(i, j))).routine == "syr2k"


def test_batch() -> None:
    T = Image(Double, "T", [L, M, K])
    call = one(total("P", [(l, upto(L)), *LOWER], IN_K, T(l, i, k) * T(l, j, k)))
    assert (call.routine, [str(axis) for axis in call.batch]) == ("syrk", ["l"])


def test_hermitian() -> None:
    assert one(total("P", LOWER, IN_K, Z(i, k) * Z(j, k), dtype=Complex)).routine == "syrk"
    assert one(total("P", LOWER, IN_K, 2.0 * Z(i, k) * Conj(Z(j, k)), dtype=Complex)).routine == "herk"
    assert one(total("P", LOWER, IN_K, Conj(Zt(k, i)) * Zt(k, j), dtype=Complex)).routine == "herk"


@pytest.mark.parametrize(
    "value",
    [
        Conj(Z(i, k)) * Z(j, k),
        Conj(Z(i, k)) * Conj(Z(j, k)),
        Zt(k, i) * Conj(Zt(k, j)),
        2j * Z(i, k) * Conj(Z(j, k)),
    ],
)
def test_conjugates_that_blas_has_not(value: Any) -> None:
    assert routines(total("P", LOWER, IN_K, value, dtype=Complex)) == []


@pytest.mark.parametrize(
    "output",
    [
        total("P", STRICT, IN_K, A(i, k) * A(j, k)),
        total("P", [(i, upto(M)), (j, Interval(Int, 0, i + 1))], IN_K,
              Matrix(Double, "W", [M + 1, K])(i, k) * Matrix(Double, "W2", [M + 1, K])(j, k)),
        total("P", LOWER, IN_K, A(i, k) * B(j, k)),
        total("P", LOWER, IN_K, A(i, k) * Matrix(Double, "S", [M, M])(i, j)),
        total("P", LOWER, IN_K, A(i, k) * A(j, k), op=Op.Max),
        total("P", LOWER, IN_K, A(i, k) * A(j, k) * A(j, k)),
        total("P", LOWER, IN_K, A(i, k) * B(j, k) + A(j, k) * A(i, k)),
        total("P", LOWER, IN_K, A(i, k) * B(j, k) + 2.0 * B(i, k) * A(j, k)),
        total("P", LOWER, IN_K, A(i, k) * B(j, k) + A(i, k) * B(j, k)),
        total("P", LOWER, IN_K, A(i, k) * Bt(k, j) + Bt(k, i) * A(j, k)),
    ],
)  # fmt: skip
def test_near_misses(output: Any) -> None:
    assert routines(output) == []


def test_rank_one_updates() -> None:
    x, y, u = Vector(Double, "x", [M]), Vector(Double, "y", [N]), Vector(Double, "u", [N])
    D = Matrix(Double, "D", [M, N])
    assert one(D + alpha * outer(x, y)).routine == "ger"
    assert [call.routine for call in check(D + outer(x, y) - 2.0 * outer(x, u)).calls] == ["ger", "ger"]
    assert one(outer(x, y)).routine == "ger"
    MN = [(i, upto(M)), (j, upto(N))]
    v, w = Vector(Complex, "v", [M]), Vector(Complex, "w", [N])
    assert one(point("R", MN, v(i) * Conj(w(j)), Complex)).routine == "gerc"
    assert routines(point("R", MN, Conj(v(i)) * w(j), Complex)) == []
    assert routines(point("R", MN, x(i) * x(i) + D(i, j))) == []
    u = Vector(Double, "u", [M])
    assert kind(one(point("R", LOWER, alpha * x(j) * x(i) + C(i, j)))) == ("syr", "lower", (False,))
    assert kind(one(point("R", UPPER, x(i) * x(j)))) == ("syr", "upper", (False,))
    assert kind(one(point("R", UPPER, C(i, 0) * C(j, 0)))) == ("syr", "upper", (False,))
    assert routines(point("R", LOWER, x(i) * u(j))) == []
    assert routines(point("R", STRICT, x(i) * x(j))) == []
    assert routines(point("R", LOWER, x(i) * x(M - 1 - j))) == []
    assert routines(point("R", LOWER, v(i) * Conj(v(j)), Complex)) == []
