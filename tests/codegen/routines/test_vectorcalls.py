"""Routines on vectors, and rank-one updates, by library calls: against the interpreter on odd sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, ComplexFloat, Conj, Double, Float, Interval, Matrix, Op, Options, Sqrt, Vector
from polymat.graph.build import build
from tests.codegen.routines.test_calls import called, values
from tests.idiom.recognise import M, N, alpha, i, j, k, point, total, upto
from tests.tolerance import assert_close

ROWS, MN, IN_M, IN_N = [(i, upto(M))], [(i, upto(M)), (j, upto(N))], [(k, upto(M))], [(j, upto(N))]
SIZES = ((0, 3), (3, 0), (1, 1), (2, 5), (7, 3), (33, 17), (67, 130))
TYPES = {"Float": Float, "Double": Double, "ComplexFloat": ComplexFloat, "Complex": Complex}


class Arrays:
    """Inputs of one element type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.A, self.T = Matrix(dtype, "A", [M, N]), Matrix(dtype, "T", [M, M])
        self.x, self.y, self.u = Vector(dtype, "x", [M]), Vector(dtype, "y", [N]), Vector(dtype, "u", [M])

    def sum(self, result: Any, over: Any, value: Any, **more: Any) -> Any:
        return total("P", result, over, value, dtype=self.dtype, **more)

    def map(self, result: Any, value: Any) -> Any:
        return point("P", result, value, self.dtype)


UP_TO, AFTER = [(k, Interval(pm.Int, 0, i))], [(k, Interval(pm.Int, i + 1, M - 1))]
BELOW = [(i, upto(M)), (j, Interval(pm.Int, 0, i))]
ABOVE = [(i, upto(M)), (j, Interval(pm.Int, i, M - 1))]
PROGRAMS: dict[str, tuple[Callable[[Arrays], Any], tuple[str, ...]]] = {
    "dot": (lambda a: a.sum([], IN_M, a.x(k) * a.u(k)), ("dot",)),
    "a start": (lambda a: a.sum([], IN_M, 2 * a.x(k) * a.u(k), init=3), ("dot",)),
    "of rows": (lambda a: a.sum(ROWS, IN_N, a.A(i, j) * a.A(i, j)), ("dot",)),
    "of columns": (lambda a: a.sum(IN_N, IN_M, a.A(k, j) * a.x(k) * 3), ("gemv",)),
    "axpy": (lambda a: a.map(ROWS, 2 * a.x(i) + a.u(i)), ("axpy",)),
    "axpy of a column": (lambda a: a.map(ROWS, a.u(i) - a.T(i, 0)), ("axpy",)),
    "scal": (lambda a: a.map(MN, 3 * a.A(i, j)), ("scal",)),
    "ger": (lambda a: a.map(MN, a.A(i, j) + 2 * a.x(i) * a.y(j)), ("ger",)),
    "outer": (lambda a: a.map(MN, a.x(i) * a.y(j)), ("ger",)),
    "syr": (lambda a: a.map(BELOW, a.T(i, j) + 2 * a.x(i) * a.x(j)), ("syr",)),
    "syr above": (lambda a: a.map(ABOVE, a.x(i) * a.x(j)), ("syr",)),
    "two": (lambda a: a.map(MN, a.A(i, j) + a.x(i) * a.y(j) - 2 * a.u(i) * a.y(j)), ("ger", "ger")),
    "trmv": (lambda a: a.sum(ROWS, UP_TO, 3 * a.T(i, k) * a.x(k)), ("trmv",)),
    "trmv unit": (lambda a: a.sum(ROWS, AFTER, a.T(k, i) * a.x(k), init=a.x(i)), ("trmv",)),
}
CONJUGATED: dict[str, tuple[Callable[[Arrays], Any], tuple[str, ...]]] = {
    "dotc": (lambda a: a.sum([], IN_M, Conj(a.x(k)) * a.u(k)), ("dotc",)),
    "gerc": (lambda a: a.map(MN, a.A(i, j) + 2 * a.x(i) * Conj(a.y(j))), ("gerc",)),
    "herk": (
        lambda a: a.sum([(i, upto(M)), (k, Interval(pm.Int, 0, i))], IN_N, 2 * a.A(i, j) * Conj(a.A(k, j))),
        ("herk",),
    ),
    "herk turned": (
        lambda a: a.sum([(i, upto(N)), (j, Interval(pm.Int, i, N - 1))], IN_M, Conj(a.A(k, i)) * a.A(k, j)),
        ("herk",),
    ),
}


def check(output: Any, routines: tuple[str, ...], threads: int) -> None:
    options = Options(blas="always", threads=threads, parallel_threshold=0)
    compiled: Any = pm.compile(output, name="vectors", options=options)
    assert tuple(called(compiled)) == routines
    inputs = build([output]).inputs
    for m, n in SIZES:
        extents = [[int(e.evaluate({"M": m, "N": n})) for e in array.extents] for array in inputs]
        arrays = [
            values(e, a.dtype.dtype, s) for s, (e, a) in enumerate(zip(extents, inputs, strict=True), 1)
        ]
        expected = compiled.reference(*arrays)
        magnitude = 10.0 * (m + n + 1)
        assert_close(compiled(*arrays), expected, roundings=2 * (m + n) + 4, magnitude=magnitude)


@pytest.mark.parametrize("name", PROGRAMS)
def test_routines(name: str) -> None:
    make, routines = PROGRAMS[name]
    check(make(Arrays(Double)), routines, 3)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", ["Float", "ComplexFloat", "Complex"])
@pytest.mark.parametrize("name", ["dot", "axpy", "ger", "trmv"])
def test_types(name: str, dtype: str) -> None:
    make, routines = PROGRAMS[name]
    check(make(Arrays(TYPES[dtype])), routines, 1)


def test_a_rank_one_update_of_a_triangle_is_called_where_the_library_has_it_and_calls_are_wanted() -> None:
    make, _ = PROGRAMS["syr"]
    check(make(Arrays(Float)), ("syr",), 1)
    check(make(Arrays(Complex)), (), 1)
    assert called(pm.compile(make(Arrays(Double)))) == []


@pytest.mark.parametrize("name", CONJUGATED)
def test_conjugates(name: str) -> None:
    make, routines = CONJUGATED[name]
    check(make(Arrays(Complex)), routines, 2)


def test_a_norm_is_called_where_calls_are_wanted() -> None:
    """The library scales: its norm is finite where the squares are not."""
    x = Vector(Double, "x", [M])
    squares = total("P", [], IN_M, x(k) * x(k))
    norm = point("R", [], Sqrt(squares()))
    check(norm, ("nrm2",), 1)
    compiled: Any = pm.compile(norm, options=Options(blas="always"))
    large = np.full(3, 1e300)
    assert np.isfinite(compiled(large))
    by_default: Any = pm.compile(norm)
    assert called(by_default) == []
    assert np.isinf(by_default(large))


def test_the_diagonal_of_a_hermitian_product_keeps_what_it_starts_from() -> None:
    """herk would set its imaginary part to 0."""
    a = Arrays(Complex)
    lower = [(i, upto(M)), (k, Interval(pm.Int, 0, i))]
    output = a.sum(lower, IN_N, a.A(i, j) * Conj(a.A(k, j)), init=a.T(i, k))
    compiled: Any = pm.compile(output, options=Options(blas="always"))
    assert "herk" not in called(compiled)


def test_a_product_of_vectors_keeps_the_sign_of_zero() -> None:
    x, y = Vector(Double, "x", [M]), Vector(Double, "y", [N])
    compiled: Any = pm.compile(pm.outer(x, y), options=Options(blas="always"))
    assert called(compiled) == ["ger"]
    result = compiled(np.array([-1.0, 0.0]), np.array([0.0, -0.0, 2.0]))
    np.testing.assert_array_equal(np.signbit(result), [[True, False, True], [False, True, False]])


@pytest.mark.parametrize("written", ["x", "u"])
def test_an_update_in_place_of_either_vector(written: str) -> None:
    x, u = Vector(Double, "x", [M]), Vector(Double, "u", [M])
    compiled: Any = pm.compile(alpha * x + u, inputs=[x, u], options=Options(blas="always"))
    assert called(compiled) == ["axpy"]
    arrays = {"x": np.arange(5.0), "u": np.linspace(1, 2, 5)}
    expected = 3 * arrays["x"] + arrays["u"]
    np.testing.assert_allclose(compiled(**arrays, alpha=3.0, out=arrays[written]), expected)


def test_other_sums_of_two_vectors_are_no_dot() -> None:
    x, u = Vector(Double, "x", [M]), Vector(Double, "u", [M])
    for output in (
        total("P", [], IN_M, x(k) * u(k), op=Op.Max),
        total("P", [], IN_M, x(k) * u(k) * u(k)),
        total("P", [], IN_M, x(k) + u(k)),
    ):
        compiled: Any = pm.compile(output, options=Options(blas="always"))
        assert called(compiled) == []
