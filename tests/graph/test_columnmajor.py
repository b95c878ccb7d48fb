"""Inputs that lie column by column: the same numbers, read as they lie."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat import Double, Function, Image, Int, Interval, Matrix, Parameter, Variable, Vector
from polymat.errors import LangError
from polymat.graph.build import build
from polymat.graph.columnmajor import turn_inputs

M, K, N = (Parameter(Int, name) for name in "MKN")
A, B, v = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Vector(Double, "v", [K])
SHAPES = [(0, 3, 2), (1, 1, 1), (7, 13, 5), (31, 1, 17), (64, 65, 33)]


def product() -> pm.Compiled:
    return pm.compile(A @ B, name="mm", inputs=[A, B], fortran=[A], options=pm.Options(blas="never"))


def layouts(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]), order="F")
    wide[::2, ::3] = array
    return [np.asfortranarray(array), array, wide[::2, ::3], np.asfortranarray(array[::-1])[::-1]]


def test_any_order_is_taken(seed: int) -> None:
    mm, rng = product(), np.random.default_rng(seed)
    for m, k, n in SHAPES:
        a, b = rng.integers(-9, 9, (m, k)).astype(float), rng.integers(-9, 9, (k, n)).astype(float)
        for given in layouts(a):
            np.testing.assert_array_equal(mm(given, b), a @ b)
            np.testing.assert_array_equal(mm.reference(given, b), a @ b)


def test_indices_are_turned_and_sizes_are_the_users() -> None:
    built = build((A @ B,), inputs=[A, B], estimates={})
    assert turn_inputs(built, ()) is built
    turned = turn_inputs(built, [A])
    assert [str(list(map(str, array.extents))) for array in turned.inputs] == ["['K', 'M']", "['K', 'N']"]
    loads = {load.source.name: load.indices for stage in turned.stages for load in stage.loads()}
    assert loads["B"][0] == loads["A"][0]
    mm = product()
    assert repr(mm).startswith("<polymat mm(A: float64 (M, K), B: float64 (K, N))")
    with pytest.raises(
        pm.ArgumentError, match=r"B has shape \(4, 2\): expected dimension 0 to be K = 3, which A's"
    ):
        mm(np.ones((2, 3), order="F"), np.ones((4, 2)))
    assert "A is read column by column, as it lies" in str(mm.explain())
    assert "float64 A[K][M]: by columns, its dimensions in the other order" in mm.header


def test_three_dimensions_and_several_inputs(seed: int) -> None:
    i, j, k = (Variable(Int, name) for name in "ijk")
    cube = Image(Double, "cube", [M, K, N])
    total = Function(([i, j, k], [Interval(Int, 0, M - 1), Interval(Int, 0, K - 1), Interval(Int, 0, N - 1)]),
                     Double, "total")  # fmt: skip
    total.defn = [2.0 * cube(i, j, k) + A(i, j) - v(j)]
    compiled = pm.compile(total, name="total", inputs=[cube, A, v], fortran=[cube, A, v])
    rng = np.random.default_rng(seed)
    x, a, w = rng.random((5, 4, 3)), rng.random((5, 4)), rng.random(4)
    expected = 2.0 * x + a[:, :, None] - w[:, None]
    np.testing.assert_allclose(compiled(np.asfortranarray(x), np.asfortranarray(a), w), expected, rtol=1e-15)
    np.testing.assert_allclose(compiled(x, a, w), expected, rtol=1e-15)


def test_in_place(seed: int) -> None:
    i, j = Variable(Int, "i"), Variable(Int, "j")
    square = Matrix(Double, "S", [N, N])
    both = Interval(Int, 0, N - 1)
    mixed = Function(([i, j], [both, both]), Double, "mixed")
    mixed.defn = [2.0 * square(i, j) + square(j, i)]
    compiled = pm.compile(mixed, name="mixed", fortran=[square])
    start = np.random.default_rng(seed).integers(-9, 9, (33, 33)).astype(float)
    for given in (np.asfortranarray(start), start.copy()):
        assert compiled(given, out=given) is given
        np.testing.assert_array_equal(given, 2.0 * start + start.T)


def test_saved_and_loaded(tmp_path: Path) -> None:
    back = pm.load(product().save(tmp_path))
    assert [array.by_columns for array in back.signature.inputs] == [True, False]
    a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    np.testing.assert_array_equal(back(np.asfortranarray(a), b), a @ b)


def test_what_fortran_lists() -> None:
    with pytest.raises(LangError, match=r"fortran= is a list of input arrays, got [^$]*hint: fortran=\[A\]"):
        pm.compile(A @ B, fortran=A)  # type: ignore[call-overload]
    with pytest.raises(LangError, match="fortran= lists input arrays, got"):
        pm.compile(A @ B, fortran=[M])  # type: ignore[list-item]
    with pytest.raises(LangError, match="fortran= lists v, which the outputs do not read"):
        pm.compile(A @ B, fortran=[v])


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.name == "polymat.runtime"]


def test_large_copies_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    mm = pm.compile(A @ B, name="mm", inputs=[A, B], options=pm.Options(blas="never"))
    caplog.set_level(logging.INFO, "polymat.runtime")
    caplog.clear()
    small, large = np.ones((30, 30), order="F"), np.ones((400, 400), order="F")
    mm(small, small)
    assert said(caplog) == []
    mm(large, large.T)
    mm(large, large.T)
    wide = np.ones((400, 800))
    mm(large.T, wide[:, ::2])
    tail, once = "400 x 400 float64 (1.3 MB)", "np.ascontiguousarray copies it once, for several calls"
    expected = [
        f"A, {tail} in Fortran order, is copied at each call: compile(..., fortran=[A]) reads it as it lies",
        f"B, {tail} with strides (6400, 16), is copied at each call: {once}",
    ]
    assert said(caplog) == [f"mm(): {each}" for each in expected]
    assert str(mm.explain()).count("is copied at each call") == 2
    mm(large.T, large.T, out=np.empty((400, 400), order="F"))
    assert said(caplog)[-1].startswith(
        f"mm(): out, {tail} in Fortran order, is written by way of a copy at each"
    )


def test_what_is_read_as_it_lies_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    mm = product()
    caplog.set_level(logging.INFO, "polymat.runtime")
    caplog.clear()
    large = np.ones((400, 400), order="F")
    mm(large, large.T)
    assert said(caplog) == []
    mm(large.T, large.T)
    assert said(caplog)[-1].endswith(
        "in C order, is copied at each call: without fortran= it is read as it lies"
    )


def test_short_dimensions_that_are_joined(seed: int) -> None:
    """Turned, a planar image has its channels last, and is run over like one that has."""
    i, j, c = (Variable(Int, name) for name in "ijc")
    image = Image(Double, "P", [3, M, N])
    channels, rows, columns = (Interval(Int, 0, extent) for extent in (2, M - 1, N - 1))
    turned = Function(([j, i, c], [columns, rows, channels]), Double, "turned")
    turned.defn = [2.0 * image(c, i, j) + 1.0]
    compiled = pm.compile(turned, name="turned", fortran=[image])
    for shape in ((3, 17, 23), (3, 1, 1)):
        values = np.random.default_rng(seed).random(shape)
        for given in (values, np.asfortranarray(values)):
            np.testing.assert_array_equal(compiled(given), 2.0 * values.transpose() + 1.0)
