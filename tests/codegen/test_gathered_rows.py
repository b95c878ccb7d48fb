"""Sums of gathered elements along rows of all lengths: the same bits whatever rows come before."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from polymat import (
    Double,
    Float,
    Int,
    Interval,
    Long,
    Op,
    Options,
    Parameter,
    Reduce,
    Reduction,
    Variable,
    Vector,
)
from polymat import compile as compile_pipeline

M, N, NNZ = (Parameter(Int, name) for name in ("M", "N", "NNZ"))
i, k = Variable(Int, "i"), Variable(Int, "k")
DRAWN = 40  # of each type
LENGTHS = [*range(12), 3, 3, 3, 0, 0, 1, 1, 9, 9, 40, 7, 7]


@cache
def rows(dtype: Any, places: Any, threads: int) -> Any:
    """Products of rows with a vector; where each begins and ends is two inputs, in any order."""
    begin, end = (Vector(Int, name, [M], values=(0, NNZ)) for name in ("begin", "end"))
    column = Vector(places, "column", [NNZ], values=(0, N - 1))
    value, x = Vector(dtype, "value", [NNZ]), Vector(dtype, "x", [N])
    inside = Interval(Int, begin(i), end(i) - 1)
    y = Reduction(([i], [Interval(Int, 0, M - 1)]), ([i, k], [Interval(Int, 0, M - 1), inside]), dtype, "y")
    y.defn = [Reduce(y(i), value(k) * x(column(k)), Op.Sum)]
    options = Options(parallel_threshold=0, threads=threads)
    return compile_pipeline([y], options=options, name="rows")


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("places", [Int, Long], ids=str)
def test_the_same_bits_whatever_comes_before(dtype: Any, places: Any, seed: int) -> None:
    """For many numbers: few sums differ where some products are rounded before they are added."""
    for number in range(DRAWN):
        check_bits(dtype, places, np.random.default_rng([seed, number]))


def check_bits(dtype: Any, places: Any, rng: np.random.Generator) -> None:
    count, extent = sum(LENGTHS), 23
    end = np.cumsum(LENGTHS, dtype=np.int32)
    begin = end - np.array(LENGTHS, np.int32)
    begin[5], end[5] = end[5], begin[5]  # ends before it begins
    given = {
        "column": rng.integers(0, extent, count).astype(places.dtype),
        "value": rng.standard_normal(count).astype(dtype.dtype),
        "x": rng.standard_normal(extent).astype(dtype.dtype),
    }
    first = rows(dtype, places, 1)(begin=begin, end=end, **given)
    for order in (np.arange(len(LENGTHS))[::-1], rng.permutation(len(LENGTHS))):
        for threads in (1, 2):
            found = rows(dtype, places, threads)(begin=begin[order], end=end[order], **given)
            assert found.tobytes() == first[order].tobytes()
    terms = given["value"].astype(float) * given["x"].astype(float)[given["column"]]
    sums = [terms[low:high].sum() for low, high in zip(begin, end, strict=True)]
    sizes = [np.abs(terms[low:high]).sum() for low, high in zip(begin, end, strict=True)]
    assert np.all(np.abs(first - sums) <= 50 * np.finfo(dtype.dtype).eps * np.array(sizes))


def test_nothing_beside_a_row_counts(seed: int) -> None:
    """Numbers behind the end of a row, NaN say, and elements that no place names, are not added."""
    begin, end = np.array([0, 2, 9], np.int32), np.array([1, 5, 9], np.int32)
    value = np.full(9, np.nan)
    value[[0, 2, 3, 4]] = [1.0, 2.0, 3.0, 4.0]
    x = np.array([np.inf, 1.0, 2.0])
    column = np.array([1, 0, 1, 2, 1, 0, 0, 0, 0], np.int32)
    found = rows(Double, Int, 1)(begin=begin, end=end, column=column, value=value, x=x)
    assert found.tolist() == [1.0, 12.0, 0.0]
