"""Products that read the left operand where it is, past a packed part of the right one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.function import Input
from polymat.lang.types import ScalarType
from polymat.machine.known import GENERIC
from tests.codegen.test_triangles import PROGRAMS
from tests.hosts import CompileFor
from tests.tolerance import assert_close

M, N, K, H = (pm.Parameter(pm.Int, name) for name in "MNKH")
# Packed parts of B have few columns and little depth, so that the products below have several each way.
SMALL = replace(
    GENERIC, vector_bits=512, vector_registers=32, l1_bytes=1 << 13, l2_bytes=1 << 15, l3_bytes=1 << 17
)
NARROW = replace(SMALL, vector_bits=256, vector_registers=16)  # several steps of its blocks are written out
OWN = pm.Options(blas="never")
SIZES = ((64, 1, 1), (65, 151, 3), (63, 24, 16), (131, 97, 33), (72, 61, 101), (500, 48, 8))
DTYPES: tuple[tuple[ScalarType, str], ...] = ((pm.Double, "float64"), (pm.Float, "float32"))


@pytest.fixture(autouse=True)
def machine(compile_for: CompileFor) -> None:
    compile_for(SMALL)


def compiled(
    output: pm.Function, *inputs: Input, sizes: tuple[int, int, int], packs: bool = False
) -> pm.Compiled:
    """The product for some estimated M, N, K by register blocks; packs: whether A is packed for them."""
    estimates = dict(zip((M, N, K), sizes, strict=True))
    function = pm.compile(output, inputs=inputs, estimates=estimates, options=OWN)
    (group,) = function.explain().groups
    assert ("pack(A" in group.reason) == packs
    assert "pack(B" in group.reason
    return function


def check(function: pm.Compiled, *arrays: Any, depth: int, **scalars: Any) -> None:
    expected = function.reference(*arrays, **scalars)
    magnitude = function.reference(*map(np.abs, arrays), **{name: abs(x) for name, x in scalars.items()})
    assert_close(function(*arrays, **scalars), expected, roundings=depth + 4, magnitude=magnitude)


@pytest.mark.covering
@pytest.mark.parametrize(("dtype", "name"), DTYPES)
@pytest.mark.parametrize("transposed", ["", "A", "B"])
def test_every_remainder(seed: int, dtype: ScalarType, name: str, transposed: str) -> None:
    left, right = [K, M] if transposed == "A" else [M, K], [N, K] if transposed == "B" else [K, N]
    A, W = pm.Matrix(dtype, "A", left), pm.Matrix(dtype, "B", right)
    product = (A.T if transposed == "A" else A) @ (W.T if transposed == "B" else W)
    function = compiled(product, A, W, sizes=(500, 60, 100), packs=transposed == "A")
    rng = np.random.default_rng(seed)
    for m, n, k in (*SIZES, (0, 24, 16), (64, 0, 16), (64, 500, 0)):
        extents = {M: m, N: n, K: k}
        arrays = [rng.standard_normal([extents[size] for size in shape]) for shape in (left, right)]
        check(function, *(array.astype(name) for array in arrays), depth=k)


@pytest.mark.covering
@pytest.mark.parametrize(("dtype", "name"), DTYPES)
@pytest.mark.parametrize("transposed", ["", "A"])
def test_steps_that_are_written_out_and_those_left_over(
    compile_for: CompileFor, seed: int, dtype: ScalarType, name: str, transposed: str
) -> None:
    compile_for(NARROW)
    left = [K, M] if transposed else [M, K]
    A, W = pm.Matrix(dtype, "A", left), pm.Matrix(dtype, "B", [K, N])
    function = compiled((A.T if transposed else A) @ W, A, W, sizes=(500, 60, 100), packs=bool(transposed))
    rng = np.random.default_rng(seed)
    for depth in (*range(1, 14), 65, 68, 71):
        extents = {M: 50, N: 37, K: depth}
        arrays = [rng.standard_normal([extents[size] for size in shape]) for shape in (left, [K, N])]
        check(function, *(array.astype(name) for array in arrays), depth=depth)


def test_sums_are_added_to_an_array(seed: int) -> None:
    A, W, C = (pm.Matrix(pm.Double, x, of) for x, of in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
    alpha, beta = (pm.Parameter(pm.Double, name) for name in ("alpha", "beta"))
    function = compiled(pm.gemm(A, W, C, alpha, beta), A, W, C, sizes=(500, 60, 100))
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        arrays = [rng.standard_normal(shape) for shape in ((m, k), (k, n), (m, n))]
        check(function, *arrays, depth=k + 2, alpha=-1.5, beta=0.25)
        expected = function.reference(*arrays, alpha=2.0, beta=1.0)
        function(*arrays, out=arrays[2], alpha=2.0, beta=1.0)
        bound = 2 * np.abs(arrays[0]) @ np.abs(arrays[1]) + np.abs(expected) + 10
        assert_close(arrays[2], expected, roundings=k + 4, magnitude=bound)


@pytest.mark.parametrize("spec", ["bmk,kn->bmn", "mbk,kn->bmn"])
def test_rows_of_several_segments(seed: int, spec: str) -> None:
    extents = {"b": H, "m": M, "k": K, "n": N}
    A, W = (pm.Image(pm.Double, x, [extents[d] for d in of]) for x, of in (("A", spec[:3]), ("B", "kn")))
    function = compiled(pm.einsum(spec, A, W), A, W, sizes=(100, 50, 60))
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        for b in (1, 3):
            sizes = {"b": b, "m": m, "k": k}
            left = rng.standard_normal([sizes[d] for d in spec[:3]])
            check(function, left, rng.standard_normal((k, n)), depth=k)


@pytest.mark.turns(2)
def test_readers_get_complete_parts(seed: int) -> None:
    A, W, c = (
        pm.Matrix(pm.Float, "A", [M, K]),
        pm.Matrix(pm.Float, "B", [K, N]),
        pm.Vector(pm.Float, "c", [N]),
    )
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    product = A @ W
    ranges = [pm.Interval(pm.Int, 0, size - 1) for size in (M, N)]
    result = pm.Function(([i, j], ranges), pm.Float, "R")
    result.defn = [pm.Max(product(i, j) + c(j), 0.0)]
    function = compiled(result, A, W, c, sizes=(2000, 300, 70))
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        left, right, bias = rng.standard_normal((m, k)), rng.standard_normal((k, n)), rng.standard_normal(n)
        arrays = [array.astype("float32") for array in (left, right, bias)]
        expected = function.reference(*arrays)
        bound = np.abs(left) @ np.abs(right) + np.abs(bias)
        assert_close(function(*arrays), expected, roundings=k + 4, magnitude=bound)


TRIANGLES = (
    "trmm lower",
    "trmm upper",
    "trmm turned",
    "trmm unit",
    "syrk lower",
    "syrk upper",
    "syr2k lower",
)


@pytest.mark.parametrize("name", TRIANGLES)
def test_triangles(name: str) -> None:
    output, inputs, _ = PROGRAMS[name]
    function = pm.compile(output, name="structured", inputs=inputs, options=OWN)
    (group,) = function.explain().groups
    assert ("pack(S" in group.reason) == name.startswith("trmm")
    assert "past the caches" not in group.reason
    rng = np.random.default_rng(5)
    for m, n, k in ((64, 1, 1), (65, 130, 3), (73, 61, 40), (150, 97, 33), (203, 49, 7)):
        sizes = {"M": m, "N": n, "K": k}
        arrays = [rng.standard_normal([int(e.evaluate(sizes)) for e in array.shape]) for array in inputs]
        check(function, *arrays, depth=2 * max(m, k))


def test_nothing_outside_a_triangle_is_multiplied() -> None:
    output, inputs, _ = PROGRAMS["trmm upper"]
    function = pm.compile(output, name="structured", inputs=inputs, options=OWN)
    rng = np.random.default_rng(6)
    arrays = [rng.uniform(0.5, 1, shape) for shape in ((150, 150), (150, 97))]
    arrays[0][100, 7] = np.nan
    arrays[1][70, 9] = np.inf
    result, expected = function(*arrays), function.reference(*arrays)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    np.testing.assert_allclose(result, expected)


def test_the_other_half_of_a_symmetric_matrix(seed: int) -> None:
    A, W, C = (pm.Matrix(pm.Double, x, of) for x, of in (("A", [M, M]), ("B", [M, N]), ("C", [M, N])))
    function = pm.compile(pm.symm(A, W, C, M, N, 1.5, 0.5), inputs=[A, W, C], options=OWN)
    rng = np.random.default_rng(seed)
    for m, n in ((64, 1), (65, 130), (150, 97), (203, 49)):
        check(function, *(rng.standard_normal(shape) for shape in ((m, m), (m, n), (m, n))), depth=m + 2)
