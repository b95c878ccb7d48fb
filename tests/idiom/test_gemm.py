"""Matrix products, however they are written; and what only looks like one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from polymat import (
    Case,
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
    Reduce,
    Reduction,
    Variable,
    Vector,
    gemm,
)  # fmt: skip
from polymat.idiom.call import LibraryCall
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
At, Bt = Matrix(Double, "At", [K, M]), Matrix(Double, "Bt", [N, K])
T = Image(Double, "T", [L, M, K])
MN = [(i, upto(M)), (j, upto(N))]
IN_K = [(k, upto(K))]


def one(*outputs: Function, **options: Any) -> LibraryCall:
    """The single call that the outputs are, checked against the interpreter."""
    (call,) = check(*outputs, **options).calls
    assert call.routine == "gemm"
    return call


@pytest.mark.parametrize(
    ("left", "right", "transposed"),
    [
        (A(i, k), B(k, j), (False, False)),
        (At(k, i), B(k, j), (True, False)),
        (A(i, k), Bt(j, k), (False, True)),
        (At(k, i), Bt(j, k), (True, True)),
    ],
)
def test_transpositions(left: Any, right: Any, transposed: tuple[bool, bool]) -> None:
    for value in (left * right, right * left, alpha * (left * right), (right * alpha) * left / beta):
        call = one(total("P", MN, IN_K, value))
        assert tuple(operand.transposed for operand in call.operands) == transposed
        assert [operand.source for operand in call.operands] == [left.source.name, right.source.name]
        assert str(call.axis("k")) == "k"


def test_algebra() -> None:
    call = one(gemm(A, B, C, alpha, beta))
    assert str(call) == "gemm(A(i, k), B(k, j); m=i n=j k=k)"
    assert str(call.alpha) == "alpha"
    one(A @ B)
    one(2.0 * (At.T @ Bt.T) - C)
    one(C + (A @ B) * alpha)


def test_accumulation_is_beta() -> None:
    idiom = check(gemm(A, B, C, alpha, beta))
    assert [(str(term.scale), *map(str, term.factors)) for term in idiom.start] == [("beta", "C(i, j)")]
    assert check(gemm(A, B, C, alpha, 0)).start == ()
    transposed = check(
        point("R", MN, total("P", MN, IN_K, A(i, k) * B(k, j))(i, j) + Matrix(Double, "D", [N, M])(j, i))
    )
    assert [(term.scale, *map(str, term.factors)) for term in transposed.start] == [(None, "D(j, i)")]


@pytest.mark.parametrize("seed", range(12))
def test_names_and_order_do_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(["i", "j", "k", "p", "zz", "a"], 3)
    m, n, s = (Variable(Int, name) for name in names)
    inner = rng.sample([(m, upto(M)), (n, upto(N)), (s, upto(K))], 3)
    r = Reduction(
        ([i, j], [upto(M), upto(N)]), ([v for v, _ in inner], [span for _, span in inner]), Double, "P"
    )
    factors = rng.sample([At(s, m), B(s, n), alpha], 3)
    r.defn = [Reduce(r(m, n), factors[0] * factors[1] * factors[2], Op.Sum)]
    call = one(r)
    assert [operand.transposed for operand in call.operands] == [True, False]


def test_blocks_and_strides_of_larger_arrays() -> None:
    """C(i, j) = sum of A(2 i + 1, k + 2) B(k, j + 1): other leading dimensions and origins."""
    wide, long = Matrix(Double, "W", [2 * M + 1, K + 2]), Matrix(Double, "V", [K, N + 3])
    call = one(total("P", MN, IN_K, wide(2 * i + 1, k + 2) * long(k, j + 1)))
    assert str(call.operands[0].leading) == "Stride(factor=2, extents=(K + 2,))"


def test_interior_of_the_result() -> None:
    inner = [(i, Interval(Int, 1, M)), (j, Interval(Int, 2, N + 1))]
    call = one(total("P", inner, IN_K, A(i - 1, k) * B(k, j - 2)))
    assert [str(call.axis(role).low[0]) for role in ("m", "n", "k")] == ["1", "2", "0"]


def test_merged_rows() -> None:
    """doitgen: A(r, q, s) C(s, p) is one product with r q rows."""
    r, q = Variable(Int, "r"), Variable(Int, "q")
    call = one(total("P", [(r, upto(L)), (q, upto(M)), (j, upto(N))], IN_K, T(r, q, k) * B(k, j)))
    assert str(call) == "gemm(T(r, q, k), B(k, j); m=r*q n=j k=k)"
    assert not call.batch


def test_merged_columns_and_sums() -> None:
    E, F = Image(Double, "E", [K, L, N]), Image(Double, "F", [M, K, L])
    call = one(total("P", MN, [(k, upto(K)), (l, upto(L))], F(i, k, l) * E(k, l, j)))
    assert str(call.axis("k")) == "k*l"
    call = one(total("P", [(i, upto(M)), (l, upto(L)), (j, upto(N))], IN_K, A(i, k) * E(k, l, j)))
    assert str(call.axis("n")) == "l*j"


def test_rows_of_a_part_do_not_merge() -> None:
    """Rows of a slab that is not whole rows of the array are a batch."""
    wide = Image(Double, "W", [L, M + 1, K])
    call = one(total("P", [(l, upto(L)), (i, upto(M)), (j, upto(N))], IN_K, wide(l, i, k) * B(k, j)))
    assert len(call.batch) == 1
    assert [str(call.axis("m")), str(call.batch[0])] == ["i", "l"]


def test_batches() -> None:
    S = Image(Double, "S", [L, K, N])
    shape = [(l, upto(L)), (i, upto(M)), (j, upto(N))]
    call = one(total("P", shape, IN_K, T(l, i, k) * S(l, k, j)))
    assert str(call) == "gemm(T(l, i, k), S(l, k, j); m=i n=j k=k) for each l"
    call = one(total("P", [shape[1], shape[0], shape[2]], IN_K, T(l, i, k) * S(l, k, j)))
    assert str(call.batch[0]) == "l"


def test_complex_and_conjugates() -> None:
    """BLAS conjugates what it transposes, and nothing else."""
    X, Y, Yt = Matrix(Complex, "X", [M, K]), Matrix(Complex, "Y", [K, N]), Matrix(Complex, "Yt", [N, K])
    call = one(total("P", MN, IN_K, 2j * X(i, k) * Conj(Yt(j, k)), dtype=Complex))
    assert [operand.conjugated for operand in call.operands] == [False, True]
    one(total("P", MN, IN_K, X(i, k) * Y(k, j), dtype=Complex))
    for value in (X(i, k) * Conj(Y(k, j)), Conj(X(i, k) * Y(k, j)), Conj(X(i, k)) * Conj(Yt(j, k))):
        assert routines(total("P", MN, IN_K, value, dtype=Complex)) == []


def test_sum_of_two_products() -> None:
    both = total("P", MN, IN_K, A(i, k) * B(k, j) + 2.0 * At(k, i) * Bt(j, k))
    assert [call.routine for call in check(both).calls] == ["gemm", "gemm"]
    assert routines(A @ B + At.T @ Bt.T - C) == ["gemm", "gemm"]


@pytest.mark.parametrize(
    "value",
    [
        A(i, k) * B(k, j) * A(i, k),
        A(i, k) * Bt(j, k) * B(k, j),
        A(i, k) * C(i, j),
        A(i, k) + B(k, j),
        A(i, k) * Vector(Double, "x", [N])(j) / B(k, j),
        i * A(i, k) * B(k, j),
        Image(Double, "V", [K, M, 2])(k, i, 0) * B(k, j),
        Image(Double, "V", [M + K])(i + k) * B(k, j),
        A(M - 1 - i, k) * B(k, j),
    ],
)
def test_near_misses(value: Any) -> None:
    assert "gemm" not in routines(total("P", MN, IN_K, value))


def test_index_used_twice() -> None:
    S = Matrix(Double, "S", [M, M])
    rows = [(i, upto(M)), (j, upto(M))]
    assert routines(total("P", rows, [(k, upto(M))], S(k, k) * S(i, j))) == []
    assert routines(total("P", rows, [(k, upto(M))], S(i, i) * S(k, j))) == []


@pytest.mark.parametrize("op", [Op.Max, Op.Min, Op.Mul])
def test_other_operations(op: Op) -> None:
    assert routines(total("P", MN, IN_K, A(i, k) * B(k, j), op=op)) == []


def test_integers() -> None:
    G, H = Matrix(Int, "G", [M, K]), Matrix(Int, "H", [K, N])
    found = recognised(total("P", MN, IN_K, G(i, k) * H(k, j), dtype=Int))
    assert found.idiom is None
    assert found.reason == "libraries do not multiply Int"


def test_mixed_types() -> None:
    F, X = Matrix(Float, "F", [M, K]), Matrix(Complex, "X", [M, K])
    assert routines(total("P", MN, IN_K, F(i, k) * B(k, j))) == []
    assert routines(total("P", MN, IN_K, X(i, k) * B(k, j), dtype=Complex)) == []


def test_part_of_the_domain() -> None:
    for condition in (
        Condition(k, "<=", i),
        Condition(j, "<", i),
        Condition(i + j, "<=", k),
        Condition(k % 2, "==", 0),
    ):
        r = Reduction(([i, j], [upto(M), upto(N)]), ([i, j, k], [upto(M), upto(N), upto(K)]), Double, "P")
        r.defn = [Case(condition, Reduce(r(i, j), A(i, k) * B(k, j), Op.Sum))]
        assert routines(r) == []


def test_a_nonlinear_epilogue_is_not_part_of_the_product() -> None:
    P = total("P", MN, IN_K, A(i, k) * B(k, j))
    assert routines(point("R", MN, P(i, j) * P(i, j))) == []
    assert routines(point("R", MN, P(i, j) * C(i, j))) == []
