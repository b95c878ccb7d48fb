"""The oracle itself against NumPy written by hand, whole and in small chunks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from polymat import (
    Case,
    Cast,
    Complex,
    Condition,
    Cos,
    CycleError,
    Double,
    Exp,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Long,
    Matrix,
    Min,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Sqrt,
    UChar,
    Variable,
    Vector,
)
from polymat.graph import points
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.points import enumerate_points
from polymat.lang.indices import as_affine

N, M, T = Parameter(Int, "N"), Parameter(Int, "M"), Parameter(Int, "T")
t, i, j, k = (Variable(Int, name) for name in "tijk")
rows, columns = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
x = Vector(Double, "x", [N])
A = Matrix(Double, "A", [M, N])


@pytest.fixture(params=[1 << 20, 7, 1], ids=["whole", "sevens", "ones"], autouse=True)
def _chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "CHUNK", request.param)


def run(output: Function, **values: Any) -> Any:
    pipeline = build([output])
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    params = {name: value for name, value in values.items() if name not in arrays}
    return interpret(pipeline, arrays, params)[pipeline.outputs[0]]


def line(value: Any, dtype: Any = Double, over: Interval = columns) -> Function:
    f = Function(([i], [over]), dtype, "f")
    f.defn = value
    return f


@pytest.fixture
def a() -> Any:
    return np.random.default_rng(1).uniform(-1, 1, (5, 6))


@pytest.fixture
def v() -> Any:
    return np.random.default_rng(2).uniform(-1, 1, 6)


def test_point_wise(v: Any) -> None:
    alpha = Parameter(Double, "alpha")
    result = run(line(alpha * x(N - 1 - i) + Sqrt(x(i) * x(i)) + i), x=v, N=6, alpha=2.5)
    assert np.array_equal(result, 2.5 * v[::-1] + np.sqrt(v * v) + np.arange(6))


def test_what_is_below_the_first_index_is_zero(v: Any) -> None:
    result = run(line(x(i - 1) + x(i + 1), over=Interval(Int, 1, N - 2)), x=v, N=6)
    assert np.array_equal(result, [0, *(v[:-2] + v[2:])])


def test_triangles_are_zero_outside(a: Any) -> None:
    f = Function(([i, j], [rows, Interval(Int, 0, i)]), Double, "f")
    f.defn = A(i, j)
    assert np.array_equal(run(f, A=a, M=5, N=6), np.tril(a[:, :5]))


def test_empty_domains(v: Any) -> None:
    assert run(line(x(i)), x=v[:0], N=0).shape == (0,)
    assert np.array_equal(run(line(x(i), over=Interval(Int, 3, 2)), x=v, N=6), np.zeros(3))


def test_cases_and_defaults(v: Any) -> None:
    f = Function(([i], [columns]), Double, "f", default=-x(i))
    f.defn = [
        Case(Condition(i % 3, "==", 0), 1.0),
        Case(Condition(i, ">", 3) & Condition(i % 3, "!=", 0), x(i)),
    ]
    n = np.arange(6)
    assert np.array_equal(run(f, x=v, N=6), np.where(n % 3 == 0, 1.0, np.where(n > 3, v, -v)))


def test_selects_read_only_the_branch_they_take(v: Any) -> None:
    f = line(Select(Condition(i, ">", 0), x(i - 1), 0.0))
    assert np.array_equal(run(f, x=v, N=6), [0, *v[:-1]])
    g = line(Select(Condition(x(i), ">", 0.0), x(i), Select(Condition(i, "<", 3), 1.0, 2.0)))
    assert np.array_equal(run(g, x=v, N=6), np.where(v > 0, v, np.where(np.arange(6) < 3, 1.0, 2.0)))


def test_matrix_products_and_sums(a: Any) -> None:
    B = Matrix(Double, "B", [N, M])
    b = np.random.default_rng(3).integers(-4, 5, (6, 5)).astype(float)
    exact = np.rint(4 * a)
    assert np.array_equal(run(A @ B, A=exact, B=b, M=5, N=6), exact @ b)
    r = Reduction(([j], [columns]), ([i, j], [rows, columns]), Double, "r", init=x(j))
    r.defn = [Reduce(r(j), A(i, j), Op.Sum)]
    start = np.arange(6.0)
    assert np.array_equal(run(r, A=exact, x=start, M=5, N=6), start + exact.sum(axis=0))


@pytest.mark.parametrize(
    ("op", "ufunc"), [(Op.Sum, np.add), (Op.Mul, np.multiply), (Op.Min, np.minimum), (Op.Max, np.maximum)]
)
@pytest.mark.parametrize("dtype", [Double, Long, UChar])
def test_operations(op: Op, ufunc: Any, dtype: Any) -> None:
    source = Image(dtype, "im", [N])
    r = Reduction(([], []), ([i], [columns]), dtype, "r")
    r.defn = [Reduce(r(), source(i), op)]
    values = np.array([3, 1, 2, 7, 5, 4], dtype.dtype)
    result = run(r, im=values, N=6)
    assert result.dtype == values.dtype
    assert result[()] == ufunc.reduce(values, dtype=values.dtype)


def test_scattered_sums(v: Any) -> None:
    r = Reduction(([i], [Interval(Int, 0, 2)]), ([k], [columns]), Double, "r")
    r.defn = [
        Reduce(r(k // 2), Cast(Double, k + 1), Op.Mul),
        Case(Condition(k, "==", 5), Reduce(r(0), 10.0, Op.Mul)),
    ]
    assert np.array_equal(run(r, N=6), [20, 12, 30])


def test_running_sums(v: Any) -> None:
    f = Function(([i], [columns]), Double, "f")
    f.defn = [Case(Condition(i, "==", 0), x(0)), Case(Condition(i, ">", 0), f(i - 1) + x(i))]
    assert np.array_equal(run(f, x=v, N=6), np.add.accumulate(v))
    g = Function(([i], [columns]), Double, "g", default=x(N - 1))
    g.defn = [Case(Condition(i, "<", N - 1), g(i + 1) + x(i))]
    assert np.array_equal(run(g, x=v, N=6), np.add.accumulate(v[::-1])[::-1])


def test_heat_in_place(v: Any) -> None:
    X = Function(([t, i], [Interval(Int, 0, T), columns]), Double, "X")
    inside = Condition(t, ">", 0) & Condition(i, ">", 0) & Condition(i, "<", N - 1)
    edge = Condition(t, "==", 0) | Condition(i, "==", 0) | Condition(i, "==", N - 1)
    X.defn = [Case(edge, x(i)), Case(inside, (X(t, i - 1) + X(t - 1, i) + X(t - 1, i + 1)) / 3)]
    expected = v.copy()
    for _ in range(3):
        for n in range(1, 5):
            expected[n] = (expected[n - 1] + expected[n] + expected[n + 1]) / 3
    assert np.array_equal(run(X, x=v, N=6, T=3)[3], expected)


def test_forward_substitution() -> None:
    L, b = Matrix(Double, "L", [N, N]), Vector(Double, "b", [N])
    y = Reduction(([i], [columns]), ([i, k], [columns, Interval(Int, 0, i - 1)]), Double, "y", init=b(i))
    y.defn = [Reduce(y(i), -L(i, k) * y(k), Op.Sum)]
    lower = np.tril(np.random.default_rng(4).integers(-2, 3, (6, 6)), -1).astype(float)
    right = np.arange(6.0)
    assert np.array_equal(run(y, L=lower, b=right, N=6), np.linalg.solve(lower + np.eye(6), right).round(9))


def test_floyd_warshall() -> None:
    W = Matrix(Int, "W", [N, N])
    D = Function(([k, i, j], [Interval(Int, 0, N), columns, columns]), Int, "D")
    via = Min(D(k - 1, i, j), D(k - 1, i, k - 1) + D(k - 1, k - 1, j))
    D.defn = [Case(Condition(k, "==", 0), W(i, j)), Case(Condition(k, ">", 0), via)]
    weights = np.random.default_rng(5).integers(1, 99, (6, 6), dtype=np.int32)
    expected = weights.copy()
    for n in range(6):
        expected = np.minimum(expected, expected[:, n : n + 1] + expected[n : n + 1])
    assert np.array_equal(run(D, W=weights, N=6)[6], expected)


def test_a_circle_at_these_sizes_is_an_error_too(v: Any) -> None:
    f = line(0.0)
    f._defn = (f(N - 1 - i) + 1,)
    with pytest.raises(CycleError, match="f cannot be ordered at these sizes"):
        run(f, x=v, N=6)


def test_types_follow_numpy() -> None:
    byte = Image(UChar, "u", [N])
    u = np.array([250, 3, 255, 0, 7, 8], np.uint8)
    assert np.array_equal(run(line(byte(i) * byte(i) + 1, UChar), u=u, N=6), u * u + np.uint8(1))
    assert np.array_equal(run(line(byte(i) // 4 + byte(i) % 3, UChar), u=u, N=6), u // 4 + u % 3)
    single = run(line(Cast(Float, byte(i)) / 3, Float), u=u, N=6)
    assert single.dtype == np.float32
    assert np.array_equal(single, u.astype(np.float32) / 3)
    z = Image(Complex, "z", [N])
    values = u * (1 + 2j)
    assert np.array_equal(run(line(z(i) * z(i) - 1j, Complex), z=values, N=6), values * values - 1j)


def test_points_are_enumerated_in_lexicographic_order() -> None:
    bounds = tuple((as_affine(lo, None), as_affine(hi, None)) for lo, hi in ((0, N), (i, 2 * i), (j - 1, j)))
    found = [
        tuple(int(values[name][position]) for name in "ijk")
        for values, count in enumerate_points("ijk", bounds, {"N": 3})
        for position in range(count)
    ]
    expected = [(a, b, c) for a in range(4) for b in range(a, 2 * a + 1) for c in (b - 1, b)]
    assert found == expected


def test_no_dimensions_is_one_point() -> None:
    assert [count for _, count in enumerate_points((), (), {})] == [1]


@pytest.mark.parametrize(
    ("weight", "dtype"),
    [
        (lambda: Cos(2 * math.pi / N * (i * k)), Double),
        (lambda: Cos(2 * math.pi * (i * k / N)), Double),
        (lambda: Exp(-2j * math.pi * (i * k / N)), Complex),
        (lambda: Exp(-0.5 * ((i - k) * (i - k) / N)), Double),
    ],
)
def test_weights_before_values_are_no_waves_of_the_language(weight: Any, dtype: Any) -> None:
    """Sums of the language's own transforms are recognised by what they look like."""
    x = Vector(Double, "x", [N])
    whole = Interval(Int, 0, N - 1)
    summed = Reduction(([i], [whole]), ([i, k], [whole, whole]), dtype, "summed")
    swapped = Reduction(([i], [whole]), ([i, k], [whole, whole]), dtype, "swapped")
    summed.defn = [Reduce(summed(i), weight() * x(k), Op.Sum)]
    swapped.defn = [Reduce(swapped(i), x(k) * weight(), Op.Sum)]
    values = np.random.default_rng(4).uniform(-1, 1, 7)
    np.testing.assert_allclose(
        run(summed, x=values, N=7), run(swapped, x=values, N=7), rtol=1e-14, atol=1e-14
    )
