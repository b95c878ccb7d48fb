"""Of a result only some of whose points are defined, the others are zero, whatever its memory held before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Image, Interval, Parameter, Variable
from polymat.codegen.c.abi import Row
from polymat.lang.types import Int
from polymat.runtime import _launch
from polymat.runtime.recycling import kept_limit

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i, j, k = (Variable(Int, name) for name in "ijk")


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    _launch.keep_results(256 << 20)
    yield
    _launch.keep_results(kept_limit())


def inside(before: int, after: int, left: int, right: int) -> Function:
    """2 A without so many rows and columns at its border; the array begins at 0 all the same."""
    A = Image(Double, "A", [N, M])
    rows, columns = Interval(Int, before, N - 1 - after), Interval(Int, left, M - 1 - right)
    inner = Function(([i, j], [rows, columns]), Double, "inner")
    inner.defn = [2 * A(i, j)]
    return inner


@pytest.mark.covering
@pytest.mark.parametrize("border", [(0, 0, 1, 0), (2, 1, 0, 0), (1, 2, 3, 4), (40, 0, 0, 0), (0, 0, 0, 3)])
@pytest.mark.parametrize("shape", [(1, 40000), (2, 40000), (41, 2001), (40000, 1), (9000, 5), (0, 7), (3, 0)])
def test_borders_are_zero(border: tuple[int, int, int, int], shape: tuple[int, int]) -> None:
    before, after, left, right = border
    compiled = pm.compile(inside(*border), name="inside")
    A = np.random.default_rng(1).standard_normal(shape)
    expected = compiled.reference(A)
    for _ in range(3):
        result = compiled(A)
        np.testing.assert_array_equal(result, expected)
        result[...] = np.nan
        del result
    (output,) = compiled.signature.outputs
    partly = before > 0 or left > 0
    assert output.zero_fill == partly
    assert output.written_from == ((Row(before), Row(left)) if partly else ())
    assert output.extents == (Row(-after, ((0, 1),)), Row(-right, ((1, 1),)))


def test_a_block_in_a_cube() -> None:
    x = Image(Double, "x", [N])
    block = Function(
        ([i, j, k], [Interval(Int, 1, 2), Interval(Int, N // 2, N - 1), Interval(Int, 0, N - 3)]),
        Double,
        "block",
    )
    block.defn = [x(j) + i + k]
    compiled = pm.compile(block, name="cube")
    for n in (0, 1, 2, 3, 150, 301):
        values = np.arange(float(n))
        expected = compiled.reference(values)
        for _ in range(2):
            result = compiled(values)
            np.testing.assert_array_equal(result, expected)
            result[...] = np.nan
            del result


def test_what_is_no_rectangle_is_zeroed_as_a_whole() -> None:
    A = Image(Double, "A", [N, N])
    lower = Function(([i, j], [Interval(Int, 0, N - 1), Interval(Int, 0, i)]), Double, "lower")
    lower.defn = [A(i, j)]
    compiled = pm.compile(lower, name="half")
    (output,) = compiled.signature.outputs
    assert output.zero_fill
    assert output.written_from == ()
    values = np.ones((400, 400))
    for _ in range(2):
        result = compiled(values)
        np.testing.assert_array_equal(result, np.tril(values))
        result[...] = np.nan
        del result
