"""Triangular and symmetric products around register blocks, against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Matrix, Options
from polymat.decide.decider import Decider
from polymat.machine.known import GENERIC, SAPPHIRE_RAPIDS, ZEN5
from polymat.machine.model import Machine
from polymat.plan.nest import NestPlan
from polymat.runtime.host import InstalledLibraries
from tests.codegen.products.test_contractionwriter import MACHINES, check, kinds
from tests.hosts import CompileFor
from tests.idiom.recognise import K, M, N, i, j, k, pipeline, total, upto
from tests.tolerance import assert_close

TYPES = {"float64": Double, "float32": Float}
SIZES = ((0, 2, 3), (1, 1, 1), (2, 0, 3), (5, 3, 0), (7, 5, 4), (8, 24, 16), (9, 25, 17), (49, 47, 70))
HALVES = ("lower", "upper", "strict")
WAYS = {"float64": ("wide", 1), "float32": ("narrow", 3)}  # machine and threads


def between(row: Any, half: str) -> Interval:
    """The indices beside a row's diagonal: up to it, from it on, or before it."""
    return {
        "lower": Interval(Int, 0, row),
        "upper": Interval(Int, row, M - 1),
        "strict": Interval(Int, 0, row - 1),
    }[half]


def inputs_of(way: str, dtype: Any) -> list[Any]:
    """A square matrix with another one on its right or left; two matrices for a triangle of the result."""
    square = Matrix(dtype, "S", [M, M])
    return {
        "left": [square, Matrix(dtype, "B", [M, N])],
        "right": [square, Matrix(dtype, "B", [N, M])],
        "result": [Matrix(dtype, "A", [M, K]), Matrix(dtype, "B", [M, K])],
    }[way]


def structured(way: str, half: str, inputs: list[Any], dtype: Any) -> Any:
    """A sum with a triangle of one of its matrices."""
    one, other = inputs
    if way == "left":
        full, value = [(i, upto(M)), (j, upto(N))], 2.0 * one(k, i) * other(k, j)
        return total(half, full, [(k, between(i, half))], value, dtype=dtype)
    if way == "right":
        full, value = [(i, upto(N)), (j, upto(M))], other(i, k) * one(k, j)
        return total(half, full, [(k, between(j, half))], value, dtype=dtype)
    part = [(i, upto(M)), (j, between(i, half))]
    return total(half, part, [(k, upto(K))], one(i, k) * other(j, k), dtype=dtype)


def symmetric(side: str, stored: str, inputs: list[Any], dtype: Any) -> Any:
    """A product with a symmetric matrix of which one triangle is stored."""
    A, B = inputs
    S = Function(([i, k], [upto(M), upto(M)]), dtype, f"S_{stored}")
    here, there = (A(i, k), A(k, i)) if stored == "lower" else (A(k, i), A(i, k))
    S.defn = [Case(Condition(k, "<=", i), here), Case(Condition(k, ">", i), there)]
    left = side == "left"
    full = [(i, upto(M)), (j, upto(N))] if left else [(i, upto(N)), (j, upto(M))]
    if left:
        return total(stored, full, [(k, upto(M))], S(i, k) * B(k, j), dtype=dtype)
    return total(stored, full, [(k, upto(M))], B(i, k) * S(k, j), dtype=dtype)


def arrays_of(inputs: list[Any], sizes: dict[str, int], dtype: str) -> list[Any]:
    rng = np.random.default_rng(7)
    shapes = [[int(extent.evaluate(sizes)) for extent in array.shape] for array in inputs]
    return [rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes]


def compare(compiled: Any, arrays: list[Any], depth: int, names: Any) -> None:
    """All outputs against the interpreter, each element relative to its own terms."""
    got, known = compiled(*arrays), compiled.reference(*arrays)
    bounds = compiled.reference(*map(np.abs, arrays))
    for name, one, other, bound in zip(names, got, known, bounds, strict=True):
        assert_close(one, other, roundings=depth + 4, magnitude=np.abs(bound), name=name)


@pytest.mark.covering
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("way", ["left", "right", "result"])
def test_triangles(way: str, name: str, compile_for: CompileFor) -> None:
    machine, threads = WAYS[name]
    compile_for(MACHINES[machine])
    inputs = inputs_of(way, TYPES[name])
    outputs = [structured(way, half, inputs, TYPES[name]) for half in HALVES]
    options = Options(blas="never", threads=threads, parallel_threshold=0)
    compiled = pm.compile(outputs, name="triangles", inputs=inputs, options=options)
    assert kinds(compiled) == {"kernel"}
    for m, n, inner in SIZES:
        compare(compiled, arrays_of(inputs, {"M": m, "N": n, "K": inner}, name), max(m, inner), HALVES)
    if way == "result":
        return
    # What lies beyond a triangle is not read: neither it nor an infinity that it would meet changes anything.
    for half, output in zip(HALVES, range(len(HALVES)), strict=True):
        square, other = arrays_of(inputs, {"M": 37, "N": 37, "K": 37}, name)
        keep = np.tri(37, k=-1 if half == "strict" else 0, dtype=bool)
        square[~(keep if half == "upper" else keep.T)] = np.nan
        other[19, :] = np.inf
        other[:, 11] = -np.inf
        got, known = compiled(square, other)[output], compiled.reference(square, other)[output]
        assert not np.isnan(known).all()
        np.testing.assert_allclose(got, known, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("half", HALVES)
def test_triangles_in_batches(half: str, compile_for: CompileFor) -> None:
    """Products of one triangle with several matrices, and of several with one, whichever way they lie."""
    compile_for(MACHINES["wide"])
    b = pm.Variable(Int, "b")
    one, many = Matrix(Double, "S", [M, M]), pm.Image(Double, "T", [K, M, M])
    other, others = Matrix(Double, "B", [M, N]), pm.Image(Double, "C", [K, M, N])
    batch, rows, columns, inside = (b, upto(K)), (i, upto(M)), (j, upto(N)), [(k, between(i, half))]
    outputs = [
        total("first", [batch, rows, columns], inside, one(i, k) * others(b, k, j)),
        total("turned", [batch, rows, columns], inside, one(k, i) * others(b, k, j)),
        total("inner", [rows, batch, columns], inside, one(i, k) * others(b, k, j)),
        total("several", [batch, rows, columns], inside, many(b, i, k) * other(k, j)),
        total("right", [batch, columns, rows], inside, others(b, k, j) * one(k, i)),
    ]
    inputs = [one, many, other, others]
    options = Options(blas="never", threads=2, parallel_threshold=0)
    compiled = pm.compile(outputs, name="triangles", inputs=inputs, options=options)
    assert kinds(compiled) == {"kernel"}
    for m, n, count in ((0, 2, 3), (1, 1, 1), (2, 0, 3), (5, 3, 0), (7, 5, 4), (9, 25, 2), (49, 47, 3)):
        arrays = arrays_of(inputs, {"M": m, "N": n, "K": count}, "float64")
        compare(compiled, arrays, m, [output.name for output in outputs])


@pytest.mark.parametrize("machine", [GENERIC, SAPPHIRE_RAPIDS, ZEN5], ids=lambda m: m.microarchitecture)
@pytest.mark.parametrize("side", ["left", "right"])
def test_no_second_triangle_is_stored(side: str, machine: Machine) -> None:
    """A copy of the whole matrix takes as long as register blocks that read one triangle, and memory."""
    for stored in HALVES[:2]:
        graph = pipeline(symmetric(side, stored, inputs_of(side, Double), Double))
        decider = Decider(
            graph, machine, {"M": 1000, "N": 1000}, Options(blas="never", threads=2), InstalledLibraries()
        )
        (plan,) = decider.schedule(decider.grouping()).plans
        assert isinstance(plan, NestPlan)
        assert plan.kind == "kernel"


@pytest.mark.parametrize("side", ["left", "right"])
def test_symmetric(side: str, compile_for: CompileFor) -> None:
    name = {"left": "float64", "right": "float32"}[side]
    compile_for(MACHINES["wide"])
    inputs = inputs_of(side, TYPES[name])
    outputs = [symmetric(side, stored, inputs, TYPES[name]) for stored in HALVES[:2]]
    options = Options(blas="never", threads=2, parallel_threshold=0)
    compiled = pm.compile(outputs, name="symmetric", inputs=inputs, options=options)
    assert kinds(compiled) == {"kernel"}
    for m, n, _ in SIZES:
        arrays = arrays_of(inputs, {"M": m, "N": n}, name)
        compare(compiled, arrays, m, HALVES[:2])
        for output, beyond in enumerate((np.triu, np.tril)):
            square = arrays[0].copy()
            square[beyond(np.ones((m, m), bool), 1 - 2 * output)] = np.nan
            assert not np.isnan(compiled(square, arrays[1])[output]).any()


@pytest.mark.parametrize("operation", [pm.syrk, pm.trmm, pm.syr2k])
def test_scalars_and_addends(operation: Any) -> None:
    """The operations of linear algebra, with scalars, added arrays and what lies beyond the triangle."""
    alpha, beta = (pm.Parameter(Double, name) for name in ("alpha", "beta"))
    updates = operation is not pm.trmm
    scalars = {"alpha": 1.5, "beta": -0.5} if updates else {"alpha": 1.5}
    inputs = [Matrix(Double, "A", [M, K] if updates else [M, M])]
    inputs += [Matrix(Double, "B", [M, K])] if operation is pm.syr2k else []
    inputs.append(Matrix(Double, "C", [M, M] if updates else [M, N]))
    output = operation(*inputs, *([alpha, beta] if updates else [alpha]))
    options = Options(blas="never", threads=2, parallel_threshold=0)
    compiled = pm.compile(output, name="scaled", inputs=inputs, options=options)
    assert kinds(compiled) == {"kernel"}
    for m, n, inner in SIZES:
        check(compiled, arrays_of(inputs, {"M": m, "N": n, "K": inner}, "float64"), max(m, inner), **scalars)
