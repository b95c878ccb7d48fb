"""Products with triangular arrays, and triangular systems."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Reduce,
    Reduction,
    Vector,
    trmm,
)  # fmt: skip
from polymat.idiom.call import LibraryCall
from tests.idiom.recognise import M, N, alpha, beta, check, i, j, k, point, routines, total, upto

T, B, U = Matrix(Double, "T", [M, M]), Matrix(Double, "B", [M, N]), Matrix(Double, "U", [N, N])
b = Vector(Double, "b", [M])
ROWS, MN = [(i, upto(M))], [(i, upto(M)), (j, upto(N))]
UP_TO, BEFORE = [(k, Interval(Int, 0, i))], [(k, Interval(Int, 0, i - 1))]
FROM, AFTER = [(k, Interval(Int, i, M - 1))], [(k, Interval(Int, i + 1, M - 1))]


def kind(*outputs: Any) -> tuple[Any, ...]:
    (call,) = check(*outputs).calls
    return call.routine, call.side, call.triangle, call.operands[0].transposed, call.unit


def test_algebra() -> None:
    assert kind(trmm(T, B, alpha)) == ("trmm", "left", "lower", True, True)
    assert kind(trmm(T, B, 1)) == ("trmm", "left", "lower", True, True)


@pytest.mark.parametrize(
    ("over", "element", "triangle", "transposed"),
    [
        (UP_TO, T(i, k), "lower", False),
        (UP_TO, T(k, i), "upper", True),
        (FROM, T(i, k), "upper", False),
        (FROM, T(k, i), "lower", True),
    ],
)
def test_triangles(over: Any, element: Any, triangle: str, transposed: bool) -> None:
    kinds = ("left", triangle, transposed, False)
    assert kind(total("P", MN, over, B(k, j) * (alpha * element))) == ("trmm", *kinds)
    expected = ("trmv", None, *kinds[1:])
    assert kind(total("P", ROWS, over, element * b(k))) == expected


@pytest.mark.parametrize(("over", "element"), [(BEFORE, T(i, k)), (AFTER, T(i, k)), (AFTER, T(k, i))])
def test_ones_on_the_diagonal(over: Any, element: Any) -> None:
    P = total("P", MN, over, element * B(k, j))
    call = kind(point("R", MN, alpha * (B(i, j) + P(i, j))))
    assert call[-1] is True
    assert kind(total("P", MN, over, element * B(k, j), init=B(i, j)))[-1] is True


@pytest.mark.parametrize(
    ("over", "element", "triangle", "transposed"),
    [
        ([(k, Interval(Int, 0, j))], U(k, j), "upper", False),
        ([(k, Interval(Int, 0, j))], U(j, k), "lower", True),
        ([(k, Interval(Int, j, N - 1))], U(k, j), "lower", False),
        ([(k, Interval(Int, j, N - 1))], U(j, k), "upper", True),
    ],
)
def test_right_side(over: Any, element: Any, triangle: str, transposed: bool) -> None:
    assert kind(total("P", MN, over, B(i, k) * element)) == ("trmm", "right", triangle, transposed, False)


def test_other_array_transposed() -> None:
    Bt = Matrix(Double, "Bt", [N, M])
    assert kind(total("P", MN, UP_TO, T(i, k) * Bt(j, k)))[:2] == ("trmm", "left")


@pytest.mark.parametrize(("over", "element"), [(BEFORE, T(i, k)), (AFTER, T(k, i))])
def test_a_diagonal_written_apart(over: Any, element: Any) -> None:
    P = total("P", MN, over, element * B(k, j))
    assert kind(point("R", MN, alpha * (T(i, i) * B(i, j) + P(i, j))))[-1] is False
    v = total("P", ROWS, over, element * b(k), init=b(i) * T(i, i))
    assert (kind(v)[0], kind(v)[-1]) == ("trmv", False)


@pytest.mark.parametrize(
    "output",
    [
        total("P", MN, BEFORE, T(i, k) * B(k, j), init=T(i, i) * B(i, j) * 2.0),
        total("P", MN, BEFORE, T(i, k) * B(k, j), init=U(j, j) * B(i, j)),
        total("P", MN, UP_TO, T(i, k) * B(k, j), init=T(i, i) * B(i, j)),
        total("P", MN, BEFORE, T(i, k) * B(k, j)),
        total("P", MN, UP_TO, T(i, k) * B(k, j), init=B(i, j)),
        total("P", MN, BEFORE, T(i, k) * B(k, j), init=2.0 * B(i, j)),
        total("P", MN, BEFORE, T(i, k) * B(k, j), init=Matrix(Double, "D", [M, N])(i, j)),
        total("P", MN, [(k, Interval(Int, 0, i - 2))], T(i, k) * B(k, j), init=B(i, j)),
        total("P", MN, UP_TO, T(i, k) * B(k, j), op=Op.Max),
        total("P", MN, UP_TO, T(i, k) * T(i, k) * B(k, j)),
        total("P", MN, UP_TO, T(i, i) * B(k, j)),
        trmm(T, B, alpha, beta),
    ],
)
def test_near_misses(output: Any) -> None:
    assert routines(output) == []


def test_part_of_the_rows() -> None:
    """trmm writes a whole square: a result with further rows is none."""
    tall = [(i, upto(M + 1)), (j, upto(N))]
    r = Reduction(
        ([i, j], [s for _, s in tall]), ([i, j, k], [upto(M), upto(N), Interval(Int, 0, i)]), Double, "P"
    )
    r.defn = [Reduce(r(i, j), T(i, k) * B(k, j), Op.Sum)]
    assert routines(r) == []


def solution(shape: Any, over: Any, start: Any, term: Any, name: str = "x", op: Op = Op.Sum) -> Reduction:
    dims, spans = [v for v, _ in shape], [s for _, s in shape]
    more = [*dims, *(v for v, _ in over)], [*spans, *(s for _, s in over)]
    x = Reduction((dims, spans), more, Double, name, init=start)
    at = [k if v is (dims[-1] if over[0][1].sizes == upto(N).sizes else dims[0]) else v for v in dims]
    x.defn = [Reduce(x(*dims), term(x, *at), op)]
    return x


@pytest.mark.parametrize(
    ("over", "element", "triangle"),
    [
        (BEFORE, T(i, k), "lower"),
        (BEFORE, T(k, i), "upper"),
        (AFTER, T(i, k), "upper"),
        (AFTER, T(k, i), "lower"),
    ],
)
def test_substitution(over: Any, element: Any, triangle: str) -> None:
    divided = solution(ROWS, over, b(i) / T(i, i), lambda x, at: -(element / T(i, i)) * x(at))
    assert kind(divided)[:3] == ("trsv", None, triangle)
    assert kind(divided)[-1] is False
    unit = solution(ROWS, over, alpha * b(i), lambda x, at: -element * x(at))
    assert kind(unit)[-1] is True
    several = solution(MN, over, alpha * B(i, j) / T(i, i), lambda x, p, q: -element * x(p, q) / T(i, i))
    assert kind(several)[:3] == ("trsm", "left", triangle)


def test_substitution_from_the_right() -> None:
    over = [(k, Interval(Int, 0, j - 1))]
    x = Reduction(([i, j], [upto(M), upto(N)]), ([i, j, k], [upto(M), upto(N), over[0][1]]), Double, "x",
                  init=B(i, j) / U(j, j))  # fmt: skip
    x.defn = [Reduce(x(i, j), -x(i, k) * U(k, j) / U(j, j), Op.Sum)]
    assert kind(x) == ("trsm", "right", "upper", False, False)


@pytest.mark.parametrize(
    ("over", "start", "term"),
    [
        (BEFORE, b(i) / T(i, i), lambda x, at: (T(i, k) / T(i, i)) * x(at)),
        (BEFORE, b(i), lambda x, at: -(T(i, k) / T(i, i)) * x(at)),
        (BEFORE, b(i) / T(i, i), lambda x, at: -T(i, k) * x(at)),
        (BEFORE, b(i) / T(0, i), lambda x, at: -T(i, k) * x(at) / T(0, i)),
        (BEFORE, b(i), lambda x, at: -2.0 * T(i, k) * x(at)),
        ([(k, Interval(Int, 0, i - 2))], b(i), lambda x, at: -T(i, k) * x(at)),
        (BEFORE, b(i), lambda x, at: -T(i, k) * x(i - 1)),
    ],
)
def test_systems_that_are_none(over: Any, start: Any, term: Any) -> None:
    assert routines(solution(ROWS, over, start, term)) == []


def test_recurrence_of_another_kind() -> None:
    f = Function(([i], [upto(M)]), Double, "f")
    f.defn = [Case(Condition(i, "==", 0), b(i)), Case(Condition(i, ">=", 1), b(i) - f(i - 1))]
    assert routines(f) == []


def test_calls_say_how_they_are_cut() -> None:
    (call,) = check(total("P", MN, UP_TO, T(i, k) * B(k, j))).calls
    assert isinstance(call, LibraryCall)
    assert [(cut.role, cut.pieces) for cut in call.cuts] == [("n", "same"), ("m", "triangle")]
