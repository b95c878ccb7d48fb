"""Reads and sums at places computed from data, where other parts of the compiler look at what is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Clamp, Function, Int, Interval, Long, Op, Options, Reduce, Reduction

N, M = pm.Parameter(Int, "N"), pm.Parameter(Int, "M")
i, j, k = (pm.Variable(Int, name) for name in "ijk")
ROWS, COLUMNS, BINS = Interval(Int, 0, N - 1), Interval(Int, 0, M - 1), Interval(Int, 0, 15)
level = pm.Image(pm.UChar, "level", [N, M])
place = pm.Vector(Int, "place", [N], values=(0, N - 1))
TWO = Options(threads=2, parallel_threshold=0)


def histogram(index: Any, name: str = "h", op: Op = Op.Sum, value: Any = 1) -> Reduction:
    h = Reduction(([k], [BINS]), ([i, j], [ROWS, COLUMNS]), Long, name)
    h.defn = [Reduce(h(index), value, op)]
    return h


def levels(n: int = 37, m: int = 53) -> Any:
    return np.random.default_rng(0).integers(0, 256, (n, m), dtype=np.uint8)


def test_a_stage_that_only_says_the_place_comes_before() -> None:
    bin_of = Function(([i, j], [ROWS, COLUMNS]), Int, "bin_of")
    bin_of.defn = [Cast(Int, level(i, j)) // 16]
    h = histogram(Clamp(bin_of(i, j), 0, 15))
    compiled = pm.compile(h, options=Options(inline=False))
    assert compiled.explain().groups[0].stages == ("bin_of",)
    assert np.array_equal(compiled(levels()), np.bincount(levels().ravel() // 16, minlength=16))


def test_a_result_does_not_take_the_memory_that_says_its_places() -> None:
    h = Reduction(([k], [Interval(Int, 0, N - 1)]), ([i], [ROWS]), Int, "h")
    h.defn = [Reduce(h(place(i)), 1, Op.Sum)]
    compiled = pm.compile(h)
    places = np.random.default_rng(0).integers(0, 50, 50, dtype=np.int32)
    expected = np.bincount(places, minlength=50)
    assert np.array_equal(compiled(places, out=places), expected)


@pytest.mark.parametrize("op", [Op.Sum, Op.Min, Op.Max, Op.Mul])
def test_copies_of_threads_are_joined(op: Op) -> None:
    value = Cast(Long, level(i, j)) % 3 + 1
    compiled = pm.compile(histogram(Cast(Int, level(i, j)) // 16, op=op, value=value), options=TWO)
    group = compiled.explain().groups[0]
    assert "each thread adds into a copy of its own" in str(compiled.explain())
    assert group.parallel
    for shape in ((0, 3), (1, 1), (37, 53), (64, 2)):
        given = levels(*shape)
        assert np.array_equal(compiled(given), compiled.reference(given))


def test_rows_of_their_own_need_no_copies() -> None:
    column = pm.Image(Int, "column", [N, M], values=(0, M - 1))
    h = Reduction(([i, j], [ROWS, COLUMNS]), ([i, k], [ROWS, COLUMNS]), Int, "h")
    h.defn = [Reduce(h(i, column(i, k)), 1, Op.Sum)]
    compiled = pm.compile(h, options=TWO)
    given = np.random.default_rng(0).integers(0, 53, (37, 53), dtype=np.int32)
    assert np.array_equal(compiled(given), [np.bincount(row, minlength=53) for row in given])
    assert "copy of its own" not in str(compiled.explain())


def test_a_read_near_its_own_place_shares_tiles_with_what_it_reads() -> None:
    source = pm.Image(pm.Float, "source", [N, M])
    smooth = Function(([i, j], [ROWS, COLUMNS]), pm.Float, "smooth")
    smooth.defn = [pm.Exp(source(i, j)) * pm.Sin(source(i, j))]
    warped = Function(([i, j], [Interval(Int, 1, N - 2), COLUMNS]), pm.Float, "warped")
    warped.defn = [smooth(i + Clamp(Cast(Int, level(i, j)) - 100, -1, 1), j) - smooth(i, j)]
    compiled = pm.compile(warped, options=Options(tile_sizes=(4,), threads=2, parallel_threshold=0))
    given = {"source": np.random.default_rng(0).random((37, 53), np.float32), "level": levels()}
    assert compiled.explain().groups[0].stages == ("smooth", "warped")
    np.testing.assert_allclose(compiled(**given), compiled.reference(**given), atol=1e-5)


def test_a_table_of_a_stage_is_whole_before_it_is_read() -> None:
    h = histogram(Cast(Int, level(i, j)) // 16)
    looked = Function(([i, j], [ROWS, COLUMNS]), Long, "looked")
    looked.defn = [h(Cast(Int, level(i, j)) // 16)]
    compiled = pm.compile(looked, options=TWO)
    assert [group.stages for group in compiled.explain().groups] == [("h",), ("looked",)]
    counts = np.bincount(levels().ravel() // 16, minlength=16)
    assert np.array_equal(compiled(levels()), counts[levels() // 16])


def test_sums_over_what_is_gathered_are_no_products_of_matrices() -> None:
    A, B = pm.Matrix(pm.Double, "A", [N, M]), pm.Matrix(pm.Double, "B", [M, N])
    C = Reduction(([i, j], [ROWS, ROWS]), ([i, j, k], [ROWS, ROWS, COLUMNS]), pm.Double, "C")
    C.defn = [Reduce(C(i, j), A(place(i), k) * B(k, j), Op.Sum)]
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {
        "A": rng.random((37, 53)),
        "B": rng.random((53, 37)),
        "place": rng.integers(0, 37, 37, dtype=np.int32),
    }
    expected = given["A"][given["place"]] @ given["B"]
    np.testing.assert_allclose(pm.compile(C)(**given), expected, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double])
def test_sums_of_as_many_threads_are_the_same_each_time(dtype: Any, threads: int) -> None:
    """Of values that round differently in another order, into few places and into many."""
    value, where = pm.Vector(dtype, "value", [N]), pm.Vector(Int, "where", [N], values=(0, M - 1))
    few = Reduction(([k], [BINS]), ([i], [ROWS]), dtype, "few")
    few.defn = [Reduce(few(where(i) % 16), value(i), Op.Sum)]
    many = Reduction(([j], [COLUMNS]), ([i], [ROWS]), dtype, "many")
    many.defn = [Reduce(many(where(i)), value(i), Op.Sum)]
    compiled = pm.compile([few, many], options=Options(threads=threads, parallel_threshold=0))
    rng = np.random.default_rng(0)
    values = rng.normal(size=40_001).astype(dtype.dtype) / 3
    places = rng.integers(0, 2999, 40_001, dtype=np.int32)
    runs = [compiled(value=values, where=places, M=2999) for _ in range(8)]
    assert {tuple(each.tobytes() for each in run) for run in runs} == {tuple(r.tobytes() for r in runs[0])}
    backwards = compiled(value=values[::-1].copy(), where=places[::-1].copy(), M=2999)
    assert not np.array_equal(backwards[0], runs[0][0])  # so the order does tell
