"""Extents, `A.shape[0]`, where a size may stand: beside indices, as bounds, extents and numbers of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Reduce, Reduction

N = pm.Parameter(Int, "N")
i = pm.Variable(Int, "i")
x = pm.Vector(Double, "x", [N])
L: Any = x.shape[0]
SHAPE: Any = x.shape
DATA = np.arange(1.0, 8.0)
INDEX = np.arange(7)


def along(high: Any, *entries: Any) -> Function:
    f = Function(([i], [Interval(Int, 0, high)]), Double, "f")
    f.defn = [*entries]
    return f


def total() -> Reduction:
    r = Reduction(([], []), ([i], [Interval(Int, 1, L - 2)]), Double, "r")
    r.defn = [Reduce(r(), x(i), Op.Sum)]
    return r


CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "turned": (lambda: along(N - 1, x(L - 1 - i)), DATA[::-1]),
    "added": (lambda: along(N - 1, x(i) + (L + i)), DATA + 7 + INDEX),
    "fractions": (lambda: along(N - 1, x(i) * (L - 0.5) + (L + 0.5)), DATA * 6.5 + 7.5),
    "powers": (lambda: along(N - 1, x(i) * L**0.5 + L % 4), DATA * 7**0.5 + 3),
    "quotient": (lambda: along(N - 1, x(i) + (L * i) / (L + i)), DATA + 7 * INDEX / (7 + INDEX)),
    "case": (
        lambda: along(
            N - 1, Case(Condition(i, "<", L // 2), x(i)), Case(Condition(L // 2, "<=", i), x(L - i - 1))
        ),
        np.array([1.0, 2, 3, 4, 3, 2, 1]),
    ),
    "bounds": (lambda: along(L // 2 - 1, x(2 * i)), DATA[:6:2]),
    "reduced": (total, DATA[1:-1].sum()),
    "slice": (lambda: x[: L - 2] + x(L - 1), DATA[:-2] + 7),
    "steps": (lambda: pm.iterate(lambda u: u + 1, x, steps=L - 1), DATA + 6),
}


@pytest.mark.parametrize("word", CASES)
def test_an_extent_stands_for_a_size(word: str) -> None:
    describe, wanted = CASES[word]
    compiled = pm.compile(describe())
    for call in (compiled, compiled.reference):
        np.testing.assert_allclose(call(DATA), wanted, rtol=1e-14)


def test_an_extent_is_one_of_another_input() -> None:
    A = pm.Matrix(Double, "A", [L, L // 2])
    compiled = pm.compile((A @ x[: L // 2]).named("b"), inputs=[A, x])
    np.testing.assert_array_equal(compiled(np.ones((7, 3)), DATA), np.full(7, 6.0))
    with pytest.raises(pm.ArgumentError, match="argument A has shape"):
        compiled(np.ones((7, 4)), DATA)


def test_an_extent_reads_as_a_size() -> None:
    table = pm.Vector(Int, "table", [N])
    short = x[1:]
    f = along(N - 1, short(pm.Clamp(table(i), 0, short.shape[0] - 1)))
    with pytest.raises(pm.BoundsError, match=r"reads x\[1:\]\(Min\(Max\(table\(i\), 0\), \(-2\) \+ N\)\)"):
        pm.compile(f)


def test_messages_show_an_extent_as_it_is_written() -> None:
    with pytest.raises(pm.LangError, match=r"pad: the width is N - 1; expected an integer"):
        pm.pad(x, L - 1)


def test_an_extent_that_is_a_number_is_one_for_python() -> None:
    rows: Any = pm.Matrix(Double, "A", [3, N]).shape[0]
    assert [*range(rows)] == [0, 1, 2]
    assert (rows < 4, rows <= 2, rows > 3, rows <= 3, int(min(rows, 5)), float(rows)) == (
        *(True, False, False, True, 3, 3.0),
    )


@pytest.mark.parametrize("use", [range, int, lambda extent: min(extent, 3), lambda extent: not extent >= 3])
def test_an_extent_that_is_not_known_is_refused_in_words(use: Callable[[Any], Any]) -> None:
    with pytest.raises(pm.LangError, match=r"expression|N > 3 has no truth value|N >= 3 has no truth value"):
        use(L)


def test_an_extent_beside_a_number_is_a_condition() -> None:
    f = along(N - 1, Case(L == 3, x(i)), Case(L != 3, -x(i)))
    compiled = pm.compile(f, constraints=[L >= 2])
    for size in (2, 3, 4):
        data = np.arange(1.0, size + 1)
        for call in (compiled, compiled.reference):
            np.testing.assert_array_equal(call(data), data if size == 3 else -data)
    with pytest.raises(pm.ArgumentError, match="N >= 2"):
        compiled(DATA[:1])


@pytest.mark.parametrize(
    "ask",
    [lambda: L == 7, lambda: L != 7, lambda: np.int32(7) == L, lambda: SHAPE == (7,), lambda: 7 in SHAPE],
)
def test_an_extent_beside_a_number_has_no_truth_value(ask: Callable[[], Any]) -> None:
    with pytest.raises(pm.LangError, match=r"N [!=]= 7 has no truth value") as refused:
        bool(ask())
    assert refused.value.location is not None
    assert refused.value.location.file == __file__


def test_extents_are_compared_where_their_forms_tell() -> None:
    assert (L == N, N == L, L - 1 == N - 1, L < N + 1, L > L, SHAPE == (L,)) == (
        *(True, True, True, True, False, True),
    )
    M = pm.Parameter(Int, "M")
    assert (L == M, L != M, M == L, L - 1 == N, L - 1 != N) == (False, True, False, False, True)
    assert L != "N"
    rows: Any = pm.Matrix(Double, "A", [3, N]).shape[0]
    assert (rows == 3, rows != 3, rows == 4, rows == np.int64(3), rows <= 3) == (
        True,
        False,
        False,
        True,
        True,
    )


def test_shapes_print_as_they_are_written() -> None:
    assert repr(pm.Matrix(Double, "A", [3, 2 * N + 1]).shape) == "(3, 2*N + 1)"


def test_remainders_and_powers_of_numbers_by_extents() -> None:
    compiled = pm.compile(along(N - 1, x(i) + 2**L + 9 % L))
    np.testing.assert_array_equal(compiled(DATA), DATA + 128 + 2)
