"""Inputs whose rows lie apart: the same numbers, read as they lie."""

from __future__ import annotations

import logging
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat import Double, Image, Int, Matrix, Parameter, UChar, Vector
from polymat.errors import LangError, ToolchainError
from polymat.graph.build import build
from polymat.graph.pitches import pitch_inputs
from polymat.model.assumed import assumed_sizes
from polymat.runtime.metadata import MetadataError, from_json, to_json

M, K, N = (Parameter(Int, name) for name in "MKN")
A, B, v = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Vector(Double, "v", [K])
SHAPES = [(0, 3, 2), (1, 1, 1), (7, 0, 5), (7, 13, 5), (31, 1, 17), (64, 65, 33)]


def product(**more: Any) -> pm.Compiled:
    return pm.compile(A @ B, name="mm", inputs=[A, B], strided=[A, B], **more)


def layouts(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """The same elements as a part of larger arrays, and in orders that have to be copied."""
    m, n = array.shape
    wide, tall = np.full((m + 3, n + 5), np.nan), np.full((2 * m, n), np.nan)
    wide[2 : m + 2, 1 : n + 1], tall[::2] = array, array
    parts = [array, wide[2 : m + 2, 1 : n + 1], tall[::2], array[::-1].copy()[::-1]]
    return [*parts, np.asfortranarray(array), np.repeat(array, 2, axis=1)[:, ::2]]


@pytest.mark.parametrize("threads", [1, 2])
def test_any_layout_is_taken(seed: int, threads: int) -> None:
    mm, rng = product(options=pm.Options(threads=threads)), np.random.default_rng(seed)
    for m, k, n in SHAPES:
        a, b = rng.integers(-9, 9, (m, k)).astype(float), rng.integers(-9, 9, (k, n)).astype(float)
        for left, right in zip(layouts(a), reversed(layouts(b)), strict=True):
            np.testing.assert_array_equal(mm(left, right), a @ b)
            np.testing.assert_array_equal(mm.reference(left, right), a @ b)


def test_sizes_are_the_users_and_pitches_are_at_least_as_long() -> None:
    built = build((A @ B,), inputs=[A, B], estimates={})
    assert pitch_inputs(built, ()) is built
    pitched = pitch_inputs(built, [A])
    assert "A[M, _pm_pitch1_A]: Double of [M, K] in it, B[K, N]: Double\n" in str(pitched)
    assert str(pitched).endswith("\nnote     A is read as it lies where its rows lie apart")
    assert "_pm_pitch1_A >= K" in str(pitched.context) or "K <= _pm_pitch1_A" in str(pitched.context)
    assert assumed_sizes(pitched, {"K": 77})["_pm_pitch1_A"] == 77
    mm = product()
    assert repr(mm).startswith("<polymat mm(A: float64 (M, K), B: float64 (K, N))")
    with pytest.raises(
        pm.ArgumentError, match=r"B has shape \(4, 2\): expected dimension 0 to be K = 3, which A's"
    ):
        mm(np.ones((2, 5))[:, :3], np.ones((4, 2)))
    with pytest.raises(pm.ArgumentError, match="unknown argument '_pm_pitch1_A'"):
        mm(np.ones((2, 3)), np.ones((3, 2)), _pm_pitch1_A=3)
    assert "float64 A[M][K]: part of an array [...][_pm_pitch1_A]" in mm.header


def test_images_with_channels_and_three_dimensions(seed: int) -> None:
    """A constant dimension has to be whole; the channels are run over with the columns as ever."""
    image, cube = Image(UChar, "image", [M, N, 3]), Image(Double, "cube", [M, K, N])
    both = pm.compile([image / 2.0, cube * 3.0], name="both", strided=[image, cube])
    rng = np.random.default_rng(seed)
    pixels, numbers = rng.integers(0, 255, (9, 13, 3), dtype=np.uint8), rng.random((9, 6, 15))
    cases = [
        (pixels[1:8, 2:11], numbers[1:8, 1:4, 3:12]),
        (pixels[::2, :5], numbers[::2, ::2, 5:10]),
        (pixels[:, ::-1], numbers[:, ::-1, :13]),
        (pixels[:1, 3:4], numbers[:1, 1:5, 4:5]),
    ]
    for part, block in cases:
        halves, threefold = both(part, block)
        np.testing.assert_array_equal(halves, part / 2.0)
        np.testing.assert_array_equal(threefold, block * 3.0)


def test_in_place_and_overlaps() -> None:
    twice = pm.compile(A * 2.0, name="twice", inputs=[A], strided=[A])
    whole = np.arange(40.0).reshape(5, 8)
    expected, part = 2.0 * whole[:, 1:6], whole[:, 1:6]
    assert twice(part, out=part) is part
    np.testing.assert_array_equal(part, expected)
    assert whole[0, 0] == 0.0
    assert whole[0, 6] == 6.0
    with pytest.raises(pm.ArgumentError, match="out shares memory with A, but is not the same array"):
        twice(whole[:, :5], out=whole[:, 1:6])
    square = np.ones((4, 4))
    np.testing.assert_array_equal(twice(square, out=square), np.full((4, 4), 2.0))


def test_saved_pickled_and_changed_by_hand(tmp_path: Path) -> None:
    mm = product()
    path, a = mm.save(tmp_path), np.arange(12.0).reshape(3, 4)[:, :2]
    b = np.ones((2, 3))
    for back in (pm.load(path), pickle.loads(pickle.dumps(mm))):
        assert [array.pitches for array in back.signature.inputs] == [(3,), (4,)]
        np.testing.assert_array_equal(back(a, b), a @ b)
    found = from_json(Path(path).read_text())
    assert [size.array for size in found.signature.sizes] == [0, 0, 1, -2, -2]

    def changed(*pitches: tuple[int, ...]) -> str:
        inputs = [
            replace(array, pitches=each) for array, each in zip(found.signature.inputs, pitches, strict=True)
        ]
        return to_json(replace(found, signature=replace(found.signature, inputs=tuple(inputs))))

    for pitches, message in (((9,), "out of range"), ((0,), "out of range"), ((3, 3), "another rank")):
        with pytest.raises(MetadataError, match=message):
            from_json(changed(pitches, (4,)))
    Path(path).write_text(changed((4,), (3,)))
    with pytest.raises(ToolchainError, match="compiled for other arguments than it says"):
        pm.load(path)


def test_large_parts_are_told_once_where_nothing_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "polymat.runtime")
    wide = np.ones((400, 800))
    open_options = pm.Options(blas="never")
    pm.compile(A @ v, name="mv", inputs=[A, v], options=open_options)(wide[:, :400], np.ones(400))
    said = [record.message for record in caplog.records if record.name == "polymat.runtime"]
    assert said[-1].endswith(
        "with strides (6400, 8), is copied at each call: compile(..., strided=[A]) reads it as it lies"
    )
    caplog.clear()
    mv = pm.compile(A @ v, name="mv", inputs=[A, v], strided=[A], options=open_options)
    mv(wide[:, :400], np.ones(400))
    assert "is copied" not in caplog.text
    mv(wide[:, ::2], np.ones(400))
    assert "np.ascontiguousarray copies it once, for several calls" in caplog.text


def test_what_strided_lists() -> None:
    with pytest.raises(LangError, match=r"strided= is a list of input arrays, got [^$]*hint: strided=\[A\]"):
        pm.compile(A @ B, strided=A)  # type: ignore[call-overload]
    with pytest.raises(LangError, match="strided= lists input arrays, got"):
        pm.compile(A @ B, strided=[M])  # type: ignore[list-item]
    with pytest.raises(LangError, match="strided= lists v, which the outputs do not read"):
        pm.compile(A @ B, strided=[v])
    with pytest.raises(LangError, match=r"both list A\n[^$]*hint: it is read column by column, or"):
        pm.compile(A @ B, fortran=[A], strided=[A])
    rows = Matrix(Int, "rows", [M, K], values=(0, N - 1))
    with pytest.raises(
        LangError, match="strided= lists rows, whose values are declared: each call checks a whole"
    ):
        pm.compile(rows * 2, strided=[rows])
