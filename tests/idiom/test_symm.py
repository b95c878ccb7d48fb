"""Products with a symmetric array of which one triangle is read."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Case,
    Complex,
    Condition,
    Conj,
    Double,
    Matrix,
    Op,
    Reduce,
    Reduction,
    Select,
    Vector,
    symm,
)
from polymat.idiom.call import LibraryCall
from tests.idiom.recognise import (
    M,
    N,
    alpha,
    beta,
    check,
    i,
    j,
    k,
    pipeline,
    point,
    recognised,
    routines,
    total,
    upto,
)  # fmt: skip

S, B, C = Matrix(Double, "S", [M, M]), Matrix(Double, "B", [M, N]), Matrix(Double, "C", [M, N])
R = Matrix(Double, "R", [N, N])
MN, IN_M, IN_N = [(i, upto(M)), (j, upto(N))], [(k, upto(M))], [(k, upto(N))]
BELOW, ABOVE = Condition(k, "<=", i), Condition(k, ">", i)


def halves(condition: Condition, one: Any, rest: Condition, other: Any, op: Op = Op.Sum) -> Reduction:
    r = Reduction(([i, j], [upto(M), upto(N)]), ([i, j, k], [upto(M), upto(N), upto(M)]), Double, "P")
    r.defn = [Case(condition, Reduce(r(i, j), one, op)), Case(rest, Reduce(r(i, j), other, op))]
    return r


def one(*outputs: Any) -> LibraryCall:
    (call,) = check(*outputs).calls
    return call


def test_algebra() -> None:
    call = one(symm(S, B, C, M, N, alpha, beta))
    assert (call.routine, call.side, call.triangle) == ("symm", "left", "lower")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_each_triangle(lower: bool, strict: bool) -> None:
    """The stored triangle is the one that is read, whichever side the diagonal is on."""
    below, above = Condition(k, "<" if strict else "<=", i), Condition(k, ">=" if strict else ">", i)
    first, second = (S(i, k), S(k, i)) if lower else (S(k, i), S(i, k))
    call = one(halves(below, first * B(k, j), above, B(k, j) * second))
    assert (call.routine, call.side, call.triangle) == ("symm", "left", "lower" if lower else "upper")


def test_through_a_view() -> None:
    view = point("V", [(i, upto(M)), (k, upto(M))], [Case(BELOW, S(i, k)), Case(ABOVE, S(k, i))])
    P = total("P", MN, IN_M, view(i, k) * B(k, j))
    assert one(point("out", MN, alpha * P(i, j) - C(i, j))).triangle == "lower"


def test_select() -> None:
    assert one(total("P", MN, IN_M, Select(BELOW, S(i, k), S(k, i)) * B(k, j))).triangle == "lower"


@pytest.mark.parametrize("lower", [False, True])
def test_right_side(lower: bool) -> None:
    first, second = (R(k, j), R(j, k)) if lower else (R(j, k), R(k, j))
    call = one(total("P", MN, IN_N, Select(Condition(k, ">=", j), first, second) * B(i, k)))
    assert (call.routine, call.side, call.triangle) == ("symm", "right", "lower" if lower else "upper")


def test_the_diagonal_apart() -> None:
    """As PolyBench's C has it: what is below, what is above, and the diagonal added once."""
    P = halves(Condition(k, "<", i), S(i, k) * B(k, j), ABOVE, S(k, i) * B(k, j))
    call = one(point("out", MN, alpha * P(i, j) + beta * C(i, j) + alpha * B(i, j) * S(i, i)))
    assert (call.routine, call.triangle) == ("symm", "lower")
    for wrong in (B(i, j) * S(i, i), alpha * C(i, j) * S(i, i), alpha * B(i, j) * S(0, i)):
        constraints = [Condition(M, ">=", 1)]
        found = recognised(point("out", MN, alpha * P(i, j) + wrong), constraints=constraints)
        assert found.idiom is None


def test_symv() -> None:
    x = Vector(Double, "x", [M])
    call = one(total("P", [(i, upto(M))], IN_M, 2.0 * x(k) * Select(ABOVE, S(i, k), S(k, i))))
    assert (call.routine, call.triangle) == ("symv", "upper")


@pytest.mark.parametrize(
    "outputs",
    [
        halves(BELOW, S(i, k) * B(k, j), ABOVE, S(i, k) * B(k, j)),
        halves(BELOW, S(i, k) * B(k, j), ABOVE, 2.0 * S(k, i) * B(k, j)),
        halves(BELOW, S(i, k) * B(k, j), Condition(k, ">", i + 1), S(k, i) * B(k, j)),
        halves(BELOW, S(i, k) * B(k, j), Condition(k, ">=", i), S(k, i) * B(k, j)),
        halves(BELOW, S(i, k) * B(k, j), ABOVE, S(k, i) * C(k, j)),
        halves(BELOW, S(i, k) * B(k, j), ABOVE, S(k, i) * B(i, j)),
        halves(BELOW, S(i, k) * B(k, j), ABOVE, S(k, i) * B(k, j), Op.Max),
    ],
)
def test_near_misses(outputs: Any) -> None:
    assert "symm" not in routines(outputs)


def test_hermitian_is_not_symmetric() -> None:
    H, Z = Matrix(Complex, "H", [M, M]), Matrix(Complex, "Z", [M, N])
    value = Select(BELOW, H(i, k), Conj(H(k, i))) * Z(k, j)
    assert routines(total("P", MN, IN_M, value, dtype=Complex)) == []
    assert (
        one(total("P", MN, IN_M, Select(BELOW, H(i, k), H(k, i)) * Z(k, j), dtype=Complex)).routine == "symm"
    )


def test_the_other_triangle_is_never_read() -> None:
    """NaN there does not reach the result."""
    import numpy as np

    from polymat.idiom.find import idiom_of
    from tests.idiom.carry_out import carry_out
    from tests.idiom.recognise import SCALARS, values_of

    built = pipeline(symm(S, B, C, M, N, alpha, beta))
    idiom = idiom_of([stage.name for stage in built.stages], built).idiom
    assert idiom is not None
    params = {"M": 4, "N": 3, **SCALARS}
    values = values_of(built, params)
    values["S"][np.triu_indices(4, 1)] = np.nan
    assert np.isfinite(carry_out(idiom, built, values, params)).all()
