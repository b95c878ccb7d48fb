"""Filters written as sums over i - k or i + k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from polymat import (
    Case,
    Condition,
    Double,
    Int,
    Interval,
    Matrix,
    Op,
    Reduce,
    Reduction,
    Signal,
    Variable,
    Vector,
)  # fmt: skip
from polymat.idiom.find import idiom_of
from polymat.idiom.transform import Filter
from tests.idiom.carry_out_signals import filtered
from tests.idiom.recognise import (
    SCALARS,
    K,
    L,
    M,
    N,
    alpha,
    i,
    j,
    k,
    l,
    pipeline,
    point,
    total,
    upto,
    values_of,
)  # fmt: skip
from tests.tolerance import assert_close

s, h = Vector(Double, "s", [N]), Vector(Double, "h", [K])
LONG = Vector(Double, "v", [2 * N + K])
VALID, TAPS = [(i, upto(N - K + 1))], [(k, upto(K))]


def find(*outputs: Any) -> Filter | None:
    built = pipeline(*outputs)
    return idiom_of([stage.name for stage in built.stages], built).filter


def check(*outputs: Any, sizes: Sequence[tuple[int, int]] = ((7, 1), (7, 3), (5, 5), (11, 2))) -> Filter:
    built = pipeline(*outputs)
    found = idiom_of([stage.name for stage in built.stages], built)
    assert found.filter is not None, found.reason
    for n, taps in sizes:
        params = {"N": n, "K": taps, "M": 4, "L": 2, **SCALARS}
        values = values_of(built, params)
        actual = filtered(found.filter, values, params)
        assert_close(actual, values[found.filter.product.name], roundings=200, magnitude=20.0)
    return found.filter


def kind(found: Filter) -> tuple[Any, ...]:
    (axis,) = found.axes
    return found.taps.source, found.signal.source, axis.step, axis.correlates, found.edges


def test_valid() -> None:
    assert kind(check(total("y", VALID, TAPS, h(k) * s(i + k)))) == ("h", "s", 1, True, "valid")
    assert kind(check(total("y", VALID, TAPS, s(i - k + K - 1) * h(k)))) == ("h", "s", 1, False, "valid")
    assert kind(check(total("y", VALID, TAPS, alpha * h(K - 1 - k) * s(i + k)))) == (
        "h",
        "s",
        1,
        False,
        "valid",
    )


def test_signal_methods() -> None:
    signal = Signal(Double, "s", N)
    assert kind(check(signal.fir(h))) == ("h", "s", 1, False, "valid")
    assert kind(check(signal.fir(h, mode="causal"))) == ("h", "s", 1, False, "zero")


def test_same_length_and_full() -> None:
    inside = Condition(i - k + 1, ">=", 0) & Condition(i - k + 1, "<=", N - 1)
    y = Reduction(([i], [upto(N)]), ([i, k], [upto(N), upto(K)]), Double, "y")
    y.defn = [Case(inside, Reduce(y(i), h(k) * s(i - k + 1), Op.Sum))]
    assert kind(check(y)) == ("h", "s", 1, False, "zero")
    # y(n + k) += h(k) s(n), of which either factor may be the taps
    n = Variable(Int, "n")
    z = Reduction(([i], [upto(N + K - 1)]), ([n, k], [upto(N), upto(K)]), Double, "z")
    z.defn = [Reduce(z(n + k), h(k) * s(n), Op.Sum)]
    assert kind(check(z)) == ("h", "s", 1, False, "zero")


def test_decimation() -> None:
    assert kind(check(total("y", [(i, upto(N))], TAPS, h(k) * LONG(2 * i + k)))) == (
        "h",
        "v",
        2,
        True,
        "valid",
    )


def test_channels() -> None:
    A, H = Matrix(Double, "A", [M, N]), Matrix(Double, "H", [M, K])
    for taps in (h(k), H(l, k)):
        found = check(total("y", [(l, upto(M)), *VALID], TAPS, taps * A(l, i + k)))
        assert [str(axis) for axis in found.batch] == ["l"]


def test_two_dimensions() -> None:
    A, H = Matrix(Double, "A", [N + M, N + K]), Matrix(Double, "H", [M, K])
    found = check(
        total("y", [(i, upto(N)), (j, upto(N))], [(l, upto(M)), (k, upto(K))], H(l, k) * A(i + l, j + k))
    )
    assert [(axis.output, axis.tap, axis.correlates) for axis in found.axes] == [
        ("i", "l", True),
        ("j", "k", True),
    ]


def test_added_to_something() -> None:
    y = total("y", VALID, TAPS, h(k) * s(i + k))
    assert (
        len(check(point("r", [(i, upto(N - K + 1))], 2.0 * y(i) + Vector(Double, "w", [N + 1])(i))).start)
        == 1
    )


@pytest.mark.parametrize(
    "output",
    [
        total("y", VALID, TAPS, h(k) * s(i)),
        total("y", VALID, TAPS, h(k) * h(k)),
        total("y", [(i, upto(N))], TAPS, h(k) * Vector(Double, "w", [N + 2 * K])(i + 2 * k)),
        total("y", VALID, TAPS, h(k) * s(i + k), op=Op.Max),
        total("y", VALID, TAPS, h(k) * s(i + k) * s(i)),
        total("y", VALID, [(k, Interval(Int, 0, K - 1)), (l, upto(L))], h(k) * s(i + k)),
        total("y", [(i, upto(N))], TAPS, h(k) * Vector(Double, "w", [K * 2 + N])(k + i // 2)),
        total("y", [(i, upto(N))], TAPS, h(k) * Matrix(Double, "W", [N + K, N])(i + k, i)),
    ],
)  # fmt: skip
def test_near_misses(output: Any) -> None:
    assert find(output) is None


def test_edges_off_by_one() -> None:
    for low in (1, 2):
        y = Reduction(([i], [upto(N)]), ([i, k], [upto(N), upto(K)]), Double, "y")
        y.defn = [Case(Condition(i - k, ">=", low), Reduce(y(i), h(k) * s(i - k), Op.Sum))]
        assert find(y) is None


def test_an_index_that_is_split_has_no_stride() -> None:
    blocks = Matrix(Double, "blocks", [N, 8])
    split = h(k) * blocks(i + k, (i + k) - 8 * ((i + k) // 8))
    assert find(total("y", VALID, TAPS, split)) is None
    assert find(total("y", [(j, upto(4)), *VALID], TAPS, h(k) * blocks(i + k, j // 2))) is None
    assert find(total("y", [(j, upto(4)), *VALID], TAPS, h(k) * blocks(i + k, j))) is not None
