"""Symmetric and triangular products by library calls, in blocks of rows: against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Double, Int, Interval, Matrix, Options
from tests.idiom.recognise import K, M, N, i, j, k, total, upto
from tests.tolerance import assert_close

A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [M, K])
At, Bt = Matrix(Double, "At", [K, M]), Matrix(Double, "Bt", [K, M])
Z, Zt = Matrix(Complex, "Z", [M, K]), Matrix(Complex, "Zt", [K, M])
S, Y, X = Matrix(Double, "S", [M, M]), Matrix(Double, "Y", [M, N]), Matrix(Double, "X", [N, M])
LOWER = [(i, upto(M)), (j, Interval(Int, 0, i))]
UPPER = [(i, upto(M)), (j, Interval(Int, i, M - 1))]
FULL, ACROSS = [(i, upto(M)), (j, upto(N))], [(i, upto(N)), (j, upto(M))]
IN_K = [(k, upto(K))]
SIZES = ((0, 2, 3), (1, 1, 1), (2, 0, 3), (5, 3, 0), (3, 1, 2), (7, 5, 4), (31, 8, 9), (67, 13, 33))


def from_diagonal(strict: int) -> Interval:
    return Interval(Int, i + strict, M - 1)


PROGRAMS = {
    "syrk lower": (total("P", LOWER, IN_K, 2.0 * A(i, k) * A(j, k)), [A], "syrk"),
    "syrk upper": (total("P", UPPER, IN_K, A(i, k) * A(j, k)), [A], "syrk"),
    "syrk transposed": (total("P", LOWER, IN_K, At(k, i) * At(k, j)), [At], "syrk"),
    "syrk complex": (total("P", UPPER, IN_K, Zt(k, i) * Zt(k, j), dtype=Complex), [Zt], "syrk"),
    "syr2k lower": (total("P", LOWER, IN_K, A(i, k) * B(j, k) + B(i, k) * A(j, k)), [A, B], "syr2k"),
    "syr2k upper": (total("P", UPPER, IN_K, A(i, k) * B(j, k) + B(i, k) * A(j, k)), [A, B], "syr2k"),
    "syr2k turned": (total("P", LOWER, IN_K, At(k, j) * Bt(k, i) + At(k, i) * Bt(k, j)), [At, Bt], "syr2k"),
    "trmm lower": (total("P", FULL, [(k, Interval(Int, 0, i))], S(i, k) * Y(k, j)), [S, Y], "trmm"),
    "trmm upper": (total("P", FULL, [(k, from_diagonal(0))], 3.0 * S(i, k) * Y(k, j)), [S, Y], "trmm"),
    "trmm turned": (total("P", FULL, [(k, from_diagonal(0))], S(k, i) * Y(k, j)), [S, Y], "trmm"),
    "trmm unit": (
        total("P", FULL, [(k, from_diagonal(1))], S(k, i) * Y(k, j), init=Y(i, j)), [S, Y], "trmm"
    ),
    "trmm right": (total("P", ACROSS, [(k, Interval(Int, 0, j))], X(i, k) * S(j, k)), [X, S], "trmm"),
}  # fmt: skip


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_structured_products(name: str, threads: int) -> None:
    output, inputs, routine = PROGRAMS[name]
    options = Options(blas="always", threads=threads, parallel_threshold=0)
    compiled: Any = pm.compile(output, name="structured", inputs=inputs, options=options)
    (group,) = compiled.explain().groups
    assert group.library_calls == (routine,)
    rng = np.random.default_rng(3)
    for m, n, inner in SIZES:
        sizes = {"M": m, "N": n, "K": inner}
        arrays = []
        for array in inputs:
            shape = [int(extent.evaluate(sizes)) for extent in array.shape]
            values = rng.uniform(-1, 1, shape)
            arrays.append(values + 1j * rng.uniform(-1, 1, shape) if array.dtype == Complex else values)
        terms = 4 * max(m, inner) + 8
        expected = compiled.reference(*arrays)
        assert_close(
            compiled(*arrays), expected, roundings=terms, magnitude=1.0 * terms, name=f"{m} {n} {inner}"
        )


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("trmm")])
def test_what_is_not_finite_stays_where_it_belongs(name: str) -> None:
    """A library packs a triangle as a square with zeros, by which it multiplies."""
    output, inputs, _ = PROGRAMS[name]
    compiled: Any = pm.compile(output, name="structured", inputs=inputs, options=Options(blas="always"))
    for special in (np.nan, np.inf):
        arrays = []
        for array in inputs:
            shape = [int(extent.evaluate({"M": 40, "N": 11, "K": 5})) for extent in array.shape]
            values = np.random.default_rng(4).uniform(0.5, 1, shape)
            values[7, 9] = special
            arrays.append(values)
        result, expected = compiled(*arrays), compiled.reference(*arrays)
        np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
        np.testing.assert_allclose(result, expected)
