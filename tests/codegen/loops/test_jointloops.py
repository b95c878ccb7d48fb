"""Sums that share what they read, in one loop: decided, written, and against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from polymat import Double, Float, Int, Interval, Matrix, Op, Parameter, Reduce, Reduction, Variable, Vector
from polymat.lang.types import ScalarType
from tests.tolerance import assert_close

M, N = Parameter(Int, "M"), Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")
SIZES = ((0, 0), (0, 5), (5, 0), (1, 1), (7, 3), (8, 8), (9, 17), (16, 31), (29, 64), (41, 13))
ROWS, COLUMNS = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)


def summed(name: str, kept: Any, term: Any, dtype: ScalarType = Double, op: Op = Op.Sum) -> Reduction:
    """The sum of a term of i and j over one of the two."""
    extent = {i: ROWS, j: COLUMNS}
    result = Reduction(([kept], [extent[kept]]), ([i, j], [ROWS, COLUMNS]), dtype, name)
    result.defn = [Reduce(result(kept), term, op)]
    return result


def compiled(outputs: list[Any], inputs: list[Any]) -> pm.Compiled:
    options = pm.Options(parallel_threshold=0)
    return pm.compile(outputs, name="joint", inputs=inputs, options=options)


def check(call: pm.Compiled, *kinds: type) -> None:
    random = np.random.default_rng(5)
    for m, n in SIZES:
        shapes: tuple[tuple[int, ...], ...] = ((m, n), (m,), (n,))
        arrays: list[np.ndarray[Any, Any]] = [
            random.standard_normal(s).astype(k) for s, k in zip(shapes, kinds, strict=True)
        ]
        for threads in (1, 3):
            with pm.threads(threads):
                found = call(*arrays)
            for actual, wanted in zip(found, call.reference(*arrays), strict=True):
                assert_close(actual, wanted, roundings=m + n + 2, magnitude=np.float64(20.0 * (m + n + 1)))


def is_joint(call: pm.Compiled) -> bool:
    return any("in one loop, which loads once" in group.reason for group in call.explain().groups)


@pytest.mark.parametrize(("kernel", "joint"), [("bicg", True), ("mvt", True), ("atax", False)])
def test_kernels(kernel: str, joint: bool) -> None:
    assert is_joint(find_kernel(kernel).compile()) == joint


@pytest.mark.parametrize("op", [Op.Sum, Op.Max, Op.Min])
def test_a_product_with_a_matrix_and_one_with_its_transpose(op: Op) -> None:
    A, u, v = Matrix(Double, "A", [M, N]), Vector(Double, "u", [M]), Vector(Double, "v", [N])
    across = summed("across", i, A(i, j) * v(j), op=op)
    down = summed("down", j, u(i) * A(i, j), op=op)
    for outputs in ([across, down], [down, across]):
        call = compiled(outputs, [A, u, v])
        joint = op == Op.Sum  # columns of minima and maxima do not run together
        assert is_joint(call) == joint
        assert ("const double A_3 = A[(i + 3) * N + j];" in call.source) == joint
        check(call, np.float64, np.float64, np.float64)


def test_elements_of_another_type_than_the_sums() -> None:
    A, u, v = Matrix(Float, "A", [M, N]), Vector(Double, "u", [M]), Vector(Double, "v", [N])
    call = compiled([summed("p", i, A(i, j) * v(j)), summed("q", j, u(i) * A(i, j))], [A, u, v])
    assert is_joint(call)
    assert "const float A_0" in call.source
    check(call, np.float32, np.float64, np.float64)


def test_shared_subexpressions_of_both() -> None:
    """Each sum declares values of its own, by the same names."""
    A, u, v = Matrix(Double, "A", [M, N]), Vector(Double, "u", [M]), Vector(Double, "v", [N])
    twice = (A(i, j) + u(i)) * (A(i, j) + u(i))
    other = (A(i, j) - v(j)) * (A(i, j) - v(j))
    call = compiled([summed("p", i, twice), summed("q", j, other)], [A, u, v])
    assert is_joint(call)
    check(call, np.float64, np.float64, np.float64)


def test_sums_that_read_other_elements_stay_apart() -> None:
    A, u, v = Matrix(Double, "A", [M, N]), Vector(Double, "u", [M]), Vector(Double, "v", [N])
    first = summed("p", i, A(i, j) * v(j))
    reversed_row = summed("q", j, u(i) * A(i, N - 1 - j))
    assert not is_joint(compiled([first, reversed_row], [A, u, v]))


def test_a_sum_that_needs_the_other_stays_apart() -> None:
    A, u, v = Matrix(Double, "A", [M, N]), Vector(Double, "u", [M]), Vector(Double, "v", [N])
    first = summed("p", i, A(i, j) * v(j))
    second = summed("q", j, first(i) * u(i) * A(i, j))
    call = compiled([first, second], [A, u, v])
    assert not is_joint(call)
    check(call, np.float64, np.float64, np.float64)
