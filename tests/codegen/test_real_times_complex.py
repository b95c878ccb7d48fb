"""Products of real and complex matrices by register blocks of real ones, against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from tests.codegen.products.test_contractionwriter import SIZES, kinds
from tests.codegen.products.test_pairswriter import (
    MACHINES,
    OWN,
    K,
    L,
    M,
    N,
    alpha,
    b,
    check,
    h,
    i,
    j,
    k,
    total,
    values,
)
from tests.hosts import CompileFor

DTYPES = ((pm.Double, pm.Complex, "f8", "c16"), (pm.Float, pm.ComplexFloat, "f4", "c8"))
MORE_SIZES = (*SIZES, (2, 30, 11), (3, 7, 50), (4, 9, 8), (5, 130, 3))
beta = pm.Parameter(pm.Double, "beta")


def filled(rng: np.random.Generator, dtype: str, *shape: int) -> Any:
    """Random numbers, real ones of a real type."""
    found = values(rng, "complex128", *shape)
    return (found if dtype.startswith("c") else found.real).astype(dtype)


@pytest.fixture(params=list(MACHINES))
def machine(request: pytest.FixtureRequest, compile_for: CompileFor) -> None:
    """Compile for one of the machines of complex products."""
    compile_for(MACHINES[request.param])


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(("real", "dtype", "parts", "name"), DTYPES)
def test_products_of_transposed_matrices(
    seed: int, real: ScalarType, dtype: ScalarType, parts: str, name: str
) -> None:
    a, turned_a = pm.Matrix(real, "A", [M, K]), pm.Matrix(real, "TA", [K, M])
    x, turned_x = pm.Matrix(dtype, "B", [K, N]), pm.Matrix(dtype, "TB", [N, K])
    products = [a @ x, turned_a.T @ x, a @ turned_x.T, turned_a.T @ turned_x.T]
    compiled = pm.compile(products, name="products", inputs=[a, x, turned_a, turned_x], options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    for m, n, depth in MORE_SIZES:
        shapes = ((m, depth), (depth, n), (depth, m), (n, depth))
        check(compiled, [filled(rng, d, *s) for d, s in zip((parts, name) * 2, shapes, strict=True)], depth)


def test_the_right_operand_is_read_as_it_lies() -> None:
    a, x, turned = (
        pm.Matrix(pm.Double, "A", [M, K]),
        *(pm.Matrix(pm.Complex, name, extents) for name, extents in (("B", [K, N]), ("TB", [N, K]))),
    )
    straight = pm.compile(a @ x, name="straight", inputs=[a, x], options=OWN)
    across = pm.compile(a @ turned.T, name="across", inputs=[a, turned], options=OWN)
    assert "_pm_paired_columns" not in straight.source
    assert "twice as many real columns" in straight.explain().groups[0].reason
    assert "_pm_paired_columns" in across.source


@pytest.mark.covering
@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("conjugated", [False, True])
@pytest.mark.parametrize("scale", [alpha, beta])
def test_conjugates_scales_and_start_values(seed: int, conjugated: bool, scale: Any) -> None:
    a, x, c = (
        pm.Matrix(pm.Double, "A", [M, K]),
        pm.Matrix(pm.Complex, "B", [K, N]),
        pm.Matrix(pm.Complex, "C", [M, N]),
    )
    right = pm.Conj(x(k, j)) if conjugated else x(k, j)
    sums = total({i: M, j: N}, {k: K}, scale * a(i, k) * right, pm.Complex, init=c(i, j))
    compiled = pm.compile(sums, name="sums", inputs=[a, x, c, scale], options=OWN)
    assert kinds(compiled) == {"kernel"}
    rng = np.random.default_rng(seed)
    value: dict[str, Any] = {"alpha": 1.5 - 0.5j} if scale is alpha else {"beta": -1.5}
    for m, n, depth in MORE_SIZES:
        arrays = [filled(rng, d, *s) for d, s in (("f8", (m, depth)), ("c16", (depth, n)), ("c16", (m, n)))]
        found, expected = compiled(*arrays, **value), compiled.reference(*arrays, **value)
        np.testing.assert_allclose(found, expected, atol=1e-14 * (10 * depth + 10))


def test_batches_segments_and_further_products(seed: int) -> None:
    """Further dimensions, and a complex product that is added to one of real and complex values."""
    a, x = pm.Image(pm.Double, "A", [L, M, K]), pm.Image(pm.Complex, "B", [L, K, N])
    batch = total({b: L, i: M, j: N}, {k: K}, a(b, i, k) * x(b, k, j), pm.Complex)
    summed = total({i: M, j: N}, {h: L, k: K}, a(h, i, k) * x(h, k, j), pm.Complex)
    spread = total({b: L, i: M, h: L, j: N}, {k: K}, a(b, i, k) * x(h, k, j), pm.Complex)
    u, v = pm.Matrix(pm.Complex, "U", [M, K]), pm.Matrix(pm.Complex, "V", [K, N])
    real = pm.Matrix(pm.Double, "R", [M, K])
    both = total({i: M, j: N}, {k: K}, real(i, k) * v(k, j) + u(i, k) * v(k, j), pm.Complex)
    rng = np.random.default_rng(seed)
    for output, inputs in ((batch, [a, x]), (summed, [a, x]), (spread, [a, x]), (both, [real, u, v])):
        for threads in (1, 3):
            own = pm.Options(blas="never", threads=threads, parallel_threshold=0)
            compiled = pm.compile(output, name="sums", inputs=inputs, options=own)
            assert kinds(compiled) == {"kernel"}
            for times, m, n, depth in (
                (1, 1, 1, 1),
                (3, 17, 9, 5),
                (2, 8, 31, 40),
                (0, 3, 2, 4),
                (4, 12, 13, 0),
            ):
                shapes: tuple[tuple[int, ...], ...] = ((times, m, depth), (times, depth, n))
                shapes = shapes if len(inputs) == 2 else ((m, depth), (m, depth), (depth, n))
                types = ["c16" if each.dtype.kind == "c" else "f8" for each in inputs]
                arrays = [filled(rng, d, *shape) for d, shape in zip(types, shapes, strict=True)]
                check(compiled, arrays, 2 * depth * max(times, 1))


def test_random_shapes_and_parts_of_arrays(seed: int) -> None:
    a, x = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Complex, "B", [K, N + 5])
    part = total({i: M, j: N}, {k: K}, a(i, k) * x(k, j + 3), pm.Complex)
    compiled = pm.compile(part, name="part", inputs=[a, x], options=OWN)
    rng = np.random.default_rng(seed)
    for _ in range(300):
        m, n, depth = (int(size) for size in rng.integers(0, 40, 3))
        check(compiled, [filled(rng, "f8", m, depth), filled(rng, "c16", depth, n + 5)], depth)
