"""First smallest and largest elements, found along with these, beside NumPy and the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.loops.positionnarrow import NARROW, TOGETHER, WIDE
from polymat.codegen.loops.positionrows import COLUMNS
from polymat.codegen.loops.positionsearch import AT_ONCE, BYTES, FEW, SOME
from polymat.lang.reduction import Op

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
ROW = max(BYTES) // 4
LENGTHS = (
    1,
    2,
    FEW - 1,
    FEW,
    AT_ONCE[0] - 1,
    *AT_ONCE,
    AT_ONCE[1] - 1,
    3 * FEW + 1,
    SOME - 1,
    SOME,
    SOME + 3,
    ROW - 1,
    ROW,
    3 * ROW,
    9 * ROW + 5,
)
TYPES = [(pm.Double, "f8"), (pm.Float, "f4"), (pm.Int, "i4"), (pm.UChar, "u1")]


def _same(compiled: Any, wanted: list[Any], *data: Any) -> None:
    for results in (compiled(*data), compiled.reference(*data)):
        for result, want in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize(("dtype", "name"), TYPES)
def test_the_first_of_equal_ones_and_of_nan(dtype: Any, name: str) -> None:
    u, v = pm.Vector(dtype, "u", [N]), pm.Vector(dtype, "v", [N])
    compiled = pm.compile([u.argmax(), (u - v).argmin()], inputs=[u, v])
    rng = np.random.default_rng(3)
    for length in LENGTHS:
        for most in (1, 2, 100):
            x, y = (rng.integers(0, most, length).astype(name) for _ in range(2))
            _same(compiled, [np.argmax(x), np.argmin(x - y)], x, y)
            if name[0] == "f":
                x[rng.integers(length, size=2)] = np.nan
                _same(compiled, [np.argmax(x), np.argmin(x - y)], x, y)
                x[:] = -np.inf
                _same(compiled, [0, 0], x, y)


@pytest.mark.parametrize("threads", [1, 2])
def test_each_place_in_a_long_vector(threads: int) -> None:
    v = pm.Vector(pm.Double, "v", [N])
    compiled = pm.compile(v.argmax(), options=pm.Options(threads=threads, parallel_threshold=0))
    assert ": blocks" in str(compiled.explain())
    for place in (0, 1, 40 * ROW - 1, 40 * ROW, 1000 * ROW, 1000 * ROW + 2):
        x = np.zeros(1000 * ROW + 3)
        x[place:] = 1
        assert compiled(x) == place
        x[place] = np.nan
        x[-1] = np.nan
        assert compiled(x) == place


def test_neighbours_the_variable_itself_rounded_values_and_no_points() -> None:
    k, v = pm.Variable(pm.Int, "k"), pm.Vector(pm.Double, "v", [N])
    inner, every = pm.Interval(pm.Int, 1, N - 2), pm.Interval(pm.Int, 0, N - 1)
    values = {
        "steepest": (inner, v(k + 1) - v(k - 1)),
        "late": (inner, v(k) + k),
        "rounded": (every, v(k) * v(k) + v(k) * 0.1),
        "backwards": (every, v(N - 1 - k)),
    }
    places = []
    for name, (interval, value) in values.items():
        place = pm.Reduction(([], []), ([k], [interval]), pm.Int, name)
        place.defn = [pm.Reduce(place(), value, Op.ArgMax)]
        places.append(place)
    compiled = pm.compile([*places, *(place.extreme for place in places if place.extreme is not None)])
    rng = np.random.default_rng(5)
    for length in (3, *LENGTHS[2:]):
        x = rng.integers(-9, 9, length) / 4
        late = x[1:-1] + np.arange(1, length - 1)
        found = [x[2:] - x[:-2], late, x * x + x * 0.1, x[::-1]]
        wanted = [np.argmax(each) + first for each, first in zip(found, (1, 1, 0, 0), strict=True)]
        _same(compiled, [*wanted, *(each.max() for each in found)], x)
    nowhere = np.iinfo(np.int32).max
    _same(compiled, [nowhere] * 4 + [-np.inf] * 4, np.zeros(0))


@pytest.mark.covering
@pytest.mark.parametrize(("dtype", "name"), [*TYPES, (pm.Long, "i8"), (pm.Short, "i2")])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_matrices_as_a_whole_and_along_both_dimensions(axis: int | None, dtype: Any, name: str) -> None:
    A = pm.Matrix(dtype, "A", [M, N])
    compiled = pm.compile([A.argmax(axis=axis), A.argmin(axis=axis)], inputs=[A])
    rng = np.random.default_rng(4)
    wide = (1, 3, FEW, FEW + 9, 2 * SOME + 1, ROW + 1, COLUMNS + 3, ROW + 3)
    for rows in (1, 2, TOGETHER, TOGETHER + 1, TOGETHER + 2, 3 * TOGETHER, 60):
        for columns in wide if rows < 60 else wide[:5]:
            for most in (1, 2, 100):
                a = rng.integers(0, most, (rows, columns)).astype(name)
                _same(compiled, [np.argmax(a, axis), np.argmin(a, axis)], a)
                if name[0] == "f":
                    a[rng.integers(rows, size=3), rng.integers(columns, size=3)] = np.nan
                    _same(compiled, [np.argmax(a, axis), np.argmin(a, axis)], a)
                    a[:] = np.inf
                    _same(compiled, [np.argmax(a, axis), np.argmin(a, axis)], a)


@pytest.mark.covering
@pytest.mark.parametrize(("dtype", "name"), TYPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_many_rows_of_few_columns(threads: int, dtype: Any, name: str) -> None:
    """Each row is a part of a longer one, and rows are left."""
    A = pm.Matrix(dtype, "A", [M, N])
    options = pm.Options(threads=threads, parallel_threshold=0)
    compiled = pm.compile([A.argmax(axis=0), A.argmin(axis=0)], inputs=[A], options=options)
    rng = np.random.default_rng(6)
    for columns in (1, 2, 3, 5, 7, NARROW - 1, NARROW, NARROW + 1):
        for rows in (WIDE * TOGETHER - 1, WIDE * TOGETHER, 10 * WIDE + 37, 5 * WIDE * TOGETHER + 3):
            for most in (1, 2, 250):
                a = rng.integers(0, most, (rows, columns)).astype(name)
                _same(compiled, [np.argmax(a, 0), np.argmin(a, 0)], a)
                if name[0] == "f":
                    a[rng.integers(rows, size=4), rng.integers(columns, size=4)] = np.nan
                    _same(compiled, [np.argmax(a, 0), np.argmin(a, 0)], a)
                    a[:] = np.inf
                    _same(compiled, [np.argmax(a, 0), np.argmin(a, 0)], a)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_rows_of_no_columns(threads: int) -> None:
    A = pm.Matrix(pm.Double, "A", [M, N])
    options = pm.Options(threads=threads, parallel_threshold=0)
    compiled = pm.compile([A.argmax(axis=0), A.max(axis=0)], inputs=[A], options=options)
    for rows in (WIDE * TOGETHER, 5 * WIDE * TOGETHER + 3):
        for result in compiled(np.zeros((rows, 0))):
            assert result.shape == (0,)


def test_differences_of_few_columns_and_of_elements_elsewhere() -> None:
    """Rows of several arrays that lie behind each other, and rows that do not."""
    A, B = (pm.Matrix(pm.Float, each, [M, N]) for each in "AB")
    row = pm.Vector(pm.Float, "row", [N])
    compiled = pm.compile([(A - B).argmax(axis=0), (A - row).argmax(axis=0)], inputs=[A, B, row])
    rng = np.random.default_rng(7)
    for shape in ((900, 4), (1111, 3), (40, 4)):
        a, b = (rng.integers(0, 30, shape).astype("f4") for _ in "ab")
        r = rng.integers(0, 30, shape[1]).astype("f4")
        _same(compiled, [np.argmax(a - b, 0), np.argmax(a - r, 0)], a, b, r)


def test_nothing_is_found_where_nothing_is() -> None:
    A, i, j = pm.Matrix(pm.Double, "A", [M, N]), pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    rows, columns = pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)
    found: list[pm.Reduction] = []
    kinds: tuple[dict[Any, Any], ...] = ({}, {i: rows}, {j: columns})
    for kept in kinds:
        place = pm.Reduction(
            ([*kept], [*kept.values()]), ([i, j], [rows, columns]), pm.Int, f"at{len(found)}"
        )
        place.defn = [pm.Reduce(place(*kept), A(i, j), Op.ArgMax)]
        found.append(place)
    extremes = [place.extreme for place in found if place.extreme is not None]
    compiled = pm.compile([*found, *extremes], inputs=[A])
    for shape in ((0, 0), (0, 3), (3, 0)):
        results, expected = compiled(np.zeros(shape)), compiled.reference(np.zeros(shape))
        for result, want in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, want)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_threads_find_the_first_one(axis: int | None, threads: int) -> None:
    A = pm.Matrix(pm.Double, "A", [M, N])
    options = pm.Options(threads=threads, parallel_threshold=0)
    compiled = pm.compile([A.argmax(axis=axis), A.argmin(axis=axis)], inputs=[A], options=options)
    rng = np.random.default_rng(8)
    for shape in ((1, 1), (2, 5), (7, 3000), (900, 70), (5, 1)):
        for most in (1, 2, 1000):
            a = rng.integers(0, most, shape).astype(float)
            _same(compiled, [np.argmax(a, axis), np.argmin(a, axis)], a)
            a[rng.integers(shape[0], size=2), rng.integers(shape[1], size=2)] = np.nan
            _same(compiled, [np.argmax(a, axis), np.argmin(a, axis)], a)


def test_along_each_dimension_of_three() -> None:
    """Along the middle one, whose rows of results are rows of planes, too."""
    K = pm.Parameter(pm.Int, "K")
    cube = pm.Image(pm.Float, "cube", [M, N, K])
    compiled = pm.compile([cube.argmax(axis=axis) for axis in (0, 1, 2)], inputs=[cube])
    for shape in ((1, 1, 1), (3, 20, 5), (2, 9, 70)):
        x = np.random.default_rng(2).integers(0, 5, shape).astype("f4")
        _same(compiled, [np.argmax(x, axis) for axis in (0, 1, 2)], x)


def test_all_points_of_planes_of_three_dimensions() -> None:
    """Points of two or three dimensions that lie behind each other, and those that do not."""
    K = pm.Parameter(pm.Int, "K")
    cube, i, j, k = pm.Image(pm.Float, "cube", [M, N, K]), *(pm.Variable(pm.Int, name) for name in "ijk")
    spans = {i: M, j: N, k: K}
    every = {dim: pm.Interval(pm.Int, 0, size - 1) for dim, size in spans.items()}

    def place(name: str, kept: list[Any], value: Any) -> pm.Reduction:
        all_of = [*kept, *(dim for dim in spans if dim not in kept)]
        found = pm.Reduction(
            (kept, [every[dim] for dim in kept]), (all_of, [every[dim] for dim in all_of]), pm.Long, name
        )
        found.defn = [pm.Reduce(found(*kept), value, Op.ArgMax)]
        return found

    point = cube(i, j, k)
    places = [place("whole", [], point), place("planes", [i], point), place("apart", [j], point)]
    places.append(place("moved", [i], point - cube(0, j, k) * 2))
    compiled = pm.compile(places, inputs=[cube])
    for shape in ((1, 1, 1), (3, 20, 5), (2, 9, 70), (5, 3, 1), (2, 60, 70), (0, 2, 3), (2, 0, 3), (2, 3, 0)):
        x = np.random.default_rng(2).integers(0, 50, shape).astype("f4")
        for result, want in zip(compiled(x), compiled.reference(x), strict=True):
            np.testing.assert_array_equal(result, want)
        if x.size:
            assert compiled(x)[0] == np.argmax(x)
            np.testing.assert_array_equal(compiled(x)[1], np.argmax(x.reshape(len(x), -1), 1))


def test_intervals_that_hold_fewer_points_than_there_are_results() -> None:
    """Of columns and of all points, with what a Case leaves out."""
    a, i, j = pm.Matrix(pm.Float, "a", [M, N]), pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    rows, columns = pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)
    some = pm.Reduction(([j], [pm.Interval(pm.Int, 0, N + 1)]), ([i, j], [rows, columns]), pm.Long, "some")
    some.defn = [pm.Reduce(some(j), a(i, j), pm.Op.ArgMax)]
    late = pm.Reduction(([j], [columns]), ([i, j], [rows, columns]), pm.Long, "late")
    late.defn = [pm.Case(pm.Condition(i, ">=", 2), pm.Reduce(late(j), a(i, j), pm.Op.ArgMax))]
    compiled = pm.compile([some, late], inputs=[a])
    none = np.iinfo(np.int64).max
    for shape in ((3, 1), (9, 40), (40, 70)):
        x = np.random.default_rng(4).integers(0, 4, shape).astype("f4")
        wanted = [np.append(np.argmax(x, 0), [none, none]), np.argmax(x[2:], 0) + 2]
        _same(compiled, wanted, x)
