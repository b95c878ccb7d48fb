"""Several products in one sum, each by register blocks and added to the result of those before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from tests.codegen.products.test_contractionwriter import SMALL_CACHES, WIDE, kinds
from tests.hosts import CompileFor
from tests.tolerance import assert_close

M, N, K, L = (pm.Parameter(pm.Int, name) for name in "MNKL")
i, j, k, h, b = (pm.Variable(pm.Int, name) for name in "ijkhb")
SIZES = (
    (0, 3, 2, 4),
    (3, 0, 2, 4),
    (3, 2, 0, 4),
    (3, 5, 4, 0),
    (1, 1, 1, 1),
    (61, 97, 23, 11),
    (9, 25, 17, 40),
)


def matrix(name: str, *shape: Any) -> Any:
    return pm.Image(pm.Double, name, list(shape))


A, B, C, D = matrix("A", M, K), matrix("B", K, N), matrix("C", M, K), matrix("D", K, N)
E, F, G, T = matrix("E", M, L), matrix("F", L, N), matrix("G", M, N), matrix("T", M, M)
X, Y, U, V = matrix("X", L, M, K), matrix("Y", K, N), matrix("U", L, M, K), matrix("V", L, K, N)


def interval(size: Any) -> pm.Interval:
    return pm.Interval(pm.Int, 0, size - 1)


def total(*terms: tuple[dict[Any, Any], Any], around: tuple[Any, ...] = ()) -> Any:
    """A sum of several terms, each with the indices that it is summed over, for all i, j and `around`."""
    own = dict(zip((*([b] if around else []), i, j), (*around, M, N), strict=True))
    ranges = {**own, **{index: size for summed, _ in terms for index, size in summed.items()}}
    sums = pm.Reduction(
        ([*own], [interval(size) for size in own.values()]),
        ([*ranges], [interval(size) for size in ranges.values()]),
        pm.Double,
        "sums",
    )
    sums.defn = [pm.Reduce(sums(*own), value, pm.Op.Sum) for _, value in terms]
    return sums


def matrices(*names: str) -> list[Any]:
    shapes = {"A": (M, K), "B": (K, N), "C": (M, K), "D": (K, N), "E": (M, L), "F": (L, N), "G": (M, N)}
    return [pm.Matrix(pm.Double, name, list(shapes[name])) for name in names]


def relu(value: Any, name: str = "relu") -> Any:
    f = pm.Function(([i, j], [interval(M), interval(N)]), pm.Double, name)
    f.defn = [pm.Max(value(i, j), 0)]
    return f


def algebra(text: str) -> tuple[Any, list[Any]]:
    """A formula of matrices, with those that it has."""
    a, b, c, d, e, f, g = inputs = matrices(*"ABCDEFG")
    if text == "sum":
        return a @ b + 2.0 * (c @ d) - g, [a, b, c, d, g]
    return a @ b - c @ d + e @ f, [each for each in inputs if each.name != "G"]


CASES: dict[str, tuple[Any, list[Any]]] = {
    "difference": (total(({k: K}, A(i, k) * B(k, j) - C(i, k) * D(k, j))), [A, B, C, D]),
    "turned": (total(({k: K}, A(i, k) * B(k, j) + D(k, j) * C(i, k) * 3)), [A, B, C, D]),
    "a sum that one has not": (total(({k: K}, A(i, k) * B(k, j)), ({h: L}, E(i, h) * F(h, j))), [A, B, E, F]),
    "distributed": (total(({k: K}, A(i, k) * (B(k, j) - D(k, j)))), [A, B, D]),
    "other loops": (
        total(({k: K}, X(b, i, k) * Y(k, j) + U(b, i, k) * V(b, k, j)), around=(L,)),
        [X, Y, U, V],
    ),
    "algebra": algebra("sum"),
    "three": algebra("three"),
    "read": (relu(total(({k: K}, A(i, k) * B(k, j) - C(i, k) * D(k, j)))), [A, B, C, D]),
}


def arrays_for(inputs: list[Any], rng: np.random.Generator, extent: dict[str, int]) -> list[Any]:
    return [rng.uniform(-1, 1, [int(form.evaluate(extent)) for form in each.shape]) for each in inputs]


@pytest.mark.parametrize("name", CASES)
def test_against_the_interpreter(name: str, seed: int, compile_for: CompileFor) -> None:
    compile_for(SMALL_CACHES)
    output, inputs = CASES[name]
    options = pm.Options(blas="never", threads=2, parallel_threshold=0)
    compiled: Any = pm.compile(output, name="products", inputs=inputs, options=options)
    assert kinds(compiled) <= {"kernel", "epilogue"}
    assert len(compiled.explain().groups) == 1
    rng = np.random.default_rng(seed)
    for sizes in SIZES:
        extent = dict(zip("MNKL", sizes, strict=True))
        arrays = arrays_for(inputs, rng, extent)
        depth = 4 * (extent["K"] + 1) * (extent["L"] + 1)
        expected = compiled.reference(*arrays)
        assert_close(compiled(*arrays), expected, roundings=depth, magnitude=depth, name=f"{name} {sizes}")


def test_a_triangle_beside_a_whole_product(compile_for: CompileFor) -> None:
    compile_for(SMALL_CACHES)
    sums = pm.Reduction(
        ([i, j], [interval(M), interval(N)]),
        ([i, j, k], [interval(M), interval(N), interval(M)]),
        pm.Double,
        "s",
    )
    lower = pm.Condition(k, "<=", i)
    sums.defn = [
        pm.Reduce(sums(i, j), T(i, k) * G(k, j), pm.Op.Sum),
        pm.Case(lower, pm.Reduce(sums(i, j), T(i, k) * G(k, j), pm.Op.Sum)),
    ]
    compiled: Any = pm.compile(sums, name="beside", inputs=[T, G], options=pm.Options(blas="never"))
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(3)
    for m, n in ((1, 1), (17, 5), (40, 61)):
        t, g = rng.uniform(-1, 1, (m, m)), rng.uniform(-1, 1, (m, n))
        assert_close(compiled(t, g), compiled.reference(t, g), roundings=2 * m + 4, magnitude=2 * m)


def test_convolutions_added_up(seed: int) -> None:
    P, Q, channels = (pm.Parameter(pm.Int, name) for name in ("P", "Q", "channels"))
    images = [pm.Image(pm.Float, name, [P, Q, channels]) for name in ("x", "y")]
    weights = [pm.Image(pm.Float, name, [3, 3, channels, K]) for name in ("w", "v")]
    first, second = (pm.conv2d(x, w) for x, w in zip(images, weights, strict=True))
    inputs = [*images, *weights]
    both = pm.Function(([i, j, k], [interval(P - 2), interval(Q - 2), interval(K)]), pm.Float, "both")
    both.defn = [first(i, j, k) - second(i, j, k)]
    compiled: Any = pm.compile(both, name="both", inputs=inputs, options=pm.Options(blas="never"))
    assert kinds(compiled) == {"kernel"}
    assert len(compiled.explain().groups) == 1
    rng = np.random.default_rng(seed)
    for shape, filters in (((3, 3, 1), 1), ((9, 12, 5), 17), ((7, 5, 16), 33)):
        arrays = [rng.uniform(-1, 1, shape).astype(np.float32) for _ in images]
        arrays += [rng.uniform(-1, 1, (3, 3, shape[2], filters)).astype(np.float32) for _ in weights]
        depth = 18 * shape[2] + 4
        expected = compiled.reference(*arrays)
        assert_close(compiled(*arrays), expected, roundings=depth, magnitude=depth)


def test_nan_and_infinity_stay_in_their_rows(compile_for: CompileFor) -> None:
    compile_for(WIDE)
    output, inputs = CASES["difference"]
    compiled: Any = pm.compile(output, name="rows", inputs=inputs, options=pm.Options(blas="never"))
    a, c, x, d = np.ones((20, 7)), np.ones((20, 7)), np.ones((7, 30)), np.ones((7, 30))
    a[3, 2], c[11, 5] = np.nan, np.inf
    found = compiled(a, x, c, d)
    assert np.isnan(found[3]).all()
    assert (found[11] == -np.inf).all()
    assert (np.delete(found, (3, 11), axis=0) == 0).all()


@pytest.mark.parametrize("dtype", [pm.UChar, pm.UInt64], ids=str)
def test_unsigned_integers_are_subtracted(dtype: ScalarType) -> None:
    """Of numbers without a sign the negative is a number without a sign, whatever the order of the rest."""
    kind = np.dtype(dtype.dtype).type
    P, Q, R = (pm.Matrix(dtype, name, shape) for name, shape in (("P", [M, K]), ("Q", [K, M]), ("R", [M, M])))
    x = pm.Vector(dtype, "x", [M])
    product, negated = P @ Q, pm.Function(([i, j], [interval(M), interval(M)]), dtype, "negated")
    negated.defn = [-(product(i, j) * 3) * x(2) - R(i, j)]
    outputs = [R - P @ Q, negated, -(P @ Q) @ R]
    compiled: Any = pm.compile(
        outputs,
        name="subtracted",
        inputs=[P, Q, R, x],
        constraints=[pm.Condition(M, ">", 2)],
        options=pm.Options(cflags=("-O1",)),
    )
    rng = np.random.default_rng(5)
    for rows, depth in ((3, 1), (7, 5), (20, 17)):
        shapes = ((rows, depth), (depth, rows), (rows, rows), rows)
        p, q, r, v = arrays = [rng.integers(0, 100, shape).astype(kind) for shape in shapes]
        wanted = [r - p @ q, -(p @ q * kind(3)) * v[2] - r, (kind(0) - p @ q) @ r]
        for found in (compiled(*arrays), compiled.reference(*arrays)):
            for got, want in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(got, want)
