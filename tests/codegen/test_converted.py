"""Operands of products that stages convert or copy: those stay stages, and the product is one of arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Abs, Cast, Double, Float, Function, Image, Matrix, Options, Short, Vector
from tests.idiom.recognise import K, M, N, i, j, k, point, total, upto
from tests.tolerance import assert_close

MN, SUM, DOUBLED = [(i, upto(M)), (j, upto(N))], [(k, upto(K))], [(k, upto(2 * K))]
A, G = Matrix(Double, "A", [M, K]), Matrix(Double, "G", [M, 2 * K])
F, E = Matrix(Float, "F", [K, N]), Image(Double, "E", [K, 2, N])
SIZES = ((0, 0, 0), (1, 1, 1), (5, 7, 0), (3, 25, 13), (64, 31, 17), (9, 8, 70))

WIDE = point("B", [*SUM, (j, upto(N))], Cast(Double, F(k, j)))
FLAT = point("B", [*DOUBLED, (j, upto(N))], E(k // 2, k % 2, j))
PRODUCTS = {
    "another precision": total("C", MN, SUM, A(i, k) * WIDE(k, j)),
    "folded": total("C", MN, DOUBLED, G(i, k) * FLAT(k, j)),
}


def ways(output: Function, **given: Any) -> list[str]:
    return [group.kind for group in pm.compile(output, name="c", **given).explain().groups]


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_product_is_one_of_arrays(name: str) -> None:
    output = PRODUCTS[name]
    assert ways(output, options=Options(blas="never", threads=1))[-1] == "kernel"
    compiled = pm.compile(output, name="c", options=Options(threads=1))
    rng = np.random.default_rng(1)
    for m, n, depth in SIZES:
        extents = {"A": (m, depth), "G": (m, 2 * depth), "F": (depth, n), "E": (depth, 2, n)}
        names = ("A", "F") if name == "another precision" else ("G", "E")
        values = {each: rng.uniform(-1, 1, extents[each]) for each in names}
        if "F" in values:
            values["F"] = values["F"].astype(np.float32)
        expected = compiled.reference(**values)
        assert_close(compiled(**values), expected, roundings=8 * depth + 8, magnitude=2 * depth + 1)


def test_of_a_few_rows_operands_are_converted_where_they_are_read() -> None:
    assert ways(PRODUCTS["another precision"], estimates={M: 2}) == ["row"]


@pytest.mark.parametrize("name", PRODUCTS)
def test_in_loops_operands_are_converted_where_they_are_read(name: str) -> None:
    options = Options(blas="never", kernels=False, threads=1)
    assert ways(PRODUCTS[name], options=options) == ["row"]
    assert ways(PRODUCTS[name], options=replace(options, blas="always"))[-1] == "call"


def test_an_operand_that_is_computed_is_a_stage_where_calls_are_wanted() -> None:
    """Elements that are used once: computed in the sum, unless a call is asked for."""
    x = Vector(Double, "x", [K])
    positive = point("P", [(i, upto(M)), *SUM], Abs(A(i, k)))
    y = total("y", [(i, upto(M))], SUM, positive(i, k) * x(k))
    assert "call" in ways(y, options=Options(blas="always", threads=1))
    assert ways(y, options=Options(threads=1)) == ["reduce"]


@pytest.mark.parametrize("taps", [0, 1, 3, 16, 17, 65])
def test_a_filter_of_converted_samples_is_one_of_an_array(taps: int) -> None:
    """Of 16-bit samples, as sound is stored."""
    samples, h = Vector(Short, "s", [N + K - 1]), Vector(Float, "h", [K])
    wide = point("w", [(i, upto(N + K - 1))], Cast(Float, samples(i)), dtype=Float)
    output = total("y", [(i, upto(N))], SUM, h(k) * wide(i + k), dtype=Float)
    direct = Options(fir="direct", threads=1)
    compiled = pm.compile(output, name="y", inputs=[h, samples], estimates={K: 16}, options=direct)
    assert [group.kind for group in compiled.explain().groups] == ["map", "filter"]
    rng = np.random.default_rng(taps)
    for count in (1, 7, 31, 32, 33, 500):
        given = rng.uniform(-1, 1, taps), rng.integers(-9, 9, max(count + taps - 1, 0))
        arrays = [array.astype(dtype) for array, dtype in zip(given, ("f4", "i2"), strict=True)]
        expected = compiled.reference(*arrays)
        assert_close(compiled(*arrays), expected, roundings=taps + 4, magnitude=10.0 * taps + 1)
