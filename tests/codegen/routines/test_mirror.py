"""A full product with its own transpose: half of it by a library, the other half a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Conj, Double, Float, Image, Matrix, Options
from tests.codegen.routines.test_calls import called, values
from tests.estimated import estimates_of
from tests.idiom.recognise import K, L, M, N, alpha, i, j, k, l, total, upto
from tests.tolerance import assert_close

A, At, B, C = (
    Matrix(Double, name, shape)
    for name, shape in (("A", [M, K]), ("At", [K, M]), ("B", [M, K]), ("C", [M, M]))
)
F, Z, T = Matrix(Float, "F", [M, K]), Matrix(Complex, "Z", [M, K]), Image(Double, "T", [L, M, K])
MM, IN_K = [(i, upto(M)), (j, upto(M))], [(k, upto(K))]
SIZES = ((0, 2), (1, 1), (2, 0), (3, 5), (15, 4), (16, 3), (17, 2), (33, 7), (70, 65))
LARGE = {M: 1000, K: 1000, N: 1000, L: 3}

PRODUCTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "algebra": (lambda: A @ A.T, A),
    "turned": (lambda: At.T @ At, At),
    "a sum, scaled": (lambda: total("P", MM, IN_K, A(j, k) * A(i, k) * 2.5), A),
    "floats": (lambda: total("P", MM, IN_K, F(i, k) * F(j, k), dtype=Float), F),
    "complex values": (lambda: total("P", MM, IN_K, Z(i, k) * Z(j, k), dtype=Complex), Z),
    "a batch": (lambda: total("P", [(l, upto(L)), *MM], IN_K, T(l, i, k) * T(l, j, k)), T),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_their_own_transpose(name: str) -> None:
    make, array = PRODUCTS[name]
    options = Options(blas="always", threads=3, parallel_threshold=0)
    output = make()
    estimates = estimates_of(output, LARGE)
    compiled: Any = pm.compile(output, name="mirrored", inputs=[array], options=options, estimates=estimates)
    assert called(compiled) == ["syrk"]
    for m, inner in SIZES:
        sizes = {"M": m, "K": inner, "L": 2}
        a = values([int(e.evaluate(sizes)) for e in array.shape], array.dtype.dtype, m)
        result = compiled(a)
        assert_close(result, compiled.reference(a), roundings=2 * inner + 4, magnitude=5.0 * inner + 1)
        np.testing.assert_array_equal(result, np.swapaxes(result, -1, -2))


@pytest.mark.parametrize(
    "output",
    [
        A @ B.T,
        total("P", MM, IN_K, A(i, k) * A(j, k), init=C(i, j)),
        total("P", MM, IN_K, A(i, k) * A(j, k) + A(i, k) * B(j, k)),
        total("P", MM, IN_K, Conj(Z(j, k)) * Z(i, k), dtype=Complex),
        total("P", MM, IN_K, alpha * A(i, k) * At(k, j)),
    ],
)
def test_what_is_not_symmetric_is_computed_whole(output: Any) -> None:
    compiled: Any = pm.compile(output, options=Options(blas="always"), estimates=estimates_of(output, LARGE))
    assert "syrk" not in called(compiled)


def test_the_default_takes_the_half() -> None:
    estimates = {M: 1000, K: 1000}
    compiled: Any = pm.compile(A @ A.T, name="mirrored", options=Options(kernels=False), estimates=estimates)
    assert called(compiled) == ["syrk"]


def test_fixed_sizes() -> None:
    options = Options(blas="always", threads=2, parallel_threshold=0)
    compiled: Any = pm.compile(A @ A.T, name="mirrored", sizes={M: 16, K: 16}, options=options)
    a = values([16, 16], "f8", 1)
    assert_close(compiled(a), a @ a.T, roundings=40, magnitude=20.0)
