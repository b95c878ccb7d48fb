"""Minima and maxima of a few terms are values of points, where each has all of them, and the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Double,
    Float,
    Image,
    Int,
    Interval,
    Long,
    Op,
    Options,
    Parameter,
    Reduce,
    Reduction,
    UChar,
)
from polymat.driver import levels, request_for
from polymat.graph.stage import Stage

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i, j, k, r = (pm.Variable(Int, name) for name in "ijkr")
ROWS = Interval(Int, 0, N - 1)
SIZES = (1, 7, 8, 33, 65)


def extreme(dims: Any, reduced: Any, term: Any, op: Op = Op.Max, **more: Any) -> Reduction:
    """Over dimensions with their intervals, and reduced ones."""
    (own, rows), (inner, terms) = dims, reduced
    made = Reduction((own, rows), (own + inner, rows + terms), term.dtype, "made", **more)
    made.defn = [Reduce(made(*own), term, op)]
    return made


def graph(made: pm.Function, **more: Any) -> Stage:
    """The stage as it is behind the passes of the graph."""
    for name, level in levels(request_for(made, **more)):
        if name == "graph":
            return level.stage("made")  # type: ignore[union-attr]
    raise AssertionError


def over(low: int, high: int) -> Any:
    return [k], [Interval(Int, low, high)]


A = Image(Double, "A", [N, 5])
P = Image(Float, "P", [2 * N, 2 * N])
Q = Image(UChar, "Q", [3 * N, 3 * N])
W = Image(Int, "W", [N + 3])
BELOW = pm.Condition(k, "<=", i)
WRITTEN: dict[str, Reduction] = {
    "rows": extreme(([i], [ROWS]), over(0, 2), A(i, k)),
    "later ones": extreme(([i], [ROWS]), over(1, 4), A(i, k), Op.Min),
    "pools": extreme(
        ([i, j], [ROWS, ROWS]),
        ([k, r], [Interval(Int, 0, 1), Interval(Int, 0, 1)]),
        P(2 * i + k, 2 * j + r),
    ),
    "larger pools": extreme(
        ([i, j], [ROWS, ROWS]),
        ([k, r], [Interval(Int, 0, 2), Interval(Int, 0, 2)]),
        Q(3 * i + k, 3 * j + r),
        Op.Min,
    ),
    "windows": extreme(([i], [ROWS]), over(0, 3), W(i + k)),
    "indices": extreme(([i], [ROWS]), over(0, 2), pm.Cast(Long, k) * pm.Cast(Long, W(i)), Op.Min),
    "from a start": extreme(([i], [ROWS]), over(0, 1), A(i, k), init=0.25),
}
KEPT: dict[str, Reduction] = {
    "many neighbours": extreme(([i], [Interval(Int, 0, N - 3)]), over(0, 5), W(i + k)),
    "five": extreme(([i], [ROWS]), over(0, 4), A(i, k)),
    "an open number": extreme(([i], [ROWS]), ([k], [Interval(Int, 0, M)]), W(i) + k),
    "sums": extreme(([i], [ROWS]), over(0, 2), A(i, k), Op.Sum),
    "not at all points": extreme(([i], [ROWS]), over(0, 2), pm.Select(BELOW, W(i), -(2**31))),
}


def given(made: pm.Compiled, n: int) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(n)
    shapes = {"A": (n, 5), "P": (2 * n, 2 * n), "W": (n + 3,), "Q": (3 * n, 3 * n)}
    values = {
        each.name: (rng.standard_normal(shapes[each.name]) * 9).astype(each.dtype)
        for each in made.signature.inputs
    }
    for each in values.values():
        if each.dtype.kind == "f":
            each[rng.random(each.shape) < 0.2] = np.nan
            each[rng.random(each.shape) < 0.2] = -0.0
    return values


@pytest.mark.parametrize("name", WRITTEN)
def test_a_few_terms_are_written_out(name: str) -> None:
    made = WRITTEN[name]
    assert not graph(made).is_reduction
    compiled = pm.compile(made)
    for n in SIZES:
        known = given(compiled, n)
        np.testing.assert_array_equal(compiled(**known), compiled.reference(**known))


@pytest.mark.parametrize("name", KEPT)
def test_others_are_reductions(name: str) -> None:
    assert graph(KEPT[name]).is_reduction


def test_sizes_say_how_many_there_are() -> None:
    B = pm.Matrix(UChar, "B", [N, M])
    made = B.max(axis=1).named("made")
    assert graph(made).is_reduction
    assert not graph(made, sizes={M: 4}).is_reduction
    assert graph(made, sizes={M: 4}, options=Options(skip=("extremes",))).is_reduction


@pytest.mark.parametrize("m", [2, 3, 4])
def test_places_of_extremes_are_the_first(m: int) -> None:
    B = pm.Matrix(Double, "B", [N, M])
    rng = np.random.default_rng(m)
    for op in ("argmin", "argmax"):
        compiled = pm.compile(getattr(B, op)(axis=1).named("made"), sizes={M: m})
        for n in SIZES:
            values = rng.integers(0, 3, (n, m)).astype(float)
            values[rng.random((n, m)) < 0.2] = np.nan
            np.testing.assert_array_equal(compiled(values), getattr(np, op)(values, axis=1))
