"""Contractions around register blocks against the interpreter: every stride, every remainder, every block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from polymat.machine.known import GENERIC
from polymat.machine.model import Machine
from tests.hosts import CompileFor
from tests.tolerance import assert_close

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
# Caches so small that every level of blocking and packing is reached by matrices of a hundred rows.
SMALL_CACHES = replace(GENERIC, l1_bytes=1 << 11, l2_bytes=1 << 12, l3_bytes=1 << 14)
# Eight rows of three vectors are what "narrow" has: of vectors that a processor lacks, gcc is slow.
WIDE = replace(GENERIC, vector_bits=512, vector_registers=32, registers=((8, 3, 3), (4, 3, 3)))
NARROW = replace(SMALL_CACHES, vector_bits=128, vector_registers=32)
MACHINES = {"wide": WIDE, "small caches": SMALL_CACHES, "narrow": NARROW}
OWN = pm.Options(blas="never")
DTYPES: tuple[tuple[ScalarType, str], ...] = ((pm.Double, "float64"), (pm.Float, "float32"))
SIZES = (
    (0, 3, 2),
    (3, 0, 2),
    (3, 2, 0),
    (1, 1, 1),
    (19, 1, 37),
    (7, 23, 5),
    (8, 24, 16),
    (9, 25, 17),
    (61, 97, 103),
)


@pytest.fixture(params=list(MACHINES))
def machine(request: pytest.FixtureRequest, compile_for: CompileFor) -> Machine:
    """Compile for one of the machines above."""
    chosen = MACHINES[request.param]
    compile_for(chosen)
    return chosen


def values(rng: np.random.Generator, dtype: str, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(dtype)


def kinds(compiled: pm.Compiled) -> set[str]:
    return {group.kind for group in compiled.explain().groups}


def check(compiled: pm.Compiled, arrays: Sequence[Any], depth: int, **scalars: Any) -> None:
    """The call agrees with the interpreter, in every element relative to its own terms."""
    found, expected = compiled(*arrays, **scalars), compiled.reference(*arrays, **scalars)
    bound = compiled.reference(
        *[np.abs(a) for a in arrays], **{name: abs(value) for name, value in scalars.items()}
    )
    single = len(compiled.signature.outputs) == 1
    for result, right, most in (
        [(found, expected, bound)] if single else zip(found, expected, bound, strict=True)
    ):
        assert_close(result, right, roundings=depth + 4, magnitude=np.abs(most))


@pytest.mark.parametrize(("dtype", "name"), DTYPES)
def test_products_of_transposed_matrices(machine: Machine, seed: int, dtype: ScalarType, name: str) -> None:
    a, b = pm.Matrix(dtype, "A", [M, K]), pm.Matrix(dtype, "B", [K, N])
    turned_a, turned_b = pm.Matrix(dtype, "TA", [K, M]), pm.Matrix(dtype, "TB", [N, K])
    products = [a @ b, turned_a.T @ b, a @ turned_b.T, turned_a.T @ turned_b.T]
    inputs = [a, b, turned_a, turned_b]
    compiled = pm.compile(products, name="products", inputs=inputs, options=OWN)
    assert [group.kind for group in compiled.explain().groups] == ["kernel"] * 4
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        check(compiled, [values(rng, name, *shape) for shape in ((m, k), (k, n), (k, m), (n, k))], k)


@pytest.mark.parametrize(("dtype", "name"), DTYPES)
def test_cubes_up_to_forty_in_one_function(seed: int, dtype: ScalarType, name: str) -> None:
    a, b = pm.Matrix(dtype, "A", [M, K]), pm.Matrix(dtype, "B", [K, N])
    compiled = pm.compile(a @ b, name="product", inputs=[a, b], options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for m, n, k in rng.integers(1, 41, (2000, 3)):
        left, right = values(rng, name, m, k), values(rng, name, k, n)
        assert_close(
            compiled(left, right),
            left @ right,
            roundings=int(k) + 4,
            magnitude=np.abs(left).astype(np.float64) @ np.abs(right),
            name=f"{m} x {n} x {k}",
        )


def product_from(a: pm.Matrix, b: pm.Matrix, start: Any, scale: Any, name: str = "R") -> pm.Function:
    """R(i, j) = start(i, j) + sum over k of scale * A(i, k) * B(k, j)."""
    i, j, k = (pm.Variable(pm.Int, index) for index in "ijk")
    rows, columns, depth = (pm.Interval(pm.Int, 0, size - 1) for size in (M, N, K))
    init = start(i, j)
    result = pm.Reduction(
        ([i, j], [rows, columns]), ([i, j, k], [rows, columns, depth]), pm.Double, name, init=init
    )
    result.defn = [pm.Reduce(result(i, j), scale * a(i, k) * b(k, j), pm.Op.Sum)]
    return result


def test_sums_that_start_from_something(machine: Machine, seed: int) -> None:
    """Of an array that may be overwritten, of one with a sign, and of an expression."""
    a, b = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    c, d = (pm.Matrix(pm.Double, name, [M, N]) for name in "CD")
    alpha, beta = (pm.Parameter(pm.Double, name) for name in ("alpha", "beta"))
    results = [
        pm.gemm(a, b, c, alpha, beta),
        product_from(a, b, lambda i, j: -d(i, j), 0.5, "started"),
        product_from(a, b, lambda i, j: pm.Sin(d(i, j)) + 1, 2, "biased"),
    ]
    compiled = pm.compile(results, name="products", inputs=[a, b, c, d], options=OWN)
    assert [group.kind for group in compiled.explain().groups] == ["kernel"] * 3
    rng, scalars = np.random.default_rng(seed), {"alpha": -1.5, "beta": 0.25}
    for m, n, k in SIZES:
        arrays = [values(rng, "float64", *shape) for shape in ((m, k), (k, n), (m, n), (m, n))]
        expected = compiled.reference(*arrays, **scalars)
        size = 2 * np.abs(arrays[0]) @ np.abs(arrays[1]) + np.abs(arrays[2]) + np.abs(arrays[3]) + 2
        for out in (None, (arrays[2], np.empty((m, n)), np.empty((m, n)))):
            for found, right in zip(compiled(*arrays, **scalars, out=out), expected, strict=True):
                assert_close(found, right, roundings=k + 8, magnitude=size)


def test_strides_offsets_and_loops_around_the_product(machine: Machine, seed: int) -> None:
    """R(b, i, j) = sum over k, s of A(2 i + 1, b, k + s) * W(N - 1 - j, s, k): W reversed."""
    i, j, k, s, b = (pm.Variable(pm.Int, name) for name in "ijksb")
    a = pm.Image(pm.Double, "A", [2 * M, 3, K + 2])
    w = pm.Image(pm.Double, "W", [N, 3, K])
    ranges = [pm.Interval(pm.Int, 0, high) for high in (2, M - 1, N - 1, K - 1, 2)]
    result = pm.Reduction(([b, i, j], ranges[:3]), ([b, i, j, k, s], ranges), pm.Double, "R")
    result.defn = [pm.Reduce(result(b, i, j), a(2 * i + 1, b, k + s) * w(N - 1 - j, s, k), pm.Op.Sum)]
    compiled = pm.compile(result, name="strided", inputs=[a, w], options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for m, n, depth in ((1, 1, 1), (7, 23, 5), (20, 31, 50)):
        arrays = [values(rng, "float64", 2 * m, 3, depth + 2), values(rng, "float64", n, 3, depth)]
        check(compiled, arrays, 3 * depth)


def test_segments_start_from_an_array_with_other_strides(machine: Machine, seed: int) -> None:
    """R(b, i, j) = C(i, j) + sum over k of A(i, k, b) * W(k, j): rows i and b, the start without b."""
    i, j, k, b = (pm.Variable(pm.Int, name) for name in "ijkb")
    a, w = pm.Image(pm.Double, "A", [M, K, 3]), pm.Matrix(pm.Double, "W", [K, N])
    c = pm.Matrix(pm.Double, "C", [M, N])
    ranges = [pm.Interval(pm.Int, 0, high) for high in (2, M - 1, N - 1, K - 1)]
    result = pm.Reduction(([b, i, j], ranges[:3]), ([b, i, j, k], ranges), pm.Double, "R", init=c(i, j))
    result.defn = [pm.Reduce(result(b, i, j), a(i, k, b) * w(k, j), pm.Op.Sum)]
    compiled = pm.compile(result, name="segments", inputs=[a, w, c], options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for m, n, depth in ((0, 3, 2), (2, 3, 0), (1, 1, 1), (7, 23, 5), (20, 61, 90)):
        shapes = ((m, depth, 3), (depth, n), (m, n))
        check(compiled, [values(rng, "float64", *shape) for shape in shapes], depth)


def test_nan_and_infinity_stay_in_their_rows() -> None:
    a, b = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    compiled = pm.compile(a @ b, name="product", inputs=[a, b], options=OWN)
    left, right = np.ones((11, 13)), np.ones((13, 29))
    left[3, 5], left[7, 0] = np.nan, np.inf
    result = compiled(left, right)
    assert np.isnan(result[3]).all()
    assert np.isinf(result[7]).all()
    assert np.all(np.delete(result, [3, 7], axis=0) == 13)


def test_both_threads_compute_their_rows(seed: int) -> None:
    a, b = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    options = pm.Options(blas="never", threads=2, parallel_threshold=0)
    compiled = pm.compile(a @ b, name="product", inputs=[a, b], options=options)
    rng = np.random.default_rng(seed)
    for m, n, k in (*SIZES, (401, 397, 403)):
        left, right = values(rng, "float64", m, k), values(rng, "float64", k, n)
        magnitude = np.abs(left) @ np.abs(right)
        assert_close(compiled(left, right), left @ right, roundings=k + 4, magnitude=magnitude)


def test_other_stages_stay_loops() -> None:
    """No register blocks for a matrix-vector product, one up to the other diagonal, a maximum or integers."""
    i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
    a, b = pm.Matrix(pm.Double, "A", [M, M]), pm.Matrix(pm.Double, "B", [M, M])
    whole, part = pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, M - 1 - i)
    triangular = pm.Reduction(([i, j], [whole, whole]), ([i, j, k], [whole, whole, part]), pm.Double, "T")
    triangular.defn = [pm.Reduce(triangular(i, j), a(i, k) * b(k, j), pm.Op.Sum)]
    largest = pm.Reduction(([i, j], [whole, whole]), ([i, j, k], [whole] * 3), pm.Double, "L")
    largest.defn = [pm.Reduce(largest(i, j), a(i, k) * b(k, j), pm.Op.Max)]
    whole_numbers = [pm.Matrix(pm.Int, name, [M, M]) for name in "PQ"]
    stages = [a @ pm.Vector(pm.Double, "x", [M]), triangular, largest, whole_numbers[0] @ whole_numbers[1]]
    for number, stage in enumerate(stages):
        assert "kernel" not in kinds(pm.compile(stage, name=f"other{number}")), stage
