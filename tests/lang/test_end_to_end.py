"""Every function of the algebra, compiled and interpreted, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat.lang.algebra import Result
from polymat.lang.types import ScalarType
from tests.tolerance import assert_close

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
TYPES = (pm.Double, pm.Float, pm.Complex, pm.ComplexFloat, pm.Int, pm.Long)
SIZES = (
    {"M": 0, "N": 0, "K": 0},
    {"M": 1, "N": 1, "K": 1},
    {"M": 5, "N": 3, "K": 0},
    {"M": 7, "N": 5, "K": 11},
)


@dataclass(frozen=True)
class Operands:
    """Inputs of one element type, in every shape that the programs need."""

    dtype: ScalarType

    def matrix(self, name: str, rows: pm.Parameter, columns: pm.Parameter) -> pm.Matrix:
        return pm.Matrix(self.dtype, name, [rows, columns])

    def vector(self, name: str, length: pm.Parameter) -> pm.Vector:
        return pm.Vector(self.dtype, name, [length])


def tril_strict(a: Array) -> Array:
    return np.tril(a, -1)


def symmetric(a: Array) -> Array:
    return np.tril(a) + np.tril(a, -1).T


def lower_of(a: Array, c: Array) -> Array:
    return np.tril(a) + np.triu(c, 1)


Program = Callable[[Operands], tuple[Result, list[Any]]]
Reference = Callable[..., Array]


def _binary(make: Callable[[Any, Any], Any], left: str, right: str) -> Program:
    sizes = {"m": M, "n": N, "k": K}

    def operand(o: Operands, name: str, dims: str) -> Any:
        if len(dims) == 1:
            return o.vector(name, sizes[dims])
        return o.matrix(name, sizes[dims[0]], sizes[dims[1]])

    def build(o: Operands) -> tuple[Result, list[Any]]:
        one, other = operand(o, "one", left), operand(o, "other", right)
        return make(one, other).named("result"), [one, other]

    return build


def _blas(make: Callable[..., Any], *shapes: str) -> Program:
    sizes = {"m": M, "n": N, "k": K}

    def build(o: Operands) -> tuple[Result, list[Any]]:
        named = zip("ABC", shapes, strict=False)
        inputs = [o.matrix(name, sizes[shape[0]], sizes[shape[1]]) for name, shape in named]
        return make(*inputs).named("result"), inputs

    return build


PROGRAMS: dict[str, tuple[Program, Reference]] = {
    "A + B": (_binary(lambda a, b: a + b, "mn", "mn"), lambda a, b: a + b),
    "x + y": (_binary(lambda a, b: a + b, "n", "n"), lambda a, b: a + b),
    "A - B.T": (_binary(lambda a, b: a - b.T, "mn", "nm"), lambda a, b: a - b.T),
    "-A + 2 - B": (_binary(lambda a, b: 2 - a - b, "mn", "mn"), lambda a, b: 2 - a - b),
    "neg": (_binary(lambda a, b: -(a + b), "mn", "mn"), lambda a, b: -(a + b)),
    "A * B": (_binary(lambda a, b: a * b, "mk", "kn"), lambda a, b: a @ b),
    "A @ B.T": (_binary(lambda a, b: a @ b.T, "mk", "nk"), lambda a, b: a @ b.T),
    "A.T @ B": (_binary(lambda a, b: a.T @ b, "km", "kn"), lambda a, b: a.T @ b),
    "A @ x": (_binary(lambda a, b: a @ b, "mk", "k"), lambda a, b: a @ b),
    "A * x": (_binary(lambda a, b: a * b, "mk", "k"), lambda a, b: a @ b),
    "x @ A": (_binary(lambda a, b: a @ b, "k", "kn"), lambda a, b: a @ b),
    "x @ y": (_binary(lambda a, b: a @ b, "k", "k"), lambda a, b: np.asarray(a @ b)),
    "dot": (_binary(pm.dot, "k", "k"), lambda a, b: np.asarray(np.dot(a, b))),
    "dot + 1": (_binary(lambda a, b: pm.dot(a, b) + 1, "k", "k"), lambda a, b: np.asarray(np.dot(a, b) + 1)),
    "dot * x": (_binary(lambda a, b: pm.dot(a, b) * a, "k", "k"), lambda a, b: np.dot(a, b) * a),
    "outer": (_binary(pm.outer, "m", "n"), np.outer),
    "elementwise_mul": (_binary(pm.elementwise_mul, "mn", "mn"), lambda a, b: a * b),
    "elementwise vectors": (_binary(pm.elementwise_mul, "n", "n"), lambda a, b: a * b),
    "3 * A @ B": (_binary(lambda a, b: 3 * a @ b, "mk", "kn"), lambda a, b: 3 * a @ b),
    "scalar_mul": (_blas(lambda a: pm.scalar_mul(a, 3), "mn"), lambda a: 3 * a),
    "transpose": (_blas(pm.transpose, "mn"), lambda a: a.T.copy()),
    "A.T.T": (_blas(lambda a: a.T.T + a, "mn"), lambda a: a + a),
    "gemm": (
        _blas(lambda a, b, c: pm.gemm(a, b, c, 3, 2), "mk", "kn", "mn"),
        lambda a, b, c: 3 * a @ b + 2 * c,
    ),
    "gemm 1 0": (_blas(lambda a, b, c: pm.gemm(a, b, c, 1, 0), "mk", "kn", "mn"), lambda a, b, c: a @ b),
    "gemm 1 1": (_blas(lambda a, b, c: pm.gemm(a, b, c, 1, 1), "mk", "kn", "mn"), lambda a, b, c: a @ b + c),
    "symm": (
        _blas(lambda a, b, c: pm.symm(a, b, c, M, N, 3, 2), "mm", "mn", "mn"),
        lambda a, b, c: 3 * symmetric(a) @ b + 2 * c,
    ),
    "syrk": (
        _blas(lambda a, c: pm.syrk(a, c, 3, 2), "nk", "nn"),
        lambda a, c: lower_of(3 * a @ a.T + 2 * c, c),
    ),
    "syrk 1 0": (_blas(lambda a, c: pm.syrk(a, c, 1, 0), "nk", "nn"), lambda a, c: lower_of(a @ a.T, c)),
    "syr2k": (
        _blas(lambda a, b, c: pm.syr2k(a, b, c, 3, 2), "nk", "nk", "nn"),
        lambda a, b, c: lower_of(3 * (a @ b.T + b @ a.T) + 2 * c, c),
    ),
    "trmm": (_blas(lambda a, b: pm.trmm(a, b, 3), "mm", "mn"), lambda a, b: 3 * (tril_strict(a).T @ b + b)),
    "trmm beta": (
        _blas(lambda a, b: pm.trmm(a, b, 3, 2), "mm", "mn"),
        lambda a, b: 3 * (tril_strict(a).T @ b + b) + 2 * b,
    ),
    "trmm 1 0": (_blas(lambda a, b: pm.trmm(a, b, 1), "mm", "mn"), lambda a, b: tril_strict(a).T @ b + b),
}


def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Small integers, so that every product and sum is exact in every type."""
    values: Array = rng.integers(-4, 5, shape).astype(dtype)
    if values.dtype.kind == "c":
        values = values + 1j * rng.integers(-4, 5, shape).astype(dtype)
    return values.astype(dtype)


def arrays_for(inputs: list[Any], sizes: dict[str, int], rng: np.random.Generator) -> list[Array]:
    return [sample(rng, tuple(d.evaluate(sizes) for d in v.shape), v.dtype.dtype) for v in inputs]


@pytest.mark.parametrize("name", PROGRAMS)
def test_function_computes_what_numpy_does(name: str, seed: int) -> None:
    build, reference = PROGRAMS[name]
    result, inputs = build(Operands(pm.Double))
    compiled = pm.compile(result, inputs=inputs)
    for sizes in SIZES:
        arrays = arrays_for(inputs, sizes, np.random.default_rng(seed))
        expected = reference(*arrays)
        np.testing.assert_array_equal(compiled(*arrays), expected, strict=True)
        np.testing.assert_array_equal(compiled.reference(*arrays), expected, strict=True)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ["A @ B.T", "symm", "syr2k", "trmm beta", "dot"])
def test_function_works_in_every_type(name: str, dtype: Any, seed: int) -> None:
    build, reference = PROGRAMS[name]
    result, inputs = build(Operands(dtype))
    assert result.dtype == dtype
    compiled = pm.compile(result, inputs=inputs)
    arrays = arrays_for(inputs, SIZES[-1], np.random.default_rng(seed))
    expected = reference(*arrays)
    np.testing.assert_array_equal(compiled(*arrays), expected, strict=True)
    np.testing.assert_array_equal(compiled.reference(*arrays), expected, strict=True)


def test_scalars_are_parameters(seed: int) -> None:
    alpha, beta = pm.Parameter(pm.Double, "alpha"), pm.Parameter(pm.Double, "beta")
    a, b, c = (pm.Matrix(pm.Double, name, [N, N]) for name in "ABC")
    compiled = pm.compile(pm.gemm(a, b, c, alpha, beta).named("D"), inputs=[a, b, c])
    x, y, z = arrays_for([a, b, c], {"N": 6}, np.random.default_rng(seed))
    got = compiled(x, y, z, alpha=1.5, beta=1.2)
    assert_close(got, 1.5 * (x @ y) + 1.2 * z, roundings=12, magnitude=1.5 * (abs(x) @ abs(y)) + 1.2 * abs(z))


def test_symm_and_trmm_read_one_triangle_only(seed: int) -> None:
    a, b, c = (pm.Matrix(pm.Double, name, [N, N]) for name in "ABC")
    x, y, _ = arrays_for([a, b, c], {"N": 5}, np.random.default_rng(seed))
    poisoned = x + np.triu(np.full((5, 5), np.nan), 1)
    got = pm.compile(pm.symm(a, b, c, N, N, 1, 0).named("S"), inputs=[a, b])(poisoned, y)
    np.testing.assert_array_equal(got, symmetric(x) @ y)
    np.fill_diagonal(poisoned, np.nan)
    got = pm.compile(pm.trmm(a, b, 1).named("R"), inputs=[a, b])(poisoned, y)
    np.testing.assert_array_equal(got, tril_strict(x).T @ y + y)


def test_zero_beta_does_not_read_the_addend(seed: int) -> None:
    a, b, c = (pm.Matrix(pm.Double, name, [N, N]) for name in "ABC")
    x, y, _ = arrays_for([a, b, c], {"N": 4}, np.random.default_rng(seed))
    np.testing.assert_array_equal(
        pm.compile(pm.gemm(a, b, c, 2, 0).named("D"), inputs=[a, b])(x, y), 2 * x @ y
    )


def test_a_result_is_indexed_in_a_definition(seed: int) -> None:
    a, b = pm.Matrix(pm.Double, "A", [N, N]), pm.Matrix(pm.Double, "B", [N, N])
    i = pm.Variable(pm.Int, "i")
    product = a @ b
    trace = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "diagonal")
    trace.defn = [product(i, i) + 1]
    x, y = arrays_for([a, b], {"N": 5}, np.random.default_rng(seed))
    np.testing.assert_array_equal(pm.compile(trace, inputs=[a, b])(x, y), np.diag(x @ y) + 1)


def test_plain_functions_take_part(seed: int) -> None:
    a = pm.Matrix(pm.Double, "A", [N, N])
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    whole = pm.Interval(pm.Int, 0, N - 1)
    f = pm.Function(([i, j], [whole, whole]), pm.Double, "f")
    f.defn = [a(i, j) * 2]
    (x,) = arrays_for([a], {"N": 5}, np.random.default_rng(seed))
    np.testing.assert_array_equal(pm.compile((f @ a - f).named("g"))(x), 2 * x @ x - 2 * x)


def test_sizes_may_have_the_names_of_usual_variables(seed: int) -> None:
    sizes = [pm.Parameter(pm.Int, name) for name in ("i", "j", "k")]
    a, b = pm.Matrix(pm.Double, "A", sizes[:2]), pm.Matrix(pm.Double, "B", sizes[1:])
    x, y = arrays_for([a, b], {"i": 3, "j": 4, "k": 5}, np.random.default_rng(seed))
    np.testing.assert_array_equal(pm.compile((a @ b).named("C"), inputs=[a, b])(x, y), x @ y)


def test_unnamed_results_compile(seed: int) -> None:
    a = pm.Matrix(pm.Double, "A", [N, N])
    (x,) = arrays_for([a], {"N": 5}, np.random.default_rng(seed))
    np.testing.assert_array_equal(pm.compile(a @ a.T + a)(x), x @ x.T + x)


def test_a_single_number_is_an_array_wherever_it_comes_from() -> None:
    """The interpreter's is no NumPy scalar either: it can be given to a call as out=."""
    x = pm.Vector(pm.Double, "x", [N])
    compiled = pm.compile([x.sum(), x.max().astype(pm.Half)], inputs=[x])
    given = np.arange(4.0)
    known = compiled.reference(given)
    assert [type(each) for each in known] == [type(each) for each in compiled(given)] == [np.ndarray] * 2
    compiled(2 * given, out=known)
    assert [each.item() for each in known] == [12.0, 6.0]
