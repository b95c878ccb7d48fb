"""Products computed by library calls: against the interpreter on odd sizes, with and without threads."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, ComplexFloat, Double, Float, Image, Int, Matrix, Options, Parameter, Vector
from tests.idiom.recognise import K, M, N, alpha, beta, i, j, k, point, total, upto
from tests.tolerance import assert_close

R, Q = Parameter(Int, "R"), Parameter(Int, "Q")
ODD = (
    (0, 3, 2),
    (3, 0, 2),
    (5, 4, 0),
    (1, 1, 1),
    (1, 7, 3),
    (7, 1, 5),
    (2, 3, 1),
    (33, 17, 65),
    (67, 129, 31),
)
THREADS = Options(blas="always", threads=2, parallel_threshold=0)
BOTH = [
    pytest.param(Options(blas="always", threads=1), id="serial"),
    pytest.param(THREADS, id="threads"),
]


def values(shape: Sequence[int], dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    array = rng.uniform(-1, 1, shape)
    return (
        (array + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
        if np.dtype(dtype).kind == "c"
        else (array.astype(dtype))
    )


def check(
    output: Any,
    inputs: Sequence[Any],
    options: Options,
    scalars: Mapping[str, Any] | None = None,
    routines: Sequence[str] = ("gemm",),
    odd: Sequence[tuple[int, int, int]] = ODD,
) -> None:
    """Calls are made, and the results are the interpreter's."""
    compiled = pm.compile(output, name="product", inputs=inputs, options=options)
    assert called(compiled) == list(routines)
    for m, n, inner in odd:
        sizes = {"M": m, "N": n, "K": inner, "R": 3, "Q": 2}
        arrays = [
            values([int(e.evaluate(sizes)) for e in array.shape], array.dtype.dtype, seed)
            for seed, array in enumerate(inputs)
        ]
        result = compiled(*arrays, **(scalars or {}))
        expected = compiled.reference(*arrays, **(scalars or {}))
        magnitude = (np.abs(arrays[0]).max(initial=1) * (inner + 2) * 6.0) if m and n else 1.0
        assert_close(result, expected, roundings=2 * inner + 4, magnitude=magnitude, name=f"{m} {n} {inner}")


def called(compiled: Any) -> list[str]:
    """The routines of all groups, in order."""
    return [name for group in compiled.explain().groups for name in group.library_calls]


@pytest.mark.covering
@pytest.mark.parametrize("options", BOTH)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_every_transposition(turned: tuple[bool, bool], options: Options) -> None:
    A = Matrix(Double, "A", [K, M] if turned[0] else [M, K])
    B = Matrix(Double, "B", [N, K] if turned[1] else [K, N])
    left = A(k, i) if turned[0] else A(i, k)
    right = B(j, k) if turned[1] else B(k, j)
    C = total("C", [(i, upto(M)), (j, upto(N))], [(k, upto(K))], left * right)
    check(C, [A, B], options)


@pytest.mark.parametrize("dtype", [Float, Double, ComplexFloat, Complex])
def test_every_type_with_a_scale_and_an_accumulation(dtype: Any) -> None:
    A, B, C = (Matrix(dtype, n, s) for n, s in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
    factor = 0.5 if dtype in (Float, Double) else 0.5 - 2j
    scaled = pm.gemm(A, B, C, pm.Cast(dtype, factor) if dtype in (Float, ComplexFloat) else factor, 2)
    check(scaled, [A, B, C], THREADS)


@pytest.mark.parametrize("options", BOTH)
def test_parameters_scale(options: Options) -> None:
    A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
    check(pm.gemm(A, B, C, alpha, beta), [A, B, C], options, {"alpha": -1.5, "beta": 0.25})


def test_a_scale_of_zero_does_not_hide_a_nan() -> None:
    A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
    options = Options(blas="always")
    compiled = pm.compile(pm.gemm(A, B, C, alpha, beta), inputs=[A, B, C], options=options)
    assert called(compiled) == ["gemm"]
    a, b, c = np.ones((3, 2)), np.ones((2, 4)), np.ones((3, 4))
    a[1, 0] = np.nan
    result = compiled(a, b, c, alpha=0.0, beta=2.0)
    np.testing.assert_array_equal(result, [[2.0] * 4, [np.nan] * 4, [2.0] * 4])
    c[2, 1] = np.inf
    result = compiled(a, b, c, alpha=1.0, beta=0.0)
    assert np.isnan(result[2, 1])
    assert np.isnan(result[1]).all()
    assert result[0, 0] == 2


@pytest.mark.parametrize("options", BOTH)
def test_into_an_input(options: Options) -> None:
    A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
    compiled = pm.compile(pm.gemm(A, B, C, alpha, beta), name="into", inputs=[A, B, C], options=options)
    assert [pair[0] for pair in compiled.explain().inplace] == ["C"]
    for m, n, inner in ODD:
        a, b, c = values((m, inner), "f8", 1), values((inner, n), "f8", 2), values((m, n), "f8", 3)
        expected = compiled.reference(a, b, c, alpha=1.5, beta=-0.5)
        compiled(a, b, c, alpha=1.5, beta=-0.5, out=c)
        assert_close(c, expected, roundings=2 * inner + 4, magnitude=2.0 * inner + 1)


@pytest.mark.parametrize("options", BOTH)
def test_parts_of_larger_arrays(options: Options) -> None:
    A, B = Matrix(Double, "A", [2 * M + 3, K + 1]), Matrix(Double, "B", [K + 2, N + 5])
    value = A(2 * i + 1, k + 1) * B(k + 2, j + 3)
    C = total("C", [(i, upto(M)), (j, upto(N))], [(k, upto(K))], value)
    check(C, [A, B], options)


@pytest.mark.parametrize("options", BOTH)
def test_merged_rows(options: Options) -> None:
    r, q, s, p = (pm.Variable(Int, name) for name in "rqsp")
    A, B = Image(Double, "A", [M, Q, K]), Matrix(Double, "B", [K, N])
    value = A(r, q, s) * B(s, p)
    C = total("C", [(r, upto(M)), (q, upto(Q)), (p, upto(N))], [(s, upto(K))], value)
    check(C, [A, B], options)


@pytest.mark.parametrize("options", BOTH)
def test_batches(options: Options) -> None:
    r = pm.Variable(Int, "r")
    A, B = Image(Double, "A", [R, M, K]), Image(Double, "B", [R, K, N])
    outer = [(r, upto(R)), (i, upto(M)), (j, upto(N))]
    check(total("C", outer, [(k, upto(K))], A(r, i, k) * B(r, k, j)), [A, B], options)
    strided = Image(Double, "S", [M, R, K])
    check(total("C", outer, [(k, upto(K))], strided(i, r, k) * B(r, k, j)), [strided, B], options)


@pytest.mark.parametrize("options", BOTH)
def test_two_products_into_one_result(options: Options) -> None:
    A, B, D = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "D", [K, M])
    value = A(i, k) * B(k, j) + 2.0 * D(k, i) * B(k, j)
    C = total("C", [(i, upto(M)), (j, upto(N))], [(k, upto(K))], value)
    check(C, [A, B, D], options, routines=("gemm", "gemm"))


def test_a_start_of_any_kind() -> None:
    A, B, b = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Vector(Double, "b", [N])
    C = total("C", [(i, upto(M)), (j, upto(N))], [(k, upto(K))], A(i, k) * B(k, j), init=3.0 * b(j))
    check(C, [A, B, b], THREADS)


def test_chains() -> None:
    A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [N, M])
    check(A @ B @ C, [A, B, C], THREADS, routines=("gemm", "gemm"))


def test_never_means_never() -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    compiled = pm.compile(A @ B, inputs=[A, B], options=Options(blas="never"))
    assert called(compiled) == []
    assert "cblas" not in compiled.source


def test_what_is_read_elsewhere_is_not_absorbed() -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    P = total("P", [(i, upto(M)), (j, upto(N))], [(k, upto(K))], A(i, k) * B(k, j))
    twice = point("twice", [(i, upto(M)), (j, upto(N))], 2.0 * P(i, j))
    square = point("square", [(i, upto(M)), (j, upto(N))], P(i, j) * P(i, j))
    compiled = pm.compile([twice, square], inputs=[A, B], options=Options(blas="always"))
    a, b = values((5, 7), "f8", 1), values((7, 3), "f8", 2)
    for result, expected in zip(compiled(a, b), compiled.reference(a, b), strict=True):
        assert_close(result, expected, roundings=20, magnitude=50.0)


def test_sizes_choose_at_each_call() -> None:
    """Small products go through loops, also where a library is used for large ones."""
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    compiled = pm.compile(A @ B, name="mm", inputs=[A, B], options=Options(blas="auto", kernels=False))
    assert called(compiled) == ["gemm"]
    assert "_pm_loops_" in compiled.source
    for n in (1, 2, 5, 12, 40, 150):
        a, b = values((n, n), "f8", 1), values((n, n), "f8", 2)
        assert_close(compiled(a, b), a @ b, roundings=2 * n, magnitude=float(n))


@pytest.mark.parametrize("threads", [1, 2])
def test_without_a_library_the_scaling_is_done_in_register_blocks(threads: int) -> None:
    A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
    options = Options(blas="never", threads=threads, parallel_threshold=0)
    output = pm.gemm(A, B, C, alpha, beta)
    check(output, [A, B, C], options, {"alpha": -1.5, "beta": 0.25}, routines=())
    compiled = pm.compile(output, name="into", inputs=[A, B, C], options=options)
    (group,) = compiled.explain().groups
    assert (len(group.stages), group.kind) == (2, "kernel")
    assert [pair[0] for pair in compiled.explain().inplace] == ["C"]
    for m, n, inner in ODD:
        a, b, c = values((m, inner), "f8", 1), values((inner, n), "f8", 2), values((m, n), "f8", 3)
        expected = compiled.reference(a, b, c, alpha=1.5, beta=-0.5)
        compiled(a, b, c, alpha=1.5, beta=-0.5, out=c)
        assert_close(c, expected, roundings=2 * inner + 4, magnitude=2.0 * inner + 1)


def test_constant_strides_beyond_32_bits() -> None:
    """Cut to 32 bits, the stride would be 2: the elements beside each first one must not be read for it."""
    wide = 2**32 + 2
    E = Matrix(Float, "E", [K, wide])
    value = Matrix(Float, "A", [M, K])(i, k) * E(k, 0)
    y = total("y", [(i, upto(M))], [(k, upto(K))], value, dtype=Float)
    compiled = pm.compile(y, options=Options(blas="always", threads=1))
    assert called(compiled) == ["gemv"]
    unreserved = 0x4000  # MAP_NORESERVE, which Python 3.10 does not name
    memory = mmap.mmap(-1, 3 * wide * 4, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | unreserved)
    e = np.frombuffer(memory, np.float32).reshape(3, wide)
    e[:, 0] = (1, 2, 3)
    assert compiled(np.ones((2, 3), np.float32), e).tolist() == [6, 6]
