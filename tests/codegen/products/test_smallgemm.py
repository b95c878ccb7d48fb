"""Small products whose right operand is copied as a whole, or that have a triangle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Matrix, Options, Parameter
from polymat.machine.known import ZEN5
from polymat.product.blocking import blocking
from polymat.product.ways import NEAR_ELEMENTS, Way
from tests.codegen.products.test_blockcost import kernel_of, of_the_result, right_transposed
from tests.codegen.test_halves import HALVES, arrays_of, compare, inputs_of, structured
from tests.idiom.recognise import K, M, N, i, j, upto
from tests.tolerance import assert_close

SHAPES = (
    *((m, n, k) for m in (0, 1, 7, 9) for n in (2, 8, 23, 25, 49) for k in (0, 1, 7, 8, 9, 21)),
    *(
        (m, n, k)
        for m in (64, 65)
        for n, k in ((64, 64), (96, 96), (97, 96), (33, 230), (33, 231), (48, 193), (8, 512))
    ),
    *((m, n, k) for m in (4096, 4097) for n, k in ((16, 3), (17, 5))),
)
SQUARES = tuple((m, 0, k) for m in (0, 1, 7, 8, 9, 16, 17, 31, 33, 64, 96, 97) for k in (0, 1, 20, 96))


def positive(product: Any, added: Any, kind: Any) -> Any:
    """max(product + added, 0) at every point."""
    stage = pm.Function(([i, j], [upto(M), upto(N)]), kind, "positive")
    stage.defn = [pm.Max(product(i, j) + added(i, j), 0.0)]
    return stage


def values_of(rng: np.random.Generator, dtype: Any, *shape: int) -> Any:
    return rng.uniform(-1, 1, shape).astype(dtype)


@pytest.mark.parametrize(("kind", "left_too"), [(Double, False), (Double, True), (Float, True)])
def test_transposed(kind: Any, left_too: bool) -> None:
    """Of one operand or both, scaled and added to something, with a bias and a limit behind it."""
    A = Matrix(kind, "A", [K, M] if left_too else [M, K])
    B, C = Matrix(kind, "B", [N, K]), Matrix(kind, "C", [M, N])
    left: Any = A.T if left_too else A
    alpha, beta = Parameter(kind, "alpha"), Parameter(kind, "beta")
    options = Options(blas="never", threads=1)
    plain: Any = pm.compile(left @ B.T, name="plain", inputs=[A, B], options=options)
    scaled: Any = pm.compile(
        pm.gemm(left, B.T, C, alpha, beta), name="scaled", inputs=[A, B, C], options=options
    )
    limited: Any = pm.compile(
        positive(left @ B.T, C, kind), name="limited", inputs=[A, B, C], options=options
    )
    rng = np.random.default_rng(3)
    for m, n, k in SHAPES:
        a, b, c = (values_of(rng, kind.dtype, *shape) for shape in ((m, k), (n, k), (m, n)))
        a = np.ascontiguousarray(a.T) if left_too else a
        exact = (a.T if left_too else a) @ b.T.astype(np.float64)
        magnitude = np.abs(a.T if left_too else a) @ np.abs(b.T) + np.abs(c)
        for found, expected in (
            (plain(a, b), exact),
            (scaled(a, b, c, alpha=1.5, beta=-0.5), 1.5 * exact - 0.5 * c),
            (limited(a, b, c), np.maximum(exact + c, 0)),
        ):
            assert_close(found, expected.astype(kind.dtype), roundings=k + 8, magnitude=2 * magnitude)


@pytest.mark.parametrize("kind", [Double, Float])
def test_of_little_depth(kind: Any) -> None:
    """As many rows and columns as nothing is asked about, and more; a transposed left operand too."""
    A, B, F = Matrix(kind, "A", [M, K]), Matrix(kind, "B", [K, N]), Matrix(kind, "F", [K, M])
    options = Options(blas="never", threads=1)
    plain: Any = pm.compile([A @ B, F.T @ B], name="plain", inputs=[A, F, B], options=options)
    rng = np.random.default_rng(7)
    rows = (
        (512, 64),
        (513, 64),
        (512, 65),
        (63, 513),
        (64, 512),
        (1, 64),
        (1, 65),
        (1, 512),
        (2, 511),
        (97, 12),
    )
    for m, n, k in [(m, n, k) for m, n in rows for k in (0, 1, 17, 64, 65)]:
        a, b = values_of(rng, kind.dtype, m, k), values_of(rng, kind.dtype, k, n)
        expected = (a.astype(np.float64) @ b).astype(kind.dtype)
        for found in plain(a, np.ascontiguousarray(a.T), b):
            assert_close(found, expected, roundings=k + 8, magnitude=np.abs(a) @ np.abs(b))


@pytest.mark.parametrize("kind", [Double, Float])
def test_triangles_of_the_result(kind: Any) -> None:
    """Below, above and strictly below the diagonal."""
    name = np.dtype(kind.dtype).name
    inputs = inputs_of("result", kind)
    outputs = [structured("result", half, inputs, kind) for half in HALVES]
    options = Options(blas="never", threads=1)
    compiled = pm.compile(outputs, name="triangles", inputs=inputs, options=options)
    for m, n, k in SQUARES:
        compare(compiled, arrays_of(inputs, {"M": m, "N": n, "K": k}, name), k, HALVES)


def test_what_is_not_finite_stays_in_its_row_and_column() -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [N, K])
    product: Any = pm.compile(
        A @ B.T, name="product", inputs=[A, B], options=Options(blas="never", threads=1)
    )
    a, b = np.ones((9, 13)), np.ones((11, 13))
    a[4, 12], b[10, 0] = np.inf, np.nan
    expected = np.full((9, 11), 13.0)
    expected[4], expected[:, 10] = np.inf, np.nan
    np.testing.assert_array_equal(product(a, b), expected)


@pytest.mark.parametrize("make", [right_transposed, of_the_result])
def test_only_what_fits_is_near(make: Any) -> None:
    plan = kernel_of(make(Double), ZEN5)
    found, blocks, lanes = plan.contraction, plan.blocks, plan.blocks.lanes
    most = NEAR_ELEMENTS // lanes
    shape = "MK" if make is of_the_result else "NK"
    for depth, near in ((most, True), (most + 1, False)):
        sizes = {"M": 5, "N": 5, **dict(zip(shape, (lanes, depth), strict=True))}
        assert (blocking(found, blocks, sizes).way is Way.COPIED_NEAR) is near
