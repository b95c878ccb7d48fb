"""Speeds of a library: asked, kept in a file, and read back."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polymat.idiom.librarymodel import AXES, LibraryModel, decode, encode, load, store
from polymat.machine.grid import Grid
from polymat.machine.keptfile import write_text

LEVELS = (1, 10, 100)


def model() -> LibraryModel:
    def grid(routine: str, scale: float) -> Grid:
        levels = (LEVELS,) * len(AXES[routine])
        points = itertools.product(*levels)
        return Grid(levels, tuple(float(f"{scale * (5 + sum(point)):.3e}") for point in points))

    grids = {
        ("gemm", "float64"): grid("gemm", 1e-9),
        ("gemm", "complex128"): grid("gemm", 3e-9),
        ("gemv", "float64"): grid("gemv", 2e-9),
        ("dot", "float32"): grid("dot", 4e-9),
    }
    return LibraryModel("this machine", "openblas 1", "today", grids)


def test_what_was_measured_and_what_follows() -> None:
    found = model()
    assert found.seconds("gemm", "float64", (10, 10, 10)) == pytest.approx(35e-9)
    assert found.seconds("dot", "float32", (100,)) == pytest.approx(4.2e-7, rel=1e-3)
    gemv = found.seconds("gemv", "float64", (10, 100))
    assert gemv is not None
    assert found.seconds("gemv", "complex128", (10, 100)) == pytest.approx(3 * gemv, rel=1e-2)
    assert found.seconds("gemv", "complex64", (10, 100)) is None
    assert found.seconds("gemv", "float32", (10, 100)) is None
    assert found.seconds("trsm", "float64", (10, 100)) is None


def test_transforms_by_their_factors() -> None:
    found = LibraryModel(
        "",
        "",
        "",
        {
            ("fft", "float64"): Grid(((1, 1000),), (1e-9, 1e-6)),
            ("fft_prime", "float64"): Grid(((1, 1000),), (1e-8, 1e-5)),
        },
    )
    for length, factor in (
        (1, 1),
        (64, 1),
        (2 * 3 * 5 * 7, 1),
        (13 * 11, 1),
        (17, 10),
        (2 * 19, 10),
        (997, 10),
    ):
        assert found.transform_seconds("float64", length) == pytest.approx(factor * length * 1e-9)
    assert found.transform_seconds("complex128", 64) is None


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / "library.json"
    store(path, model())
    assert load(path, "this machine", "openblas 1") == model()
    assert load(path, "another machine", "openblas 1") is None
    assert load(path, "this machine", "openblas 2") is None
    assert load(tmp_path / "none.json", "this machine", "openblas 1") is None
    assert [item.name for item in tmp_path.iterdir()] == ["library.json"]


def change(edit: Callable[[dict[str, Any]], object]) -> str:
    fields = json.loads(encode(model()))
    edit(fields)
    return json.dumps(fields)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        change(lambda fields: fields.update(format=2)),
        change(lambda fields: fields.update(more=2)),
        change(lambda fields: fields.update(grids=None)),
        change(lambda fields: fields.update(provider=7)),
        change(lambda fields: fields["grids"][0].update(routine="gemmm")),
        change(lambda fields: fields["grids"][0].update(dtype=3)),
        change(lambda fields: fields["grids"][0].update(levels=[[1, 2]] * 4)),
        change(lambda fields: fields["grids"][0].update(levels=[[1, 2.0]] * 3)),
        change(lambda fields: fields["grids"][0]["seconds"].pop()),
        change(lambda fields: fields["grids"][0]["seconds"].append(-1.0)),
        change(lambda fields: fields["grids"][0].update(seconds={})),
    ],
)
def test_damaged_files_are_ignored(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(text)
    path = tmp_path / "library.json"
    write_text(path, text)
    with caplog.at_level(logging.WARNING, "polymat.calibrate"):
        assert load(path, "this machine", "openblas 1") is None
    assert f"ignored {path}" in caplog.text
