"""Arithmetic, functions, comparisons and reductions of whole arrays, beside NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.errors import LangError
from polymat.lang.algebra import Result
from polymat.lang.expr import Expr
from polymat.lang.whole import Mask

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
SHAPES = ((0, 5), (5, 0), (1, 1), (1, 7), (7, 1), (5, 7), (31, 17))
Case = tuple[str, Callable[..., Any]]


def arrays(seed: int, *shapes: tuple[int, ...], dtype: str = "float64") -> list[Any]:
    """Numbers between -2 and 2, integers between -9 and 9, with some that are equal."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return [rng.integers(-9 if dtype[0] == "i" else 0, 9, shape).astype(dtype) for shape in shapes]
    return [(rng.integers(-8, 9, shape) / 4).astype(dtype) for shape in shapes]


def _check_call(compiled: Any, data: list[Any], expected: Callable[[list[Any]], list[Any]]) -> None:
    """Compare compiled code and the interpreter with NumPy: values, shapes and element types."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
        wanted = expected(data)
    for results in (compiled(*data), compiled.reference(*data)):
        for result, want in zip(results, wanted, strict=True):
            want = np.asarray(want)
            assert result.shape == want.shape
            assert result.dtype == want.dtype
            epsilon = np.finfo(want.dtype).eps if want.dtype.kind in "fc" else 0
            terms = max(array.size for array in data) + 8
            np.testing.assert_allclose(result, want, rtol=4 * terms * epsilon, atol=4 * terms * epsilon)


# Which of so many outputs may share loops is a long question, and what is asked here does not depend on it.
APART = pm.Options(fuse=False)
# Each takes (A, v, B, xp): two matrices and a vector of one row, and the module of functions.
POINTWISE: list[Case] = [
    ("sigmoid", lambda A, v, B, np: 1 / (1 + np.exp(-A))),
    ("power", lambda A, v, B, np: A**2 + 2.0 ** np.abs(B)),
    ("quotients", lambda A, v, B, np: (A / (abs(B) + 1)) // 0.5 + A % 3),
    ("row", lambda A, v, B, np: A + v - B * 2),
    ("column", lambda A, v, B, np: v[:, None] - v),
    ("where", lambda A, v, B, np: np.where(A > 0, A, 0.1 * B)),
    ("where of scalars", lambda A, v, B, np: np.where(A >= B, 1.0, v)),
    ("conditions", lambda A, v, B, np: np.where((A > 0) & (B < 1) | (v <= A), A, -1)),
    ("equal", lambda A, v, B, np: np.where(A == B, 1.5, np.where(A != 0, B, 2.5))),
    ("mask", lambda A, v, B, np: (A > B) * B),
    ("maximum", lambda A, v, B, np: np.maximum(A, 0) + np.minimum(v, B) + np.clip(A, -1, v)),
    ("square", lambda A, v, B, np: np.square(A) - np.sqrt(abs(B)) + np.multiply(A, B)),
    ("turned", lambda A, v, B, np: A.T + v[:, None]),
    ("reversed", lambda A, v, B, np: A[::-1, ::-1]),
    ("stepped", lambda A, v, B, np: A[::2, 1::3]),
    ("clipped", lambda A, v, B, np: A.clip(-1, v) + B.clip(None, max=1) - np.clip(A, min=0, max=v)),
    ("new axes", lambda A, v, B, np: A[:, None, :] - B[None]),
]

REDUCED: list[Case] = [
    ("sum", lambda A, v, B, np: A.sum()),
    ("sums", lambda A, v, B, np: A.sum(axis=0) + v),
    ("rows", lambda A, v, B, np: A / (1 + abs(A).sum(axis=1, keepdims=True))),
    ("product", lambda A, v, B, np: A.prod(axis=-1)),
    ("centred", lambda A, v, B, np: A - A.sum(axis=0, keepdims=True)),
    ("of all", lambda A, v, B, np: A + A.sum()),
    ("tuple", lambda A, v, B, np: (A * 2).sum(axis=(0, 1), keepdims=True)),
    ("count", lambda A, v, B, np: (A > B).sum(axis=1)),
    ("numpy", lambda A, v, B, np: np.sum(A, axis=1) - np.prod(B, axis=1)),
    ("dot", lambda A, v, B, np: A.dot(v) - v.dot(B.T)),
    ("any", lambda A, v, B, np: (A > 1).any(axis=1)),
    ("all", lambda A, v, B, np: (A > 1).all(axis=0)),
]

WITH_ELEMENTS: list[Case] = [
    ("mean", lambda A, v, B, np: A - A.mean(axis=1, keepdims=True)),
    ("means", lambda A, v, B, np: np.mean(A) + B.mean(axis=0)),
    ("standardised", lambda A, v, B, np: (A - A.mean(axis=0)) / (A.std(axis=0) + 1)),
    ("variance", lambda A, v, B, np: A.var(axis=1, ddof=1)),
    ("extremes", lambda A, v, B, np: A.max(axis=1) - A.min(axis=1)),
    ("of all", lambda A, v, B, np: np.where(A.max() == A, 1, 0)),
    ("argmin", lambda A, v, B, np: A.argmin(axis=1)),
    ("argmax", lambda A, v, B, np: A.argmax(axis=0, keepdims=True)),
    ("flat", lambda A, v, B, np: np.argmax(A) + 100 * np.argmin(B)),
    ("computed", lambda A, v, B, np: (np.multiply(A, v) - np.square(B)).argmin(axis=1)),
]


@pytest.mark.parametrize("cases", [POINTWISE, REDUCED, WITH_ELEMENTS], ids=["pointwise", "reduced", "means"])
@pytest.mark.parametrize("kind", [pm.Matrix, pm.Image])
def test_matrices_and_images(kind: Any, cases: list[Case]) -> None:
    vector = pm.Vector if kind is pm.Matrix else pm.Image
    inputs = [kind(pm.Double, "A", [M, N]), vector(pm.Double, "v", [N]), kind(pm.Double, "B", [M, N])]
    compiled = pm.compile([case(*inputs, np) for _, case in cases], inputs=inputs, options=APART)
    for seed, (rows, columns) in enumerate(SHAPES if cases is not WITH_ELEMENTS else SHAPES[2:]):
        data = arrays(seed, (rows, columns), (columns,), (rows, columns))
        _check_call(compiled, data, lambda given: [case(*given, np) for _, case in cases])


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "int64"])
def test_element_types_are_numpys(dtype: str) -> None:
    """Those of NumPy 2, where Python's numbers are weak."""
    ours = {"float32": pm.Float, "int32": pm.Int, "uint8": pm.UChar, "int64": pm.Long}[dtype]
    A, v = pm.Matrix(ours, "A", [M, N]), pm.Vector(pm.Float, "v", [N])

    def cases(a: Any, w: Any) -> list[Any]:
        found = [a + 1, a + 1.5, a / 2, a // 2, a - w, np.where(a > 2, a, w), np.where(a > 2, 1, 0)]
        types: Any = (pm.Int8, pm.Float) if isinstance(a, pm.Matrix) else (np.int8, np.float32)
        narrow, single = types
        found += [a.sum(axis=0, dtype=narrow), np.prod(a, axis=1, dtype=single), a.mean(dtype=single)]
        found += [a.sum(axis=0), a.mean(axis=0), a.max(axis=0), a.argmin(axis=0), abs(a) + np.float32(1)]
        return [
            *found,
            a.var(axis=1),
            a.prod(axis=1, keepdims=True),
            np.sqrt(a + np.int32(9)),
            a[0] + a[:, -1][:1],
        ]

    compiled = pm.compile(cases(A, v), inputs=[A, v], options=APART)
    matrix = arrays(3, (5, 7), dtype=dtype)[0]
    weights = arrays(4, (7,), dtype="float32")[0]
    _check_call(compiled, [matrix, weights], lambda given: cases(*given))


def test_images_of_three_dimensions() -> None:
    image, weights = pm.Image(pm.Float, "image", [3, M, N]), pm.Vector(pm.Float, "weights", [3])
    other = pm.Image(pm.Float, "other", [M, 1])

    def cases(x: Any, w: Any, y: Any) -> list[Any]:
        found = [x * y - x * x, (x * w[:, None, None]).sum(axis=0), x.mean(axis=(1, 2)), x[0, 1:-1, :-2] * 2]
        found += [x[..., ::-1], x.T - 1, x.argmax(axis=0), x[:, 1] @ x[:, 1].T, x.max(), x[-1][1:, None] / 4]
        return [
            *found,
            x @ x[0].T,
            x[0] @ x.transpose(0, 2, 1),
            x @ x[0, 0],
            x[0, :, 0] @ x,
            x.transpose() + 1,
        ]

    given = arrays(5, (3, 5, 7), (3,), (5, 1), dtype="float32")
    compiled = pm.compile(cases(image, weights, other), inputs=[image, weights, other], options=APART)
    _check_call(compiled, given, lambda data: cases(*data))


def test_signals_too() -> None:
    x = pm.Signal(pm.Double, "x", N)

    def cases(s: Any) -> list[Any]:
        return [np.exp(-s) + s**2, np.where(s > 0, s, 0), abs(s) / s.max(), (s - s.mean()) * s]

    compiled = pm.compile(cases(x), inputs=[x])
    _check_call(compiled, arrays(7, (13,)), lambda given: cases(*given))


def test_functions_are_arrays_too() -> None:
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    box = ([i, j], [pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)])
    A = pm.Matrix(pm.Double, "A", [M, N])
    f = pm.Function(box, pm.Double, "f")
    f.defn = [A(i, j) + i]
    compiled = pm.compile([2 * f - f * f, f.sum(axis=0), f[0] @ f.T])

    def expected(given: list[Any]) -> list[Any]:
        g = given[0] + np.arange(len(given[0]))[:, None]
        return [2 * g - g * g, g.sum(axis=0), g[0] @ g.T]

    _check_call(compiled, arrays(8, (5, 7)), expected)


@pytest.mark.parametrize("op", [pm.Op.ArgMin, pm.Op.ArgMax])
def test_positions_of_the_first_and_of_nan(op: pm.Op) -> None:
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    A, rows, columns = pm.Matrix(pm.Float, "A", [M, N]), *(pm.Interval(pm.Int, 0, n - 1) for n in (M, N))
    row = pm.Reduction(([i], [rows]), ([i, j], [rows, columns]), pm.Int, "row")
    row.defn = [pm.Reduce(row(i), A(i, j), op)]
    after = pm.Reduction(([i], [rows]), ([i, j], [rows, pm.Interval(pm.Int, 2, N - 1)]), pm.Long, "after")
    after.defn = [pm.Reduce(after(i), A(i, j) * A(i, j) + A(i, j) * 0.1, op)]
    both = pm.Reduction(([], []), ([i, j], [rows, columns]), pm.Long, "both")
    both.defn = [pm.Reduce(both(), A(i, j), op)]
    places = [row, after, both, A.argmin(axis=0), A.argmax(axis=0)]
    compiled = pm.compile([*places, *(place.extreme for place in places)])
    find, extreme = (np.argmin, np.min) if op is pm.Op.ArgMin else (np.argmax, np.max)
    rng = np.random.default_rng(9)
    for shape in ((1, 3), (4, 5), (37, 131)):
        data = rng.integers(-3, 4, shape).astype(np.float32)
        data[rng.random(shape) < 0.02] = np.nan
        data[rng.random(shape) < 0.02] = np.inf
        data[-1] = np.nan
        with np.errstate(all="ignore"):
            squared = data[:, 2:] * data[:, 2:] + data[:, 2:] * np.float32(0.1)
        wanted = [find(data, axis=1), 2 + find(squared, axis=1), find(data)]
        wanted += [data.argmin(axis=0), data.argmax(axis=0), extreme(data, axis=1)]
        wanted += [extreme(squared, axis=1), extreme(data), data.min(axis=0), data.max(axis=0)]
        for results in (compiled(data), compiled.reference(data)):
            for result, want in zip(results, wanted, strict=True):
                np.testing.assert_array_equal(result, want)


def test_a_product_written_with_a_star_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polymat.lang.matrix._Told.yet", False)
    A, B = pm.Matrix(pm.Double, "A", [N, N]), pm.Matrix(pm.Double, "B", [N, N])
    x = pm.Vector(pm.Double, "x", [N])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [(A @ B).rank, (A * x).rank, (2 * A).rank, pm.elementwise_mul(A, B).rank] == [2, 1, 2, 2]
    text = "A \\* B is the matrix product.*write A @ B for the matrix product, elementwise_mul\\(A, B\\) for"
    with pytest.warns(pm.PolymatWarning, match=text) as told:
        A * B
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        B * A


def test_sizes_that_a_part_needs_are_asked_for() -> None:
    A = pm.Matrix(pm.Double, "A", [M, N])
    compiled = pm.compile([A[1:-1, -3:], A.max(axis=0)])
    data = np.ones((2, 3))
    assert [result.shape for result in compiled(data)] == [(0, 3), (3,)]
    for shape, text in (((1, 4), "M >= 2 for A[1:-1, -3:]"), ((4, 2), "N >= 3 for A[1:-1, -3:]")):
        with pytest.raises(pm.ArgumentError) as caught:
            compiled(np.ones(shape))
        assert f"requires {text}" in str(caught.value)
    largest = pm.compile(A.max(axis=0))
    with pytest.raises(pm.ArgumentError, match=r"requires M >= 1 for A\.max\(axis=0\)"):
        largest(np.ones((0, 3)))


def test_a_written_temporary_costs_nothing() -> None:
    """One loop with the definition written at once: no stage is stored."""
    A, v = pm.Matrix(pm.Double, "A", [M, N]), pm.Vector(pm.Double, "v", [N])
    compiled = pm.compile(1 / (1 + pm.Exp(-(A[::-1] * 2 + v))), name="one")
    (group,) = compiled.explain().groups
    assert group.stages == ("out",)


def test_equality_is_that_of_objects_where_python_asks() -> None:
    A, B = pm.Matrix(pm.Double, "A", [M, N]), pm.Matrix(pm.Double, "B", [M, N])
    assert A in [B, A]
    assert A not in [B]
    assert {A: 1}[A] == 1
    assert bool(A != B)
    assert A != "A"
    assert (pm.Vector(pm.Double, "w", [7]) == A) is False


def test_logistic_regression_is_written_whole() -> None:
    X, y, w = (
        pm.Matrix(pm.Double, "X", [M, N]),
        pm.Vector(pm.Double, "y", [M]),
        pm.Vector(pm.Double, "w", [N]),
    )
    step = w - 0.5 * (X.T @ (1 / (1 + pm.Exp(-(X @ w))) - y) / M)
    compiled = pm.compile(step, inputs=[X, y, w])

    def expected(given: list[Any]) -> list[Any]:
        x, labels, weights = given
        return [weights - 0.5 * (x.T @ (1 / (1 + np.exp(-(x @ weights))) - labels) / len(x))]

    for seed, shape in enumerate(((1, 1), (7, 3), (101, 13))):
        data = arrays(seed, shape, shape[:1], shape[1:])
        np.testing.assert_allclose(compiled(*data), expected(data)[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(compiled.reference(*data), expected(data)[0], rtol=1e-12, atol=1e-12)


def test_softmax_is_written_whole() -> None:
    A = pm.Matrix(pm.Float, "A", [M, N])
    e = pm.Exp(A - A.max(axis=1, keepdims=True))
    compiled = pm.compile(e / e.sum(axis=1, keepdims=True))
    for seed, shape in enumerate(((0, 3), (1, 1), (7, 3), (31, 130))):
        (data,) = arrays(seed, shape, dtype="float32")
        powers = np.exp(data - data.max(axis=1, keepdims=True))
        wanted = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(compiled(data), wanted, rtol=1e-5)
        np.testing.assert_allclose(compiled.reference(data), wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", [pm.Float, pm.Double, pm.Int])
def test_extents_are_numbers_in_arithmetic(dtype: Any) -> None:
    X = pm.Matrix(dtype, "X", [M, N])

    def cases(x: Any) -> list[Any]:
        rows, columns = x.shape
        found = [x.T @ x / (x.shape[0] - 1), x / rows + 2 * columns - 1.5 * columns, x.sum() / (rows * 2.0)]
        found += [1.0 / columns * x, columns / np.float64(2) + x, x[1:].sum() / x[1:].shape[0]]
        found += [x * (rows / 2) - 3 / columns, x + rows // 2 - 9 // columns]
        return [*found, x * (3.5 - rows) / columns, x / (rows * columns) - (1 - columns)]

    compiled = pm.compile(cases(X))
    _check_call(compiled, arrays(11, (7, 5), dtype=dtype.dtype), lambda given: cases(*given))


def test_rounding_and_lengths_are_pythons() -> None:
    A: Any = pm.Matrix(pm.Double, "A", [3, N])
    v: Any = pm.Vector(pm.Double, "v", [N])
    stack: Any = pm.Image(pm.Double, "stack", [4, N, N])
    assert len(A) == 3
    data = np.array([-1.5, -0.5, 0.5, 1.5, 2.25])
    np.testing.assert_array_equal(pm.compile(round(v))(data), np.round(data))
    for wrong, text in (
        (lambda: len(v), "len() of v, whose first extent is N"),
        (lambda: len(v.sum()), "which is a single number"),
        (lambda: round(v, 2), "v rounded to 2 places: polymat rounds to integers"),
        (lambda: np.round(v, 2), "hint: Round(v * 100) / 100 for two places"),
        (lambda: list(range(N)), "hint: Interval(Int, 0, N - 1) says what an index runs over"),
        (lambda: A.reshape(-1), "A is described, not computed, and has no reshape"),
        (lambda: A.diagonal(), 'hint: pm.einsum("ii->i", A)'),
        (lambda: A.mean(dtype=pm.Int), "mean: dtype=Int: means are no integers"),
        (lambda: stack.dot(stack), "hint: stack @ stack multiplies pairs of them; pm.einsum for all"),
        (lambda: np.dot(A, stack), "dot of 2 and 3 dimensions multiplies each matrix by each"),
        (lambda: np.round(A, out=A), "np.round with out= is not defined on whole functions and inputs"),
        (lambda: A.sort(), "hint: compile what comes before and after"),
        (lambda: A.partition(1), "or index it: A(i, j)"),
    ):
        with pytest.raises(LangError) as caught:
            wrong()
        assert text in str(caught.value)
    assert not hasattr(A, "reshape")
    with pytest.raises(AttributeError, match="'Matrix' object has no attribute 'shap'"):
        A.shap  # noqa: B018 (what is not there)


def test_extents_are_no_partners_of_truth_values() -> None:
    rows, _ = pm.Matrix(pm.Double, "X", [M, N]).shape
    with pytest.raises(TypeError, match="unsupported operand"):
        rows / True


def test_negations_and_nan() -> None:
    X = pm.Matrix(pm.Double, "X", [M, N])

    def cases(x: Any) -> list[Any]:
        found = [np.where(~((x > 0) & (x < 1) | (x == 2)), 1.0, x), np.where(~(x >= 0.5), x, 1)]
        found += [np.where(np.isnan(x), 0, x), np.where(np.logical_not(np.isfinite(x)), 3, x)]
        return [*found, np.where(np.logical_and(x, x < 1), 1, 2), np.where(~np.isinf(x), x, -1)]

    data = arrays(12, (13, 7))[0]
    data[1, 2], data[3, :2], data[5, 5] = np.nan, np.inf, -np.inf
    compiled = pm.compile(cases(X))
    _check_call(compiled, [data], lambda given: cases(*given))


def test_types_of_operators() -> None:
    """What mypy is told, which checks this file: results are results, comparisons masks."""
    A, v = pm.Matrix(pm.Double, "A", [M, N]), pm.Vector(pm.Double, "v", [N])
    results: list[Result] = [A + v, 1 / A, A**2, pm.Exp(A), pm.Max(A, 0), pm.Max(0, A), A.sum(axis=0), A[1:]]
    masks: list[Mask] = [A > 0, ~(v <= A), v > A]
    results += [pm.where(masks[0], A, 0), pm.Select(masks[1], A, 0.0), pm.Cast(pm.Float, A), A @ v, abs(A)]
    named: Result = pm.Exp(A - A.max(axis=1, keepdims=True)).named("e")
    scalar: Expr = pm.Exp(1.5)
    assert all(isinstance(each, pm.Function) for each in (*results, *masks, named))
    assert not isinstance(scalar, pm.Function)


def test_functions_of_two_arrays() -> None:
    A, v = pm.Matrix(pm.Double, "A", [M, N]), pm.Vector(pm.Double, "v", [N])

    def cases(a: Any, w: Any) -> list[Any]:
        found = [np.hypot(a, w), np.arctan2(w, a), np.rint(a), np.clip(a, -1, 1), np.log1p(abs(a))]
        found += [np.einsum("ij,kj->ik", a, a), np.pad(a, 1), np.round(a)]
        return [*found, np.add.reduce(a), np.maximum.reduce(a, axis=1), np.outer(w, w), a % 1]

    compiled = pm.compile(cases(A, v), inputs=[A, v])
    _check_call(compiled, arrays(13, (5, 7), (7,)), lambda given: cases(*given))
    assert pm.Clamp(A, 0, v).shape == pm.Round(A).shape == A.shape


def test_arrays_of_bool_combine_as_comparisons_do() -> None:
    a, b, x = pm.Vector(pm.Bool, "a", [N]), pm.Vector(pm.Bool, "b", [N]), pm.Vector(pm.Double, "x", [N])

    def cases(a: Any, b: Any, x: Any, where: Any) -> list[Any]:
        either = (x > 0) * b + a
        return [a & b, a | (x > 0), ~a, ~(a & ~b), np.invert(b), either & a, where(~a & (x > 0), x, 0.0)]

    compiled = pm.compile(cases(a, b, x, pm.where), inputs=[a, b, x])
    rng = np.random.default_rng(3)
    for count in (0, 1, 13):
        data = rng.random(count) < 0.5, rng.random(count) < 0.5, rng.normal(size=count)
        wanted = cases(*data, np.where)
        for found, same, want in zip(compiled(*data), compiled.reference(*data), wanted, strict=True):
            assert found.dtype == same.dtype == want.dtype
            np.testing.assert_array_equal(found, want)
            np.testing.assert_array_equal(same, want)


def test_a_comparison_of_arrays_by_no_string_is_refused() -> None:
    A = pm.Vector(pm.Double, "A", [pm.Parameter(pm.Int, "N")])
    with pytest.raises(LangError, match="a comparison is a string, got array"):
        pm.Condition(A, np.ones(3), 1)  # type: ignore[arg-type]
