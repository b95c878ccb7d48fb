"""Products that share a large operand: which are one product, and the numbers of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Function, Int, Interval, Op, Options, Reduce, Reduction
from polymat.driver import levels, request_for
from polymat.graph.build import build
from polymat.graph.inline import inline_pointwise
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.lang.algebra import Result
from polymat.machine.known import HASWELL
from polymat.poly.membership import members
from polymat.rewrite.abreast import multiply_abreast
from tests.hosts import CompileFor
from tests.tolerance import assert_close

K, L, M, N = (pm.Parameter(Int, name) for name in "KLMN")
A = pm.Matrix(Double, "A", [M, K])
B, D = pm.Matrix(Double, "B", [K, N]), pm.Matrix(Double, "D", [K, L])
x, y, z = (pm.Vector(Double, name, [K]) for name in "xyz")
P, Q = pm.Matrix(Double, "P", [N, M]), pm.Matrix(Double, "Q", [L, M])
T = pm.Image(Double, "T", [M, N, K])
u, v = (pm.Vector(Double, name, [M]) for name in "uv")
LARGE = {"M": 2048, "K": 2048, "N": 4, "L": 3}
PLAIN = Options(threads=1)
ONE = replace(HASWELL, cores=1)
i, j, k = (pm.Variable(Int, name) for name in "ijk")
ROWS, DEPTH = Interval(Int, 0, M - 1), Interval(Int, 0, K - 1)


def graph(outputs: Sequence[Any], options: Options = PLAIN, **sizes: int) -> Pipeline:
    request = replace(
        request_for([*outputs], name="abreast", options=options),
        estimates={**LARGE, **sizes},
        machine=ONE,
    )
    found = next(level for name, level in levels(request) if name == "graph")
    assert isinstance(found, Pipeline)
    return found


def together(outputs: Sequence[Any], options: Options = PLAIN, **sizes: int) -> list[str]:
    """The sets of stages that are one product."""
    notes = graph(outputs, options, **sizes).notes
    return [note.partition(":")[0] for note in notes if "computed as one product with" in note]


def named(**values: Any) -> list[Any]:
    return [value.named(name) for name, value in values.items()]


def numbered(values: Sequence[Any]) -> list[Any]:
    """What is written by operators gets a name."""
    return [v.named(f"r{n}") if isinstance(v, Result) else v for n, v in enumerate(values)]


def within(name: str, first: Any, last: Any, right: Any, rows: Any = ROWS, shift: int = 0) -> Function:
    """A @ right, whose rows and columns lie in two intervals, with columns of `right` that many before."""
    there = ([i, j], [rows, Interval(Int, first, last)])
    made = Reduction(there, ([i, j, k], [*there[1], DEPTH]), Double, name)
    made.defn = [Reduce(made(i, j), A(i, k) * right(k, j - shift), Op.Sum)]
    return made


def assert_same(pipeline: Pipeline, made: Pipeline, known: dict[str, int], rng: Any) -> None:
    """The interpreter finds the same outputs in both."""
    sizes = {size.name: known[size.name] for size in pipeline.sizes}
    arrays = {
        each.name: rng.uniform(-1, 1, [int(form.evaluate(known)) for form in each.extents])
        for each in pipeline.inputs
    }
    one, other = (interpret(each, arrays, sizes, members) for each in (pipeline, made))
    for name in pipeline.outputs:
        assert_close(other[name], one[name], roundings=2000, magnitude=100.0)


# ---- which ----


def test_few_columns_of_one_large_matrix_are_one_product() -> None:
    outputs = named(E=A @ B, F=A @ D)
    assert together(outputs) == ["E, F"]
    assert together(outputs, M=64, K=50) == []
    assert together(outputs, N=512, L=512) == []
    assert together(outputs, N=30, L=40) == []
    assert [stage.name for stage in graph(outputs).stages] == ["E_beside", "E_product", "E", "F"]


def test_few_rows_are_left() -> None:
    assert together(named(E=P @ A, F=Q @ A)) == []
    assert together(named(E=A.T @ P.T, F=A.T @ Q.T)) == []


def test_vectors_and_matrices_are() -> None:
    assert together(named(e=A @ x, F=A @ D, g=A @ y)) == ["e, F, g"]


def test_operands_that_are_read_otherwise_are_not() -> None:
    assert together(named(e=A @ x, f=A.T @ u)) == []
    shifted = pm.Matrix(Double, "S", [M + 1, K])
    assert together(named(e=A @ x, f=shifted[1:, :] @ x)) == []


def test_a_product_that_needs_another_is_left() -> None:
    square, X, Y = (pm.Matrix(Double, name, [M, N if name != "S" else M]) for name in "SXY")
    first = (square @ X).named("first")
    outputs = [first, (square @ first).named("second")]
    assert together(outputs) == []
    assert together([*outputs, (square @ Y).named("third")]) == ["first, third"]


def test_a_number_of_lines_that_may_be_negative_keeps_a_product_apart() -> None:
    outputs = [within("F", 1, N - 2, B), *named(E=A @ D, g=A @ x)]
    assert together(outputs, N=6) == ["E, g"]
    assert together([within("F", 2, N, pm.Matrix(Double, "W", [K, N + 1])), *named(E=A @ D)], N=6) == []
    assert together([within("F", 1, N - 2, B), within("G", 0, N - 2, B)], N=6) == []
    assert together([within("F", 0, N - 1, B), *named(E=A @ D)], N=6) == ["F, E"]


def test_options_keep_them_apart() -> None:
    outputs = named(E=A @ B, f=A @ y, G=A @ D)
    assert together(outputs, Options(threads=1, skip=("abreast",))) == []
    assert together(outputs, Options(threads=1, siblings=False)) == []


def products(pipeline: Pipeline) -> float:
    return float(sum(stage.is_reduction for stage in pipeline.stages))


def test_only_what_is_predicted_to_pay_is_changed() -> None:
    pipeline = build(named(E=A @ B, f=A @ y, G=A @ D))
    assert multiply_abreast(pipeline, lambda _: 1.0, LARGE) is pipeline
    assert products(multiply_abreast(pipeline, products, LARGE)) == 1
    assert products(multiply_abreast(pipeline, products, LARGE, untouched=frozenset({"G"}))) == 2


def test_explain_says_why() -> None:
    (note,) = (n for n in graph(named(E=A @ B, F=A @ D)).notes if "one product" in n)
    assert note.startswith("E, F: computed as one product with A; the whole program takes ")
    assert note.endswith(" s with each by itself")


# ---- numbers ----


W, FIVE, V = (pm.Matrix(Double, name, [K, size]) for name, size in (("W", N + 1), ("U", 5), ("V", N - 4)))
MIDDLE = Interval(Int, 1, M - 2)
INTERVALS: dict[str, tuple[list[Any], int, tuple[int, ...]]] = {
    "may be negative": ([within("F", 1, N - 2, B), A @ D], 2, (0, 1, 2, 6)),
    "beside others": ([A @ D, within("F", 1, N - 2, B), A @ x], 2, (0, 1, 2, 6)),
    "may be empty": ([within("F", 1, N, W), A @ D], 1, (0, 1, 2, 6)),
    "constant": ([A @ D, within("F", 2, 4, FIVE), within("G", 1, N, W)], 1, (0, 1)),
    "as an operand": ([within("F", 2, N - 3, V, shift=2), A @ D], 1, (4, 5, 8)),
    "of rows": ([within("F", 1, N, W, MIDDLE), within("G", 0, N, W, MIDDLE)], 1, (0, 1, 6)),
}


@pytest.mark.parametrize("case", INTERVALS)
def test_intervals(case: str) -> None:
    values, count, sizes = INTERVALS[case]
    pipeline = build(numbered(values))
    made = multiply_abreast(pipeline, products, LARGE)
    assert products(made) == count
    rng = np.random.default_rng(6)
    for n in sizes:
        for m, depth in ((5, 7), (0, 3), (1, 1), (2, 0)):
            assert_same(pipeline, made, {"M": m, "K": depth, "L": 3, "N": n}, rng)


CASES: dict[str, tuple[Any, ...]] = {
    "columns": (A @ B, 2.0 * (A @ D)),
    "readers": (pm.Max(A @ B, 0.0), A @ x + u),
    "vectors": (A @ x, A @ y - u, (A @ z) / 4.0),
    "turned": (A @ pm.Matrix(Double, "G", [L, K]).T, A @ B),
    "intervals": (A @ D, within("F", 1, N, W), within("G", 2, 4, FIVE)),
    "batch": (pm.einsum("mnk,k->mn", T, x), pm.einsum("mnk,k->mn", T, y), pm.einsum("mnk,kl->mnl", T, D)),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str, compile_for: CompileFor) -> None:
    compile_for(ONE)
    outputs = numbered(CASES[case])
    sizes = {"M": 2048, "K": 2048, "N": 3, "L": 2}
    assert together(outputs, PLAIN, **sizes)
    options = Options(threads=1, kernels=True)
    estimates = {size: sizes[size.name] for size in (K, L, M, N)}
    used = {size.name for output in outputs for size in output.sizes}
    estimates = {size: value for size, value in estimates.items() if size.name in used}
    compiled = pm.compile(outputs, name="abreast", options=options, estimates=estimates)
    assert "computed as one product with" in str(compiled.explain())
    rng = np.random.default_rng(7)
    for m, depth, n, few in (
        (13, 17, 3, 2),
        (1, 1, 1, 1),
        (0, 5, 2, 3),
        (5, 0, 2, 3),
        (6, 7, 0, 2),
        (41, 9, 5, 19),
    ):
        known = {"M": m, "K": depth, "N": n, "L": few}
        arrays = {
            each.name: rng.uniform(-1, 1, [int(form.evaluate(known)) for form in each.extents])
            for each in graph(outputs, PLAIN, **sizes).inputs
        }
        expected = compiled.reference(**arrays)
        for result, right in zip(compiled(**arrays), expected, strict=True):
            most = max(depth, m, 1)
            assert_close(result, right, roundings=4 * most + 20, magnitude=3.0 * most)


@pytest.mark.parametrize("dtype", [Float, pm.Complex])
def test_numbers_of_other_types(dtype: Any, compile_for: CompileFor) -> None:
    compile_for(ONE)
    S, R = pm.Matrix(dtype, "S", [500, 900]), pm.Matrix(dtype, "R", [900, 2])
    outputs = named(E=S @ R, f=S @ pm.Vector(dtype, "w", [900]))
    compiled = pm.compile(outputs, name="typed", options=PLAIN)
    assert "computed as one product with" in str(compiled.explain())
    rng = np.random.default_rng(8)
    arrays = [rng.uniform(-1, 1, shape).astype(dtype.dtype) for shape in ((500, 900), (900, 2), (900,))]
    for result, right in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
        assert_close(result, right, roundings=3700, magnitude=900.0)


def random_set(rng: Any) -> list[Any]:
    """Products of two large matrices with small operands and with each other, scaled and read."""
    square, turned = pm.Matrix(Double, "S", [K, K]), pm.Matrix(Double, "G", [L, K]).T
    found: list[Any] = []
    for number in range(int(rng.integers(2, 6))):
        large = (A, square)[int(rng.integers(2))]
        small = [x, B, D, turned, *(each for each in found if str(each.shape[0]) == K.name)]
        right = small[int(rng.integers(len(small)))]
        values = (large @ right, 2.0 * (large @ right), large @ (right / 3.0), pm.Max(large @ right, 0.25))
        found.append(values[int(rng.integers(4))].named(f"r{number}"))
    return found


def test_random_sets(seed: int) -> None:
    rng = np.random.default_rng([seed, 5])
    for _ in range(5):
        pipeline = inline_pointwise(build(random_set(rng)), lambda *_: False, ())
        made = multiply_abreast(pipeline, products, LARGE)
        for depth, few, m, n in ((5, 3, 7, 2), (0, 2, 3, 1), (3, 1, 0, 5)):
            assert_same(pipeline, made, {"K": depth, "L": few, "M": m, "N": n}, rng)
