"""Products whose rows and columns threads share: against the interpreter, and what generated code says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Options
from polymat.plan.registerblocks import kernel_of
from polymat.plan.schedule import Schedule
from tests.codegen.test_triangles import PROGRAMS, SIZES
from tests.fixed import compiled_levels
from tests.idiom.recognise import K, M, N, i, j, k, total, upto
from tests.tolerance import assert_close

LARGER = ((150, 97, 40), (97, 150, 3))
THREADS = (4, 6)
X, Y, Z = (pm.Matrix(pm.Double, name, dims) for name, dims in (("X", [M, K]), ("Y", [K, N]), ("Z", [M, N])))
bias = pm.Vector(pm.Double, "bias", [N])


def point(value: Any) -> pm.Function:
    """A value at every point of the result."""
    made = pm.Function(([i, j], [upto(M), upto(N)]), pm.Double, "R")
    made.defn = [value]
    return made


PRODUCTS: dict[str, tuple[Any, list[Any]]] = {
    "product": (X @ Y, [X, Y]),
    "added": (2.0 * (X @ Y) + Z, [X, Y, Z]),
    "transposed": ((Y.T @ X.T).named("turned"), [X, Y]),
    "with a reader": (point(pm.Max((X @ Y)(i, j) + bias(j), 0)), [X, Y, bias]),
    "handed over": (point(pm.Exp(0.1 * (X @ Y)(i, j))), [X, Y]),
}


def summed(value: Any) -> pm.Reduction:
    """The sum of a value over the depth."""
    return total("P", [(i, upto(M)), (j, upto(N))], [(k, upto(K))], value, dtype=Complex)


CX, CY, CZ = (
    pm.Matrix(Complex, name, dims) for name, dims in (("CX", [M, K]), ("CY", [K, N]), ("CZ", [M, N]))
)
SX, SY = pm.Matrix(pm.ComplexFloat, "SX", [M, K]), pm.Matrix(pm.ComplexFloat, "SY", [K, N])
IN_PAIRS: dict[str, tuple[Any, list[Any]]] = {
    "complex": (CX @ CY, [CX, CY]),
    "complex64": (SX @ SY, [SX, SY]),
    "scaled and added": (2.0 * (CX @ CY) + CZ, [CX, CY, CZ]),
    "transposed": ((CY.T @ CX.T).named("turned"), [CX, CY]),
    "left conjugated": (summed(pm.Conj(CX(i, k)) * CY(k, j)), [CX, CY]),
    "right conjugated": (summed(CX(i, k) * pm.Conj(CY(k, j))), [CX, CY]),
    "real by complex": (X @ CY, [X, CY]),
    "real by conjugated": (summed(X(i, k) * pm.Conj(CY(k, j))), [X, CY]),
}


def arrays_of(inputs: list[Any], sizes: dict[str, int], rng: np.random.Generator) -> list[Any]:
    found = []
    for array in inputs:
        shape = [int(extent.evaluate(sizes)) for extent in array.shape]
        values = rng.uniform(-1, 1, shape)
        values = values + 1j * rng.uniform(-1, 1, shape) if array.dtype.kind == "c" else values
        found.append(values.astype(array.dtype.dtype))
    return found


def assert_alike(output: Any, inputs: list[Any], threads: int, *, grid: bool = True, **asked: Any) -> None:
    """Compiled for some threads, at small, empty and larger sizes; grid: rows and columns are shared."""
    options = Options(threads=threads, parallel_threshold=0, cflags=("-O0",), **asked)
    compiled: Any = pm.compile(output, name="grid", inputs=inputs, options=options)
    assert ("_pm_grid_down" in compiled.source) == grid
    rng = np.random.default_rng(threads)
    for m, n, inner in (*SIZES, *LARGER):
        arrays = arrays_of(inputs, {"M": m, "N": n, "K": inner}, rng)
        terms = 4 * max(m, inner) + 8
        expected = compiled.reference(*arrays)
        name = f"{m} {n} {inner}"
        assert_close(compiled(*arrays), expected, roundings=terms, magnitude=1.0 * terms, name=name)


@pytest.mark.covering
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, threads: int) -> None:
    output, inputs = PRODUCTS[name]
    assert_alike(output, inputs, threads, blas="never")


@pytest.mark.covering
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_triangles(name: str, threads: int) -> None:
    output, inputs, _ = PROGRAMS[name]
    grid = Complex not in {array.dtype for array in inputs}  # triangles are multiplied by no pairs
    assert_alike(output, inputs, threads, grid=grid, blas="never")


@pytest.mark.covering
@pytest.mark.parametrize("threads", [*THREADS, 16])
@pytest.mark.parametrize("name", IN_PAIRS)
def test_complex_products(name: str, threads: int) -> None:
    """Cut between whole vectors of real columns."""
    output, inputs = IN_PAIRS[name]
    assert_alike(output, inputs, threads, blas="never")


@pytest.mark.parametrize("threads", [4, 6, 16])
def test_images(threads: int) -> None:
    """Rows of images, rows of pixels or channels with what is beside each of these."""
    h, w, c, r, s, n = (pm.Parameter(pm.Int, name) for name in "HWCRSN")
    image, weights = pm.Image(pm.Float, "I", [h, w, c]), pm.Image(pm.Float, "P", [r, s, c, n])
    rng = np.random.default_rng(threads)
    for shape, channels in (((9, 7, 6), 40), ((30, 12, 3), 5), ((5, 30, 3), 9)):
        sizes = {h: shape[0], w: shape[1], c: shape[2], r: 3, s: 3, n: channels}
        options = Options(blas="never", threads=threads, parallel_threshold=0, cflags=("-O0",))
        compiled: Any = pm.compile(
            pm.conv2d(image, weights), inputs=[image, weights], options=options, estimates=sizes
        )
        assert "_pm_grid_down" in compiled.source
        arrays = [rng.uniform(-1, 1, each).astype(np.float32) for each in (shape, (3, 3, shape[2], channels))]
        terms = 9 * shape[2] + 4
        assert_close(compiled(*arrays), compiled.reference(*arrays), roundings=terms, magnitude=1.0 * terms)


def test_calls_of_a_library() -> None:
    """Each thread calls for its part; where register blocks are quicker, at each call, they share alike."""
    assert_alike((X @ Y).named("called"), [X, Y], 4, blas="auto")


def test_what_is_shared_by_two_stays_one_dimension() -> None:
    """A grid of two threads or three gains nothing."""
    schedule = compiled_levels((X @ Y).named("P"), inputs=[X, Y])["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    found = kernel_of(plan)
    assert found is not None
    assert found.across is None
