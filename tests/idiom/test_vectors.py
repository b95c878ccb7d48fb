"""gemv, dot, axpy and scal."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Complex,
    Conj,
    Double,
    Exp,
    Float,
    Image,
    Int,
    Interval,
    Matrix,
    Op,
    Real,
    Sqrt,
    Vector,
    dot,
)  # fmt: skip
from polymat.idiom.call import LibraryCall
from tests.idiom.recognise import (
    L,
    M,
    N,
    alpha,
    beta,
    check,
    i,
    j,
    l,
    point,
    routines,
    total,
    upto,
)  # fmt: skip

A, x, y = Matrix(Double, "A", [M, N]), Vector(Double, "x", [N]), Vector(Double, "y", [M])
ROWS, IN_N = [(i, upto(M))], [(j, upto(N))]
Z, z = Matrix(Complex, "Z", [M, N]), Vector(Complex, "z", [N])


def one(*outputs: Any, **options: Any) -> LibraryCall:
    (call,) = check(*outputs, **options).calls
    return call


def test_gemv() -> None:
    assert str(one(A @ x)) == "gemv(A(i, j), x(j); m=i k=j)"
    assert str(one(A.T @ y)) == "gemv(A(j, i)^T, y(j); m=i k=j)"
    assert one(y + alpha * (A @ x)).alpha is not None
    assert one(total("P", ROWS, IN_N, x(j) * A(i, j), init=beta * y(i))).routine == "gemv"
    B = Matrix(Double, "B", [M, N])
    assert [call.routine for call in check(alpha * (A @ x) + beta * (B @ x)).calls] == ["gemv", "gemv"]


def test_gemv_with_increments() -> None:
    """A column of a matrix as the vector, a column as the result's neighbour in a batch."""
    B = Matrix(Double, "B", [N, 3])
    call = one(total("P", ROWS, IN_N, A(i, j) * B(j, 1)))
    assert str(call.operands[1].leading) == "Stride(factor=3, extents=())"
    T = Image(Double, "T", [L, M, N])
    call = one(total("P", [*ROWS, (l, upto(L))], IN_N, T(l, i, j) * x(j)))
    assert (call.routine, len(call.batch)) == ("gemv", 1)


def test_gemv_with_a_conjugated_matrix() -> None:
    w = Vector(Complex, "w", [M])
    call = one(total("P", [(j, upto(N))], [(i, upto(M))], Conj(Z(i, j)) * w(i), dtype=Complex))
    assert call.operands[0].conjugated
    assert routines(total("P", ROWS, IN_N, Conj(Z(i, j)) * z(j), dtype=Complex)) == []
    assert routines(total("P", ROWS, IN_N, Z(i, j) * Conj(z(j)), dtype=Complex)) == []


@pytest.mark.parametrize(
    "output",
    [
        total("P", ROWS, [(j, Interval(Int, 0, i))], Matrix(Double, "S", [M, M + 1])(i, j) * y(i)),
        total("P", ROWS, IN_N, A(i, j) * x(j), op=Op.Max),
        total("P", ROWS, IN_N, A(i, j) * x(j) * x(j)),
        total("P", ROWS, IN_N, A(i, j) * y(i)),
        total("P", ROWS, IN_N, A(i, j)),
        total("P", ROWS, IN_N, Image(Double, "T", [M, N, 2])(i, j, 0) * x(j)),
    ],
)
def test_near_gemv(output: Any) -> None:
    assert routines(output) == []


def test_dot() -> None:
    v = Vector(Double, "v", [N])
    assert str(one(dot(x, v))) == "dot(x(j), v(j); k=j)".replace("j", "i")
    assert one(point("R", [], alpha * dot(x, v)() + 1.0)).routine == "dot"
    rows = one(total("P", ROWS, IN_N, A(i, j) * A(i, j)))
    assert (rows.routine, len(rows.batch)) == ("dot", 1)
    B = Matrix(Double, "B", [M, N])
    assert str(one(total("P", [], [(i, upto(M)), (j, upto(N))], A(i, j) * B(i, j))).axis("k")) == "i*j"


def test_dot_of_complex_values() -> None:
    w = Vector(Complex, "w", [N])
    assert one(total("P", [], IN_N, z(j) * w(j), dtype=Complex)).routine == "dot"
    call = one(total("P", [], IN_N, z(j) * Conj(w(j)), dtype=Complex))
    assert (call.routine, call.operands[0].source) == ("dotc", "w")
    assert routines(total("P", [], IN_N, Conj(z(j)) * Conj(w(j)), dtype=Complex)) == []


def test_near_dot() -> None:
    v = Vector(Double, "v", [2 * N])
    assert routines(total("P", [], IN_N, x(j) * v(N - 1 - j))) == []
    assert one(total("P", [], IN_N, x(j) * v(2 * j))).routine == "dot"
    assert routines(total("P", [], IN_N, x(j) * v(j), op=Op.Mul)) == []
    assert routines(total("P", [], [(i, upto(M)), (j, upto(N))], y(i) * x(j))) == []
    with_half = total("P", [], IN_N, x(j) * Vector(Float, "f", [N])(j))
    assert routines(with_half) == []


def test_axpy_and_scal() -> None:
    u = Vector(Double, "u", [M])
    call = one(alpha * u + y)
    assert (call.routine, call.operands[0].source) == ("axpy", "u")
    assert one(y - 2.0 * u).operands[0].source == "u"
    assert one(beta * u).routine == "scal"
    assert routines(point("R", ROWS, u(i) * y(i))) == []
    assert routines(point("R", ROWS, u(i) + y(i) + 1.0 / u(i))) == []
    assert routines(point("R", ROWS, u(M - 1 - i) * alpha)) == []


def test_nrm2() -> None:
    squares = total("P", [], IN_N, x(j) * x(j))
    assert one(point("R", [], Sqrt(squares()))).routine == "nrm2"
    column = Matrix(Double, "B", [N, 3])
    assert one(point("R", [], Sqrt(total("P", [], IN_N, column(j, 1) ** 2)()))).routine == "nrm2"
    complex_squares = total("P", [], IN_N, z(j) * Conj(z(j)), dtype=Complex)
    assert one(point("R", [], Sqrt(Real(complex_squares())))).routine == "nrm2"


def test_near_nrm2() -> None:
    v = Vector(Double, "v", [N])
    for value in (x(j) * v(j), x(j), 2.0 * x(j) * x(j), x(j) * x(j) * x(j), x(j) + v(j)):
        assert routines(point("R", [], Sqrt(total("P", [], IN_N, value)()))) == []
    squares = total("P", [], IN_N, x(j) * x(j))
    assert routines(point("R", [], Exp(squares()))) == []
    assert routines(point("R", [], Sqrt(squares() + 1.0))) == []
    assert routines(point("R", [], Sqrt(total("Q", [], IN_N, x(j) * x(j), init=1.0)()))) == []
    unconjugated = total("P", [], IN_N, z(j) * z(j), dtype=Complex)
    assert routines(point("R", [], Sqrt(Real(unconjugated())))) == []
    assert routines(point("R", [], Sqrt(unconjugated()), Complex)) == []
