"""Triangular systems written as recurrences, solved by a library: against the interpreter on odd sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Complex,
    ComplexFloat,
    Double,
    Float,
    Int,
    Interval,
    Matrix,
    Op,
    Options,
    Reduce,
    Reduction,
    Vector,
)  # fmt: skip
from polymat.graph.build import build
from tests.codegen.routines.test_calls import called, values
from tests.estimated import estimates_of
from tests.idiom.recognise import M, N, i, j, k, upto
from tests.tolerance import assert_close

ROWS, MN = [(i, upto(M))], [(i, upto(M)), (j, upto(N))]
SIZES = ((0, 3), (3, 0), (1, 1), (2, 5), (7, 3), (33, 17), (64, 65))
BEFORE, AFTER = Interval(Int, 0, i - 1), Interval(Int, i + 1, M - 1)
LEFT_OF, RIGHT_OF = Interval(Int, 0, j - 1), Interval(Int, j + 1, N - 1)


class System:
    """The arrays of triangular systems, and the solution x = start - sum over k of a triangle times x."""

    def __init__(self, dtype: Any = Double) -> None:
        self.dtype = dtype
        self.T, self.U = Matrix(dtype, "T", [M, M]), Matrix(dtype, "U", [N, N])
        self.B, self.b = Matrix(dtype, "B", [M, N]), Vector(dtype, "b", [M])

    def solution(self, shape: Any, over: Interval, start: Any, term: Callable[[Any], Any]) -> Reduction:
        dims, spans = [dim for dim, _ in shape], [span for _, span in shape]
        x = Reduction((dims, spans), ([*dims, k], [*spans, over]), self.dtype, "X", init=start)
        x.defn = [Reduce(x(*dims), -term(x), Op.Sum)]
        return x


def columns(s: System, over: Interval, element: Any, *, unit: bool = False) -> Any:
    """Several right-hand sides, a column each."""
    below = 1 if unit else s.T(i, i)
    return s.solution(MN, over, s.B(i, j) / below, lambda x: element / below * x(k, j))


def rows(s: System, over: Interval, element: Any, *, unit: bool = False) -> Any:
    """The triangle at the right."""
    below = 1 if unit else s.U(j, j)
    return s.solution(MN, over, 2 * s.B(i, j) / below, lambda x: x(i, k) * element / below)


def vector(s: System, over: Interval, element: Any, *, unit: bool = False) -> Any:
    below = 1 if unit else s.T(i, i)
    return s.solution(ROWS, over, 2 * s.b(i) / below, lambda x: element * x(k) / below)


PROGRAMS: dict[str, tuple[Callable[[System], Any], str]] = {
    "lower": (lambda s: columns(s, BEFORE, s.T(i, k)), "trsm"),
    "lower unit": (lambda s: columns(s, BEFORE, s.T(i, k), unit=True), "trsm"),
    "upper turned": (lambda s: columns(s, BEFORE, s.T(k, i)), "trsm"),
    "upper": (lambda s: columns(s, AFTER, s.T(i, k)), "trsm"),
    "lower turned": (lambda s: columns(s, AFTER, s.T(k, i), unit=True), "trsm"),
    "right upper": (lambda s: rows(s, LEFT_OF, s.U(k, j)), "trsm"),
    "right lower turned": (lambda s: rows(s, LEFT_OF, s.U(j, k), unit=True), "trsm"),
    "right lower": (lambda s: rows(s, RIGHT_OF, s.U(k, j)), "trsm"),
    "vector lower": (lambda s: vector(s, BEFORE, s.T(i, k)), "trsv"),
    "vector upper": (lambda s: vector(s, AFTER, s.T(i, k), unit=True), "trsv"),
    "vector turned": (lambda s: vector(s, AFTER, s.T(k, i)), "trsv"),
}


def arrays_of(s: System, m: int, n: int, *names: str) -> dict[str, Any]:
    """Triangles with which solutions stay small."""
    dtype = s.dtype.dtype
    found = {"T": values([m, m], dtype, 1) / max(m, 1), "U": values([n, n], dtype, 2) / max(n, 1)}
    found["T"] += 2 * np.eye(m, dtype=dtype)
    found["U"] += 2 * np.eye(n, dtype=dtype)
    found |= {"B": values([m, n], dtype, 3), "b": values([m], dtype, 4)}
    return {name: found[name] for name in names}


def check(s: System, output: Any, routine: str, options: Options) -> None:
    compiled: Any = pm.compile(output, name="solved", options=options)
    assert called(compiled) == [routine]
    names = [array.name for array in build([output]).inputs]
    for m, n in SIZES:
        arrays = arrays_of(s, m, n, *names)
        expected = compiled.reference(**arrays)
        assert_close(compiled(**arrays), expected, roundings=4 * (m + n) + 8, magnitude=4.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_systems(name: str) -> None:
    make, routine = PROGRAMS[name]
    s = System()
    check(s, make(s), routine, Options(blas="always", threads=3, parallel_threshold=0))


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Float, ComplexFloat, Complex])
@pytest.mark.parametrize("name", ["lower", "vector turned"])
def test_types(name: str, dtype: Any) -> None:
    make, routine = PROGRAMS[name]
    s = System(dtype)
    check(s, make(s), routine, Options(blas="always", threads=2, parallel_threshold=0))


@pytest.mark.parametrize("name", ["lower", "right lower", "vector upper", "vector turned"])
def test_the_default_calls_for_all_but_the_smallest(name: str) -> None:
    """The sums of a recurrence wait for each other, in whatever loops."""
    make, routine = PROGRAMS[name]
    output = make(System())
    compiled: Any = pm.compile(output, name="solved", estimates=estimates_of(output, {M: 500, N: 500}))
    assert called(compiled) == [routine]
    assert "_pm_loops_X" in compiled.source
    small: Any = pm.compile(output, name="solved", sizes=estimates_of(output, {M: 2, N: 2}))
    assert called(small) == []


@pytest.mark.parametrize("blas", ["always", "never"])
def test_into_the_right_hand_side(blas: Any) -> None:
    """A copy is made for a library: loops may have to begin again."""
    s = System()
    output = columns(s, AFTER, s.T(i, k))
    compiled: Any = pm.compile(output, inputs=[s.T, s.B], options=Options(blas=blas))
    assert [pair[0] for pair in compiled.explain().inplace] == ([] if blas == "always" else ["B"])
    arrays = arrays_of(s, 7, 5, "T", "B")
    expected = compiled.reference(**arrays)
    compiled(**arrays, out=arrays["B"])
    assert_close(arrays["B"], expected, roundings=60, magnitude=4.0)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Float, Double])
@pytest.mark.parametrize("name", ["lower", "upper", "right upper", "right lower turned"])
def test_what_is_not_finite_reaches_only_what_it_is_part_of(name: str, dtype: Any) -> None:
    """Some libraries multiply a block of rows by the inverse of its triangle, zeros included."""
    make, routine = PROGRAMS[name]
    s = System(dtype)
    compiled: Any = pm.compile(make(s), name="solved", options=Options(blas="always"))
    assert called(compiled) == [routine]
    triangle = "U" if name.startswith("right") else "T"
    for m, n in ((9, 4), (4, 9)):
        clean = arrays_of(s, m, n, triangle, "B")
        for which, value in ((triangle, np.inf), (triangle, np.nan), ("B", np.inf)):
            for place in [*np.ndindex(clean[which].shape)][:: 1 if dtype is Double else 5]:
                arrays = {of: array.copy() for of, array in clean.items()}
                arrays[which][place] = value
                with np.errstate(all="ignore"):
                    expected = compiled.reference(**arrays)
                np.testing.assert_array_equal(np.isfinite(compiled(**arrays)), np.isfinite(expected))


def test_a_right_hand_side_that_is_the_triangle() -> None:
    """The library reads the triangle after the result has become the right-hand side."""
    s = System()
    output = s.solution(
        [(i, upto(M)), (j, upto(M))],
        BEFORE,
        s.T(i, j) / s.T(i, i),
        lambda x: s.T(i, k) / s.T(i, i) * x(k, j),
    )
    compiled: Any = pm.compile(output, options=Options(blas="always"))
    assert called(compiled) == ["trsm"]
    arrays = arrays_of(s, 9, 1, "T")
    expected = compiled.reference(**arrays)
    compiled(**arrays, out=arrays["T"])
    assert_close(arrays["T"], expected, roundings=60, magnitude=4.0)


def test_recurrences_that_are_no_system() -> None:
    s = System()
    for output in (
        s.solution(ROWS, Interval(Int, 0, i - 2), s.b(i), lambda x: s.T(i, k) * x(k)),
        s.solution(ROWS, BEFORE, s.b(i) / s.T(i, i), lambda x: s.T(i, k) * x(k)),
        s.solution(ROWS, BEFORE, s.b(i), lambda x: 2 * s.T(i, k) * x(k)),
        s.solution(MN, BEFORE, s.B(i, j), lambda x: s.T(i, k) * s.T(i, k) * x(k, j)),
    ):
        compiled: Any = pm.compile(output, options=Options(blas="always"))
        assert called(compiled) == []


@pytest.mark.parametrize("name", ["upper", "vector lower"])
def test_fixed_sizes(name: str) -> None:
    make, routine = PROGRAMS[name]
    s = System()
    output = make(s)
    inputs = [array.name for array in build([output]).inputs]
    sizes = {M: 8, N: 8} if "B" in inputs else {M: 8}
    options = Options(blas="always", threads=2, parallel_threshold=0)
    compiled: Any = pm.compile(output, name="solved", sizes=sizes, options=options)
    assert called(compiled) == [routine]
    arrays = arrays_of(s, 8, 8, *inputs)
    assert_close(compiled(**arrays), compiled.reference(**arrays), roundings=60, magnitude=4.0)


def test_there_and_back() -> None:
    """L Lᵀ X = B by two systems, one after the other, as after a Cholesky decomposition."""
    s = System()
    down = columns(s, BEFORE, s.T(i, k))
    up = Reduction(
        ([i, j], [upto(M), upto(N)]),
        ([i, j, k], [upto(M), upto(N), AFTER]),
        Double,
        "up",
        init=down(i, j) / s.T(i, i),
    )
    up.defn = [Reduce(up(i, j), -(s.T(k, i) / s.T(i, i)) * up(k, j), Op.Sum)]
    compiled: Any = pm.compile(up, inputs=[s.T, s.B], estimates={M: 300, N: 300})
    assert called(compiled) == ["trsm", "trsm"]
    arrays = arrays_of(s, 33, 20, "T", "B")
    lower = np.tril(arrays["T"])
    assert_close(compiled(**arrays), compiled.reference(**arrays), roundings=200, magnitude=4.0)
    np.testing.assert_allclose(lower @ lower.T @ compiled(**arrays), arrays["B"], atol=1e-12)
