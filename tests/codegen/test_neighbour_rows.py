"""Rows of a sparse matrix whose elements are neighbours, and those among them that are not."""

from __future__ import annotations

import os
import sys
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Int, Interval, Long, Op, Parameter, Reduce, Reduction, Variable, Vector
from polymat.codegen.program import Program
from tests.codegen.loops.test_jam import before_guard
from tests.differential.under_sanitizers import clean_output
from tests.fixed import NARROW, WIDE, compiled_levels, own_c

M, N, NNZ = (Parameter(Int, name) for name in ("M", "N", "NNZ"))
i, k = Variable(Int, "i"), Variable(Int, "k")
ROWS = Interval(Int, 0, M - 1)
row = Vector(Int, "row", [M + 1], values=(0, NNZ), sorted=True)
ENOUGH = (500,) * 18  # elements that some are looked at, for each of two threads
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 0, 0, 500, 5, 5, 5, 11, 11, 11, *ENOUGH)
EXTENT = 600


def product(dtype: Any, places: Any) -> tuple[Any, list[Any]]:
    column = Vector(places, "column", [NNZ], values=(0, N - 1))
    value, x = Vector(dtype, "value", [NNZ]), Vector(dtype, "x", [N])
    inside = Interval(Int, row(i), row(i + 1) - 1)
    y = Reduction(([i], [ROWS]), ([i, k], [ROWS, inside]), dtype, "y")
    y.defn = [Reduce(y(i), value(k) * x(column(k)), Op.Sum)]
    return y, [row, column, value, x]


@cache
def compiled(dtype: Any, places: Any, threads: int = 1) -> Any:
    y, inputs = product(dtype, places)
    options = pm.Options(parallel_threshold=0, threads=threads)
    return pm.compile(y, inputs=inputs, options=options, name="rows")


def columns_of(lengths: Any, rng: np.random.Generator) -> Any:
    """Neighbours, from anywhere on."""
    begins = [rng.integers(0, EXTENT - length + 1) for length in lengths]
    return np.concatenate([begin + np.arange(length) for begin, length in zip(begins, lengths, strict=True)])


def given(dtype: Any, places: Any, rng: np.random.Generator, lengths: Any = LENGTHS) -> dict[str, Any]:
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return {
        "row": ends,
        "column": columns_of(lengths, rng).astype(places.dtype),
        "value": rng.standard_normal(ends[-1]).astype(dtype.dtype),
        "x": rng.standard_normal(EXTENT).astype(dtype.dtype),
    }


def check(dtype: Any, places: Any, arrays: dict[str, Any]) -> None:
    """Rows are sums within their rounding, each with the bits that it has between others and alone."""
    ends, column, value, x = arrays.values()
    found = compiled(dtype, places)(**arrays)
    assert compiled(dtype, places, 2)(**arrays).tobytes() == found.tobytes()
    terms = value.astype(float) * x.astype(float)[column]
    for number, (low, high) in enumerate(pairwise(ends)):
        bound = 20 * np.finfo(dtype.dtype).eps * np.abs(terms[low:high]).sum()
        assert abs(found[number] - terms[low:high].sum()) <= bound
        scattered = np.concatenate([column[low:high], [5, 3, 3, 9, 1, 0, 7, 2]]).astype(places.dtype)
        around = np.array([0, high - low, high - low + 3, high - low + 8], np.int32)
        values = np.concatenate([value[low:high], np.ones(8)]).astype(dtype.dtype)
        alone = compiled(dtype, places)(row=around, column=scattered, value=values, x=x)
        assert alone[:1].tobytes() == found[number : number + 1].tobytes()


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("places", [Int, Long], ids=str)
def test_rows_of_all_lengths(dtype: Any, places: Any, seed: int) -> None:
    check(dtype, places, given(dtype, places, np.random.default_rng(seed)))


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("places", [Int, Long], ids=str)
def test_places_that_are_no_neighbours_among_others(dtype: Any, places: Any, seed: int) -> None:
    """Two that were exchanged, one that is there twice, and one elsewhere: at each place of rows."""
    rng = np.random.default_rng(seed)
    lengths = [11] * 70 + [*LENGTHS]
    for at in range(34):
        arrays = given(dtype, places, rng, lengths)
        ends, column = arrays["row"], arrays["column"]
        long = [number for number, (low, high) in enumerate(pairwise(ends)) if high - low > at + 1]
        low, middle, last = (ends[number] + at for number in (long[-1], long[len(long) // 2], long[0]))
        column[[low, low + 1]] = column[[low + 1, low]]
        column[middle + 1] = column[middle]
        column[last] = rng.integers(0, EXTENT)
        check(dtype, places, arrays)


def test_nothing_beside_a_row_counts() -> None:
    """Elements beside a row that are NaN, and the last ones of arrays."""
    lengths = [3] * 40
    arrays = given(Double, Int, np.random.default_rng(0), lengths)
    arrays["column"] = np.tile(np.arange(EXTENT - 3, EXTENT), 40).astype(np.int32)
    arrays["value"][:3] = np.nan
    arrays["value"][6:9] = np.nan
    arrays["x"][: EXTENT - 3] = np.nan
    found = compiled(Double, Int)(**arrays)
    assert np.array_equal(np.isnan(found), np.isin(np.arange(40), [0, 2]))


def test_a_row_of_negative_zeros_is_one() -> None:
    arrays = given(Double, Int, np.random.default_rng(0), [3] * 20)
    arrays["value"][:] = -0.0
    arrays["x"][:] = 1.0
    found = compiled(Double, Int)(**arrays)
    assert np.array_equal(np.signbit(found), np.signbit(compiled(Double, Int).reference(**arrays)))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_place_outside_is_named(threads: int) -> None:
    arrays = given(Double, Int, np.random.default_rng(0), [11] * 200)
    for at in (0, 5, 10, 11, 300, 2199):
        for wrong in (-1, EXTENT, 2**31 - 1, -(2**31)):
            column = arrays["column"].copy()
            column[at] = wrong
            with pytest.raises(pm.ArgumentError, match=rf"column\[{at}\] is {wrong}, "):
                compiled(Double, Int, threads)(**{**arrays, "column": column})
    column = arrays["column"].copy()
    column[22:33] = np.arange(EXTENT - 10, EXTENT + 1)
    with pytest.raises(pm.ArgumentError, match=rf"column\[32\] is {EXTENT}, "):
        compiled(Double, Int, threads)(**{**arrays, "column": column})


@pytest.mark.parametrize("machine", [WIDE, NARROW], ids=str)
def test_rows_are_looked_at_whose_bounds_are_those_of_the_elements(machine: Any) -> None:
    found = c_of(machine, Interval(Int, row(i), row(i + 1) - 1))
    assert "_pm_beside_i32_i32(row, _pm_begin0, _pm_end0, &column[0])" in found  # each thread at its own
    cut = Interval(Int, row(i), pm.Min(row(i + 1), NNZ - 1) - 1)
    assert "_pm_beside" not in c_of(machine, cut)


def c_of(machine: Any, inside: Interval) -> str:
    column = Vector(Int, "column", [NNZ], values=(0, N - 1))
    value, x = Vector(Double, "value", [NNZ]), Vector(Double, "x", [N])
    y = Reduction(([i], [ROWS]), ([i, k], [ROWS, inside]), Double, "y")
    y.defn = [Reduce(y(i), value(k) * x(column(k)), Op.Sum)]
    program = compiled_levels(y, inputs=[row, column, value, x], machine=machine)["codegen"]
    assert isinstance(program, Program)
    return own_c(program)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("places", [Int, Long], ids=str)
def test_nothing_behind_arrays_is_read(dtype: Any, places: Any) -> None:
    """Each ends in front of a page that nobody may read, and rows read the last elements."""
    for length in (1, 2, 7, 8, 9, 15, 16, 17, 40):
        held: list[Any] = []
        arrays = given(dtype, places, np.random.default_rng(length), [*ENOUGH, *[length] * 30])
        arrays["column"][-length:] = np.arange(EXTENT - length, EXTENT)
        guarded = {name: before_guard(array, held) for name, array in arrays.items()}
        child = os.fork()
        if child == 0:
            same = compiled(dtype, places)(**guarded).tobytes() == compiled(dtype, places)(**arrays).tobytes()
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0, f"rows of {length} read behind arrays, or found other sums"


def test_sanitizers_find_nothing() -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_segments"])
    assert printed.splitlines() == ["neighbours", "rows of results"]


def test_few_elements_are_not_looked_at_nor_rows_of_other_tiles() -> None:
    """Each tile of a few rows looked at rows all over the array, which took longer than its sums."""
    y, inputs = product(Double, Int)
    scaled = pm.Function(([i], [ROWS]), Double, "scaled")
    scaled.defn = [0.5 * y(i) + 1.0]
    options = pm.Options(scheme={"scaled": "[fuse(y), Par(i), T(i, 8)]"}, parallel_threshold=0, threads=2)
    fused = pm.compile(scaled, inputs=inputs, options=options)
    assert "_pm_beside_i32_i32(row, 0," not in fused.source
    assert "_pm_beside_i32_i32(row, _pm_begin0" in fused.source
    for lengths in (LENGTHS, [1000, 2] * 8, [3] * 40, [0]):
        arrays = given(
            Double, Int, np.random.default_rng(len(lengths)), [min(each, EXTENT) for each in lengths]
        )
        assert np.array_equal(fused(**arrays), 0.5 * compiled(Double, Int)(**arrays) + 1.0)
