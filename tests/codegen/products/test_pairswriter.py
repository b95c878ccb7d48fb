"""Complex products by register blocks of real ones, against the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from tests.codegen.products.test_contractionwriter import NARROW, SIZES, SMALL_CACHES, WIDE, kinds
from tests.hosts import CompileFor
from tests.tolerance import assert_close

MACHINES = {"wide": WIDE, "small caches": SMALL_CACHES, "narrow": NARROW}
DTYPES: tuple[tuple[ScalarType, str], ...] = ((pm.Complex, "complex128"), (pm.ComplexFloat, "complex64"))
OWN = pm.Options(blas="never")
M, N, K, L = (pm.Parameter(pm.Int, name) for name in "MNKL")
i, j, k, h, b = (pm.Variable(pm.Int, name) for name in "ijkhb")
alpha = pm.Parameter(pm.Complex, "alpha")


@pytest.fixture(params=list(MACHINES))
def machine(request: pytest.FixtureRequest, compile_for: CompileFor) -> None:
    """Compile for one of the machines above."""
    compile_for(MACHINES[request.param])


def values(rng: np.random.Generator, dtype: str, *shape: int) -> Any:
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def check(compiled: pm.Compiled, arrays: Sequence[Any], depth: int, **scalars: Any) -> None:
    """The call agrees with the interpreter, in every element relative to its own terms."""
    found, expected = compiled(*arrays, **scalars), compiled.reference(*arrays, **scalars)
    sizes = [np.abs(array).astype(array.dtype) for array in arrays]
    bound = compiled.reference(*sizes, **{name: complex(abs(value)) for name, value in scalars.items()})
    single = len(compiled.signature.outputs) == 1
    for result, right, most in (
        [(found, expected, bound)] if single else zip(found, expected, bound, strict=True)
    ):
        assert_close(result, right, roundings=depth + 4, magnitude=np.abs(most))


def interval(size: Any) -> pm.Interval:
    return pm.Interval(pm.Int, 0, size - 1)


def total(
    result: dict[Any, Any], summed: dict[Any, Any], term: Any, dtype: ScalarType, init: Any = None
) -> Any:
    """A sum over the indices of `summed` for all of `result`."""
    every = {**result, **summed}
    sums = pm.Reduction(
        ([*result], [interval(size) for size in result.values()]),
        ([*every], [interval(size) for size in every.values()]),
        dtype,
        "sums",
        init=init,
    )
    sums.defn = [pm.Reduce(sums(*result), term, pm.Op.Sum)]
    return sums


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(("dtype", "name"), DTYPES)
def test_products_of_transposed_matrices(seed: int, dtype: ScalarType, name: str) -> None:
    a, x = pm.Matrix(dtype, "A", [M, K]), pm.Matrix(dtype, "B", [K, N])
    turned_a, turned_b = pm.Matrix(dtype, "TA", [K, M]), pm.Matrix(dtype, "TB", [N, K])
    products = [a @ x, turned_a.T @ x, a @ turned_b.T, turned_a.T @ turned_b.T]
    inputs = [a, x, turned_a, turned_b]
    compiled = pm.compile(products, name="products", inputs=inputs, options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for m, n, depth in (*SIZES, (2, 30, 11), (3, 7, 50), (4, 9, 8), (5, 130, 3)):
        shapes = ((m, depth), (depth, n), (depth, m), (n, depth))
        check(compiled, [values(rng, name, *shape) for shape in shapes], depth)


@pytest.mark.covering
@pytest.mark.parametrize("conjugated", ["left", "right", "both"])
@pytest.mark.parametrize("turned", [False, True])
def test_conjugates_scales_and_start_values(seed: int, conjugated: str, turned: bool) -> None:
    a, x, c = (pm.Matrix(pm.Complex, n, e) for n, e in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
    if turned:
        a = pm.Matrix(pm.Complex, "A", [K, M])
    left = a(k, i) if turned else a(i, k)
    left = pm.Conj(left) if conjugated != "right" else left
    right = pm.Conj(x(k, j)) if conjugated != "left" else x(k, j)
    sums = total({i: M, j: N}, {k: K}, alpha * left * right, pm.Complex, init=c(i, j))
    compiled = pm.compile(sums, name="sums", inputs=[a, x, c, alpha], options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for m, n, depth in (*SIZES, (4, 5, 6)):
        arrays = [
            values(rng, "complex128", *s) for s in ((depth, m) if turned else (m, depth), (depth, n), (m, n))
        ]
        check(compiled, arrays, depth, alpha=1.5 - 0.5j)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    "text",
    [
        "bik,bkj->bij",
        "ik,bkj->bij",
        "bki,kbj->jbi",
        "aebf,dfce->abcd",
        "abkc,kcd->dab",
        "aef,efbc->acb",
        "fea,bfce->cab",
    ],
)
def test_contractions_of_several_dimensions(seed: int, text: str) -> None:
    operands, result = text.split("->")
    words = operands.split(",")
    sizes = {letter: pm.Parameter(pm.Int, letter.upper()) for letter in sorted(set("".join(words)))}
    arrays = [pm.Image(pm.Complex, f"X{n}", [sizes[x] for x in word]) for n, word in enumerate(words)]
    compiled = pm.compile(pm.einsum(text, *arrays), name="contracted", inputs=arrays, options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for _ in range(8):
        extents = {letter: int(rng.integers(0, 12)) for letter in sizes}
        depth = int(np.prod([extents[x] for x in sizes if x not in result]))
        check(compiled, [values(rng, "complex128", *[extents[x] for x in word]) for word in words], depth)


@pytest.mark.usefixtures("machine")
def test_sums_of_several_products(seed: int) -> None:
    """Each adds its own; an array may be read as it is in one and transposed in another."""
    a, x, y = (pm.Matrix(pm.Complex, n, e) for n, e in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
    u, v = pm.Matrix(pm.Complex, "U", [L, M]), pm.Matrix(pm.Complex, "V", [N, L])
    first = a(i, k) * x(k, j)
    both = first + alpha * pm.Conj(a(i, k)) * x(k, j)
    alike = total({i: M, j: N}, {k: K}, both, pm.Complex, init=y(i, j))
    unlike = pm.Reduction(
        ([i, j], [interval(M), interval(N)]),
        ([i, j, k, h], [interval(M), interval(N), interval(K), interval(L)]),
        pm.Complex,
        "unlike",
    )
    unlike.defn = [
        pm.Reduce(unlike(i, j), first, pm.Op.Sum),
        pm.Reduce(unlike(i, j), u(h, i) * pm.Conj(v(j, h)), pm.Op.Sum),
    ]
    compiled = pm.compile([alike], name="alike", inputs=[a, x, y, alpha], options=OWN)
    other = pm.compile([unlike], name="unlike", inputs=[a, x, u, v], options=OWN)
    assert kinds(compiled) == kinds(other) == {"kernel"}
    assert ", and of U and V; " in str(other.explain().groups[0].reason)
    rng = np.random.default_rng(seed)
    for m, n, depth in (*SIZES, (4, 5, 6)):
        arrays = [values(rng, "complex128", *shape) for shape in ((m, depth), (depth, n), (m, n))]
        check(compiled, arrays, 2 * depth, alpha=-0.5 - 2j)
        arrays = [values(rng, "complex128", *s) for s in ((m, depth), (depth, n), (11, m), (n, 11))]
        check(other, arrays, depth * 11)


def test_windows_and_strides(seed: int) -> None:
    signal, taps = pm.Matrix(pm.Complex, "X", [2 * M + K, L]), pm.Image(pm.Complex, "H", [K, L, N])
    sums = total({i: M, j: N}, {k: K, h: L}, signal(2 * i + k, h) * taps(k, h, j), pm.Complex)
    compiled = pm.compile(sums, name="windows", inputs=[signal, taps], options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for m, n, depth, channels in ((1, 1, 1, 1), (17, 9, 5, 3), (40, 13, 2, 7), (9, 8, 3, 0)):
        arrays = [
            values(rng, "complex128", 2 * m + depth, channels),
            values(rng, "complex128", depth, channels, n),
        ]
        check(compiled, arrays, depth * channels)


def test_pairs_of_some_columns_at_a_time(compile_for: CompileFor, seed: int) -> None:
    """Where there is room for the pairs of one register block only, columns are computed in parts."""
    compile_for(SMALL_CACHES)
    a, x = pm.Matrix(pm.Complex, "A", [M, K]), pm.Matrix(pm.Complex, "B", [K, N])
    rng = np.random.default_rng(seed)
    arrays = [values(rng, "complex128", 21, 300), values(rng, "complex128", 300, 101)]
    for threads in (1, 3):
        own = pm.Options(blas="never", threads=threads, parallel_threshold=0)
        compiled = pm.compile(a @ x, name="product", inputs=[a, x], options=own)
        assert "_pm_paired_columns" in compiled.source
        check(compiled, arrays, 300)


@pytest.mark.turns(2)
def test_a_thousand_random_shapes(seed: int) -> None:
    a, x = pm.Matrix(pm.Complex, "A", [M, K]), pm.Matrix(pm.Complex, "B", [K, N])
    compiled = pm.compile(a @ x, name="product", inputs=[a, x], options=OWN)
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        m, n, depth = (int(size) for size in rng.integers(0, 40, 3))
        check(compiled, [values(rng, "complex128", m, depth), values(rng, "complex128", depth, n)], depth)


def test_results_written_in_place_of_an_input(seed: int) -> None:
    a, x, c = (pm.Matrix(pm.Complex, n, e) for n, e in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
    sums = total({i: M, j: N}, {k: K}, a(i, k) * x(k, j), pm.Complex, init=c(i, j))
    compiled = pm.compile(sums, name="sums", inputs=[a, x, c], options=OWN)
    rng = np.random.default_rng(seed)
    arrays = [values(rng, "complex128", *shape) for shape in ((13, 17), (17, 19), (13, 19))]
    expected = compiled(*arrays)
    result = arrays[2].copy()
    compiled(*arrays[:2], result, out=result)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_infinities_and_nan_are_those_of_the_textbook(special: float) -> None:
    a, x = pm.Matrix(pm.Complex, "A", [M, K]), pm.Matrix(pm.Complex, "B", [K, N])
    compiled = pm.compile(a @ x, name="product", inputs=[a, x], options=OWN)
    rng = np.random.default_rng(3)
    left, right = values(rng, "complex128", 9, 5), values(rng, "complex128", 5, 7)
    left[2, 3] = complex(special, 1.0)
    right[1, 4] = complex(2.0, special)
    found, expected = compiled(left, right), compiled.reference(left, right)
    for part in (np.real, np.imag):
        np.testing.assert_array_equal(np.isnan(part(found)), np.isnan(part(expected)))
        np.testing.assert_array_equal(np.isinf(part(found)), np.isinf(part(expected)))
