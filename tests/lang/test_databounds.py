"""Reductions between bounds that data give: sparse matrices, sums of parts of an array, beside SciPy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import polymat as pm
from polymat import Int, Interval, Op, Parameter, Reduce, Reduction, Variable, Vector
from polymat.lang.types import ScalarType

N, M, NNZ, C = (Parameter(Int, name) for name in ("N", "M", "NNZ", "C"))
i, k, c = (Variable(Int, name) for name in "ikc")
row = Vector(Int, "row", [N + 1], values=(0, NNZ), sorted=True)
column = Vector(Int, "column", [NNZ], values=(0, M - 1))
ROWS, ROW = Interval(Int, 0, N - 1), Interval(Int, row(i), row(i + 1) - 1)
SHAPES = [(0, 3), (1, 1), (1, 50), (7, 5), (64, 33), (101, 300)]


def _product(dtype: ScalarType) -> tuple[Any, list[Any]]:
    """A sparse matrix times a vector."""
    value, x = Vector(dtype, "value", [NNZ]), Vector(dtype, "x", [M])
    y = Reduction(([i], [ROWS]), ([i, k], [ROWS, ROW]), dtype, "y")
    y.defn = [Reduce(y(i), value(k) * x(column(k)), Op.Sum)]
    return y, [row, column, value, x]


def matrix(shape: tuple[int, int], kind: str, dtype: str, rng: np.random.Generator) -> Any:
    """A matrix of small integers: some of its rows are empty, or one has nearly all elements."""
    rows, columns = shape
    each = rng.integers(0, min(columns, 6) + 1, rows)
    if kind == "skewed" and rows:
        each = np.zeros(rows, np.int64)
        each[rng.integers(rows)] = columns
        each[rng.integers(rows)] = 1
    ends = np.concatenate([[0], np.cumsum(each)]).astype(np.int32)
    places = [np.sort(rng.choice(columns, count, replace=False)) for count in each]
    indices = np.concatenate([np.zeros(0, np.int64), *places]).astype(np.int32)
    values = rng.integers(-4, 5, len(indices)).astype(dtype)
    return sparse.csr_matrix((values, indices, ends), shape=shape)


@pytest.mark.parametrize("dtype", [pm.Double, pm.Float, pm.Int, pm.Long], ids=str)
def test_sparse_matrix_times_vector(dtype: ScalarType) -> None:
    y, inputs = _product(dtype)
    compiled = [
        pm.compile(y, inputs=inputs, options=pm.Options(threads=t, parallel_threshold=0)) for t in (1, 2)
    ]
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        for kind in ("even", "skewed"):
            a = matrix(shape, kind, dtype.dtype, rng)
            x = rng.integers(-4, 5, shape[1]).astype(dtype.dtype)
            arrays = (a.indptr, a.indices, a.data, x)
            for found in (compiled[0].reference(*arrays), *(each(*arrays) for each in compiled)):
                np.testing.assert_array_equal(found, a @ x)


def test_rows_of_real_numbers_are_rounded_as_sums_are() -> None:
    y, inputs = _product(pm.Float)
    compiled = pm.compile(y, inputs=inputs)
    rng = np.random.default_rng(1)
    a: Any = sparse.random(40, 2000, 0.3, format="csr", random_state=1, dtype=np.float32)
    x = rng.standard_normal(2000).astype(np.float32)
    bound = 600 * np.finfo(np.float32).eps * (abs(a) @ abs(x))
    assert (abs(compiled(a.indptr, a.indices, a.data, x) - a.astype(np.float64) @ x) <= bound).all()


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [pm.Double, pm.Float], ids=str)
@pytest.mark.parametrize("places", [pm.Int, pm.Long], ids=str)
def test_rows_have_the_same_bits_wherever_threads_begin(dtype: ScalarType, places: ScalarType) -> None:
    """Whether rows around it are alike or not, and whatever pieces it comes in, a row is one sum."""
    columns = Vector(places, "columns", [NNZ], values=(0, M - 1))
    value, x = Vector(dtype, "value", [NNZ]), Vector(dtype, "x", [M])
    y = Reduction(([i], [ROWS]), ([i, k], [ROWS, ROW]), dtype, "y")
    y.defn = [Reduce(y(i), value(k) * x(columns(k)), Op.Sum)]
    compiled = pm.compile(y, inputs=[row, columns, value, x])
    rng = np.random.default_rng(5)
    unlike = [*range(40), 511, 512, 513, 0, 1600, 3, *rng.integers(0, 30, 200)]
    vector = rng.standard_normal(300).astype(dtype.dtype)
    ends = np.concatenate([[0], np.cumsum(unlike)]).astype(np.int32)
    where = rng.integers(0, 300, ends[-1]).astype(places.dtype)
    values = rng.standard_normal(ends[-1]).astype(dtype.dtype)
    found = compiled(ends, where, values, vector)
    exact = [values[a:b].astype(float) @ vector[where[a:b]].astype(float) for a, b in pairwise(ends)]
    sizes = [abs(values[a:b]).astype(float) @ abs(vector[where[a:b]]) for a, b in pairwise(ends)]
    assert (abs(found - exact) <= 1600 * np.finfo(dtype.dtype).eps * np.array(sizes)).all()
    for n, (first, end) in enumerate(pairwise(ends)):
        part = (where[first:end], values[first:end])
        alone = compiled(np.array([0, end - first], np.int32), *part, vector)
        assert alone.tobytes() == found[n : n + 1].tobytes()


def test_sparse_matrix_times_some_vectors() -> None:
    value, x = Vector(pm.Double, "value", [NNZ]), pm.Matrix(pm.Double, "x", [M, C])
    columns = Interval(Int, 0, C - 1)
    y = Reduction(([i, c], [ROWS, columns]), ([i, k, c], [ROWS, ROW, columns]), pm.Double, "y")
    y.defn = [Reduce(y(i, c), value(k) * x(column(k), c), Op.Sum)]
    compiled = pm.compile(y, inputs=[row, column, value, x])
    rng = np.random.default_rng(2)
    for shape in SHAPES:
        a = matrix(shape, "even", "float64", rng)
        for count in (0, 1, 5):
            vectors = rng.integers(-4, 5, (shape[1], count)).astype(float)
            arrays = (a.indptr, a.indices, a.data, vectors)
            for found in (compiled(*arrays), compiled.reference(*arrays)):
                np.testing.assert_array_equal(found, a @ vectors)


def _pooled(dtype: ScalarType, op: Op, value: Any = None) -> Any:
    x = Vector(dtype, "x", [NNZ])
    p = Reduction(([i], [ROWS]), ([i, k], [ROWS, ROW]), dtype, f"p{op.name}")
    p.defn = [Reduce(p(i), x(k) if value is None else value, op)]
    return x, p


@pytest.mark.parametrize("dtype", [pm.Float, pm.Short, pm.UChar], ids=str)
def test_parts_of_an_array_are_pooled(dtype: ScalarType) -> None:
    x = Vector(dtype, "x", [NNZ])
    outputs = []
    for op, result in ((Op.Sum, dtype), (Op.Min, dtype), (Op.Max, dtype), (Op.ArgMax, Int), (Op.Count, Int)):
        p = Reduction(([i], [ROWS]), ([i, k], [ROWS, ROW]), result, f"p{op.name}")
        p.defn = [Reduce(p(i), x(k), op)]
        outputs.append(p)
    compiled = pm.compile(outputs, inputs=[row, x])
    rng = np.random.default_rng(3)
    for lengths in ([], [0], [1], [3, 0, 0, 70, 1, 33], rng.integers(0, 9, 50)):
        ends = np.concatenate([[0], np.cumsum(np.array(lengths, int))]).astype(np.int32)
        values = rng.integers(0, 90, ends[-1]).astype(dtype.dtype)
        parts = [values[a:b] for a, b in pairwise(ends)]
        for found in (compiled(ends, values), compiled.reference(ends, values)):
            for n, part in enumerate(parts):
                assert found[0][n] == part.sum(dtype=dtype.dtype)
                assert found[4][n] == np.count_nonzero(part)
                if len(part):
                    assert (found[1][n], found[2][n]) == (part.min(), part.max())
                    assert found[3][n] == ends[n] + part.argmax()


def test_an_infinite_element_outside_is_not_the_extreme_one() -> None:
    """What lies outside of a part counts as the neutral element, which is infinite for Min."""
    x, p = Vector(pm.Float, "x", [NNZ]), Reduction(([i], [ROWS]), ([i, k], [ROWS, ROW]), Int, "p")
    p.defn = [Reduce(p(i), x(k), Op.ArgMin)]
    compiled = pm.compile(p, inputs=[row, x])
    arrays = np.array([0, 2, 4], np.int32), np.array([1, 2, np.inf, np.inf], np.float32)
    for found in (compiled(*arrays), compiled.reference(*arrays)):
        np.testing.assert_array_equal(found, [0, 2])


def test_bounds_with_steps_and_lengths() -> None:
    """Bounds are any integers with a range: starts and lengths, parts that overlap or are turned round."""
    start = Vector(pm.Long, "start", [N], values=(0, NNZ))
    length = Vector(pm.UChar, "length", [N])
    x = Vector(pm.Double, "x", [NNZ])
    last = pm.Clamp(start(i) + length(i), 0, NNZ) - 1
    s = Reduction(([i], [ROWS]), ([i, k], [ROWS, Interval(Int, start(i), last)]), pm.Double, "s")
    s.defn = [pm.Case(pm.Condition(k % 3, "!=", 1), Reduce(s(i), x(k), Op.Sum))]
    compiled = pm.compile(s, inputs=[start, length, x])
    rng = np.random.default_rng(4)
    values = rng.integers(-9, 9, 100).astype(float)
    starts, lengths = rng.integers(0, 101, 30), rng.integers(0, 60, 30).astype(np.uint8)
    counted = np.where(np.arange(100) % 3 != 1, values, 0)
    expected = [counted[a : a + n].sum() for a, n in zip(starts, lengths, strict=True)]
    for found in (compiled(starts, lengths, values), compiled.reference(starts, lengths, values)):
        np.testing.assert_array_equal(found, expected)


def test_segments_into_computed_places() -> None:
    """The transposed matrix times a vector: elements of each row go to the places of their columns."""
    value, x = Vector(pm.Double, "value", [NNZ]), Vector(pm.Double, "x", [N])
    y = Reduction(([c], [Interval(Int, 0, M - 1)]), ([i, k], [ROWS, ROW]), pm.Double, "y")
    y.defn = [Reduce(y(column(k)), value(k) * x(i), Op.Sum)]
    compiled = pm.compile(y, inputs=[row, column, value, x])
    rng = np.random.default_rng(5)
    for shape in SHAPES:
        a = matrix(shape, "even", "float64", rng)
        x_values = rng.integers(-4, 5, shape[0]).astype(float)
        arrays = (a.indptr, a.indices, a.data, x_values)
        for call in (compiled, compiled.reference):
            np.testing.assert_array_equal(call(*arrays, M=shape[1]), a.T @ x_values)


def test_loops_run_between_the_bounds() -> None:
    y, inputs = _product(pm.Double)
    source = pm.compile(y, inputs=inputs).source
    assert "const ptrdiff_t _pm_from_k = (int64_t)row[i];" in source  # of declared values, which lie inside
    assert "const ptrdiff_t _pm_to_k = (int64_t)row[i + 1];" in source
    fixed = pm.compile(y, inputs=inputs, sizes={NNZ: 1, M: 2})
    arrays = np.array([0, 0, 1, 1], np.int32), np.ones(1, np.int32), np.full(1, 3.0), np.array([5.0, 7.0])
    for found in (fixed(*arrays), fixed.reference(*arrays)):
        np.testing.assert_array_equal(found, [0, 21, 0])


def test_values_outside_are_refused_before_anything_is_read() -> None:
    y, inputs = _product(pm.Double)
    compiled = pm.compile(y, inputs=inputs)
    good = [np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32), np.ones(2), np.ones(2)]
    for place, bad, text in (
        (0, [0, 3, 2], r"row\[1\] is 3, and its values are declared as 0\.\.2"),
        (0, [0, -1, 2], r"row\[1\] is -1, and its values are declared as 0\.\.2"),
        (0, [0, 2, 1], r"row\[2\] is 1, less than 2 before it, and its values are declared as sorted"),
        (1, [0, 2], r"column\[1\] is 2, and its values are declared as 0\.\.1"),
    ):
        arrays = [*good]
        arrays[place] = np.array(bad, np.int32)
        for call in (compiled, compiled.reference):
            with pytest.raises(pm.ArgumentError, match=text):
                call(*arrays)


@pytest.mark.parametrize(
    ("high", "last"),
    [
        (row(i + 1) - 1, "NNZ - 1"),
        (pm.Clamp(row(i) + 3, 0, NNZ) - 1, "NNZ - 1"),
        (row(i) + 2 * i, "NNZ + 2*i"),
        (N - row(i), "N"),
        (row(i) // 2, "(NNZ)//2"),
        (Vector(pm.UChar, "u", [N])(i), "255"),
    ],
    ids=str,
)
def test_the_whole_range_is_what_all_bounds_lie_in(high: Any, last: str) -> None:
    assert str(Interval(Int, row(i), high).hi) == last


@pytest.mark.parametrize("dtype", [pm.UInt, pm.UInt64, pm.UChar, pm.Long], ids=str)
def test_bounds_of_any_integers(dtype: ScalarType) -> None:
    """An unsigned 0 less 1 is the largest number of its type, but the end of an empty part."""
    ends = Vector(dtype, "ends", [N + 1], values=(0, NNZ), sorted=True)
    x, s = (
        Vector(pm.Double, "x", [NNZ]),
        Reduction(([i], [ROWS]), ([i, k], [ROWS, _between(ends)]), pm.Double, "s"),
    )
    s.defn = [Reduce(s(i), x(k), Op.Sum)]
    compiled = pm.compile(s, inputs=[ends, x])
    arrays = np.array([0, 0, 2, 2, 5], dtype.dtype), np.arange(5.0)
    for call in (compiled, compiled.reference):
        np.testing.assert_array_equal(call(*arrays), [0, 1, 0, 9])


def test_threads_share_the_elements_of_rows() -> None:
    y, inputs = _product(pm.Double)
    source = pm.compile(y, inputs=inputs, options=pm.Options(threads=2)).source
    assert "_pm_share_i32(row, _pm_first, _pm_last, _pm_chunk, _pm_pieces)" in " ".join(source.split())
    free = Vector(Int, "row", [N + 1], values=(0, NNZ))
    x, s = (
        Vector(pm.Double, "x", [NNZ]),
        Reduction(([i], [ROWS]), ([i, k], [ROWS, _between(free)]), pm.Double, "s"),
    )
    s.defn = [Reduce(s(i), x(k), Op.Sum)]
    assert "_pm_share" not in pm.compile(s, inputs=[free, x], options=pm.Options(threads=2)).source


def _between(ends: Any) -> Interval:
    return Interval(Int, ends(i), ends(i + 1) - 1)


def test_what_is_sorted_is_declared_so() -> None:
    with pytest.raises(pm.LangError, match="r: sorted= is of integers between declared limits"):
        Vector(Int, "r", [N], sorted=True)
    with pytest.raises(pm.LangError, match="r: sorted is True or False, got 3"):
        Vector(Int, "r", [N], values=(0, N), sorted=3)  # type: ignore[arg-type]


def test_bounds_without_a_range_and_bounds_of_results_are_refused() -> None:
    free = Vector(Int, "free", [N + 1])
    with pytest.raises(
        pm.BoundsError, match=r"an interval ends at free\(i\), and nothing says where that lies"
    ):
        Interval(Int, free(i), row(i + 1) - 1)
    with pytest.raises(pm.NotAffineError, match="the bounds of k in f are computed from data"):
        pm.Function(([i, k], [ROWS, ROW]), Int, "f")
    with pytest.raises(pm.NotAffineError, match="the bounds of k in f are not affine"):
        pm.Function(([i, k], [ROWS, Interval(Int, pm.Max(i - 2, 0), N - 1)]), Int, "f")
    with pytest.raises(
        pm.NotAffineError, match="the bounds of k in r's reduction use i, which does not come before"
    ):
        Reduction(([k], [ROWS]), ([k, i], [ROW, ROWS]), Int, "r")
    with pytest.raises(pm.NotAffineError, match=r"not affine: 1\.5 is not an integer"):
        Interval(Int, row(i), 1.5)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (pm.Max(i - 2, 0), pm.Min(i + 1, N - 1)),
        (pm.Max(0, i - 3), pm.Min(i + 3, N) - 1),
        (pm.Clamp(i - 1, 0, N - 1), pm.Clamp(2 * i - 3, 0, N - 1)),
        (pm.Max(i // 2, pm.Max(i - 2, 3)), pm.Min(N - 1, 7)),
        (pm.Clamp(pm.Min(i, N - 1 - i), 0, N - 1), pm.Min(i + 1, N) - 1),
        (pm.Clamp(pm.Min(3, i), 0, N - 1), N - 1),
    ],
    ids=str,
)
def test_bounds_of_minima_and_maxima_bound_what_is_read(low: Any, high: Any) -> None:
    """A window that ends with the array: nothing beyond it is read, and no condition has to say so."""
    x = Vector(pm.Double, "x", [N])
    window = [i, k], [ROWS, Interval(Int, low, high)]
    sums = Reduction(([i], [ROWS]), window, pm.Double, "sums")
    place = Reduction(([i], [ROWS]), window, Int, "place")
    sums.defn = [Reduce(sums(i), x(k) * x(i), Op.Sum)]
    place.defn = [Reduce(place(i), x(k), Op.ArgMax)]
    compiled = pm.compile([sums, place], inputs=[x])
    plain = {"Min": min, "Max": max, "Clamp": lambda e, a, b: min(max(e, a), b)}
    for n in (1, 2, 3, 5, 8, 17):
        values = np.random.default_rng(n).integers(-9, 10, n).astype(float)
        for found in (compiled(values), compiled.reference(values)):
            for row_number in range(n):
                ends = {"i": row_number, "N": n}
                first, last = (int(eval(str(bound), plain, ends)) for bound in (low, high))
                part = values[first : last + 1]
                assert found[0][row_number] == part.sum() * values[row_number]
                if len(part):
                    assert found[1][row_number] == first + part.argmax()


def test_a_bound_is_not_taken_for_one_of_what_it_may_be() -> None:
    """Of a minimum, or of a choice, the first operand is no lower limit: sums began there, and lost terms."""
    for low in (pm.Min(i, N - 1 - i), pm.Min(i, 3), pm.Select(pm.Condition(i, "<", 3), i, 0)):
        with pytest.raises(pm.BoundsError, match="nothing says where that lies"):
            Interval(Int, low, N - 1)
    start, x = Vector(Int, "start", [N], values=(0, N - 1)), Vector(pm.Double, "x", [N])
    values, starts = np.arange(1.0, 8.0), np.array([6, 3, 0, 2, 1, 0, 5], np.int32)
    for low, firsts in (
        (pm.Min(N - 1 - start(i), start(i)), np.minimum(6 - starts, starts)),
        (pm.Select(pm.Condition(start(i), "<", 3), N - 1 - start(i), start(i)), [6, 3, 6, 4, 5, 6, 5]),
        (pm.Select(pm.Condition(start(i), "<", 3), 5, start(i)), [6, 3, 5, 5, 5, 5, 5]),
    ):
        s = Reduction(([i], [ROWS]), ([i, k], [ROWS, Interval(Int, low, N - 1)]), pm.Double, "s")
        s.defn = [Reduce(s(i), x(k), Op.Sum)]
        found = pm.compile(s, inputs=[start, x])(starts, values)
        np.testing.assert_array_equal(found, [values[first:].sum() for first in firsts])


@pytest.mark.parametrize(("one", "other", "least"), [(N, N - 1, N - 1), (1, 0, 0), (0, N - 1, -1)])
def test_of_two_ends_of_a_choice_the_lower_one_is_a_limit(one: Any, other: Any, least: Any) -> None:
    """Of 0 and N - 1, neither of which is always the lower one, what is one less."""
    for ends in ((one, other), (other, one)):
        low = pm.Select(pm.Condition(i, "<", 3), *ends)
        found = Interval(Int, low, N + 3)
        assert str(found.lo) == str(least)


def test_choices_of_0_and_the_last_index_where_there_is_none() -> None:
    """A sum from -1 on lost its first term where M is 0, and one up to -1 or 0 was refused."""
    first = pm.Condition(i, "<", 1)
    made: list[Reduction] = []
    for low, high in ((pm.Select(first, 0, M - 1), 3), (-2, pm.Select(first, 0, M - 1))):
        s = Reduction(([i], [ROWS]), ([i, k], [ROWS, Interval(Int, low, high)]), pm.Double, f"s{len(made)}")
        s.defn = [Reduce(s(i), pm.Cast(pm.Double, k + 4), Op.Sum)]
        made.append(s)
    compiled = pm.compile(made, options=pm.Options(cflags=("-O1",)))
    for run in (compiled, compiled.reference):
        assert [each.tolist() for each in run(M=0, N=3)] == [[22, 25, 25], [9, 5, 5]]
        assert [each.tolist() for each in run(M=3, N=2)] == [[22, 13], [9, 20]]
    x = Vector(pm.Double, "x", [M])
    part = Reduction(
        ([i], [ROWS]), ([i, k], [ROWS, Interval(Int, pm.Select(first, 0, M - 1), M - 1)]), pm.Double, "part"
    )
    part.defn = [Reduce(part(i), x(k), Op.Sum)]
    with pytest.raises(pm.BoundsError, match=r"k = -1 with M = 0, N = 2 this is x\(-1\)"):
        pm.compile(part)
    parts = pm.compile(part, constraints=[pm.Condition(M, ">", 0)], options=pm.Options(cflags=("-O1",)))
    assert parts(np.arange(1.0, 4.0), N=2).tolist() == [6, 3]


def test_loops_over_elements_around_those_over_rows() -> None:
    """Bounds that depend on a loop further in are none: the choice is taken at every point."""
    to, value = Vector(Int, "to", [N], values=(0, 9)), Vector(pm.Double, "value", [NNZ])
    inside = (pm.Condition(row(i), "<=", k)) & pm.Condition(k, "<", row(i + 1))
    j = Variable(Int, "j")
    sums = Reduction(
        ([j], [Interval(Int, 0, 9)]), ([k, i], [Interval(Int, 0, NNZ - 1), ROWS]), pm.Double, "sums"
    )
    sums.defn = [Reduce(sums(to(i)), pm.Select(inside, value(k), 0.0), Op.Sum)]
    compiled = pm.compile(sums, inputs=[row, to, value], options=pm.Options(cflags=("-O1",)))
    arrays = (np.array([0, 2, 2, 5], np.int32), np.array([3, 9, 3], np.int32), np.arange(5.0))
    np.testing.assert_array_equal(compiled(*arrays), compiled.reference(*arrays))
    assert compiled(*arrays)[3] == 10.0


def test_bounds_are_read_where_their_index_is_known() -> None:
    """A known single row has no loop, and the paper's order has rows inside."""
    value = Vector(pm.Double, "value", [NNZ])
    sums = Reduction(([i], [ROWS]), ([i, k], [ROWS, ROW]), pm.Double, "sums")
    sums.defn = [Reduce(sums(i), value(k), Op.Sum)]
    one = pm.compile(sums, inputs=[row, value], sizes={N: 1})
    np.testing.assert_array_equal(one(np.array([1, 3], np.int32), np.arange(4.0)), [3.0])
    by_paper = pm.compile(sums, inputs=[row, value], options=pm.Options.paper())
    arrays = (np.array([0, 2, 2, 5], np.int32), np.arange(5.0))
    np.testing.assert_array_equal(by_paper(*arrays), [1.0, 0.0, 9.0])
