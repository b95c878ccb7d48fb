"""Look-ups of few elements by permutations, beside the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Clamp, Float, Function, Int, Interval, Select
from polymat.codegen.loops.fewlookups import POINTS, TOGETHER

R, C = pm.Parameter(Int, "R"), pm.Parameter(Int, "C")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
image = pm.Image(Float, "image", [R, C])
grid, far = pm.Image(Float, "grid", [R, C // 8 + 3, 20]), pm.Image(Int, "far", [C // 8 + 1, 12])
table, counts = pm.Vector(Float, "table", [16]), pm.Vector(pm.UInt, "counts", [9])
wide, other = pm.Vector(Float, "wide", [17]), pm.Vector(pm.Double, "other", [12])
LENGTHS = [0, 1, 7, 8, 9, 63, 64, 65, 2 * TOGETHER + 21]


def level(low: int, high: int, pixel: Any = None) -> Any:
    return Clamp(Cast(Int, (image(i, j) if pixel is None else pixel) * 20), low, high)


def between(low: Any, high: Any) -> Interval:
    return Interval(Int, low, high)


LOOKED_UP: dict[str, tuple[Any, Any]] = {
    "cells": (Float, grid(i, j // 8, level(0, 10)) - image(i, j)),
    "corners": (Float, grid(i, j // 8, level(2, 12)) * 2 + grid(i, j // 8 + 1, level(2, 12) + 3)),
    "fixed": (Float, table(level(0, 15)) + grid(0, j // 8, level(-3, 9) + 5)),
    "integers": (Int, far(j // 8, level(4, 11)) * 3),
    "counted": (pm.UInt, counts(level(0, 8))),
    "chosen": (Float, Select(pm.Condition(image(i, j), ">", 0.5), grid(i, j // 8, level(0, 8)), image(i, j))),
    "guarded": (
        Float,
        Select(
            pm.Condition(i, ">=", 1) & pm.Condition(image(i, j), ">", 0.5),
            grid(i - 1, j // 8, level(0, 8)),
            image(i, j),
        ),
    ),
    "otherwise": (
        Float,
        Select(
            pm.Condition(i, ">=", 1) & pm.Condition(image(i, j), ">", 0.5),
            image(i - 1, j),
            grid(i, j // 8, level(0, 8)),
        ),
    ),
    "before": (Float, table(Clamp(Cast(Int, table(level(0, 15))), 0, 15))),
    "plain": (Float, wide(level(0, 16)) + Cast(Float, other(level(0, 11)))),
    "sixteenths": (Float, grid(i, j // 16, level(0, 10))),
    "wide_cells": (
        Float,
        grid(i, j // 32, level(0, 10)) + grid(i, j // 32 + 1, level(0, 10)) * table(level(0, 15)),
    ),
    "widest": (Int, far(j // 64, level(0, 11))),
    "two_sizes": (Float, grid(i, j // 32, level(0, 10)) - grid(i, j // 8 + 1, level(0, 10))),
    "sixths": (Float, grid(i, j // 24, level(0, 10))),
    "halves": (Float, grid(i, j // 128, level(0, 10))),
}
ONE_BY_ONE = ("plain", "guarded", "sixths", "halves")
BY_PERMUTATIONS = {name: name not in ONE_BY_ONE for name in LOOKED_UP}


def functions() -> list[Function]:
    found = []
    for name, (dtype, value) in LOOKED_UP.items():
        f = Function(([i, j], [between(0, R - 1), between(0, C - 1)]), dtype, name)
        f.defn = [value]
        found.append(f)
    late = Function(([i, j], [between(0, R - 1), between(5, C - 2)]), Float, "late")
    late.defn = [grid(i, j // 8, level(0, 10, image(i, j + 1))) + image(i, j - 3)]
    later = Function(([i, j], [between(0, R - 1), between(21, C - 2)]), Float, "later")
    later.defn = [grid(i, j // 16 - 1, level(0, 10)) - grid(i, j // 8 - 2, level(0, 10)) * image(i, j - 3)]
    return [*found, late, later]


@pytest.fixture(scope="module", params=[1, 2])
def compiled(request: Any) -> Any:
    options = pm.Options(threads=request.param, parallel_threshold=0)
    inputs = [image, grid, far, table, counts, wide, other]
    return pm.compile(functions(), inputs=inputs, options=options, estimates={R: 40, C: 900})


def data(rows: int, columns: int) -> list[Any]:
    rng = np.random.default_rng(3)
    picture = rng.integers(-16, 80, (rows, columns)).astype("f4") / 64  # products are exact, fused or not
    cells = rng.integers(0, 99, (rows, columns // 8 + 3, 20)).astype("f4")
    last = rng.integers(0, 99, (columns // 8 + 1, 12)).astype("i4")
    return [
        *(picture, cells, last, rng.integers(0, 16, 16).astype("f4")),
        *(np.arange(9, dtype="u4") * 7, np.arange(17, dtype="f4"), np.arange(12.0)),
    ]


@pytest.mark.parametrize("columns", LENGTHS)
def test_what_is_there(compiled: Any, columns: int) -> None:
    for rows in (1, 5) if columns else (0, 3):
        arrays = data(rows, columns)
        for result, want in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
            np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("name", LOOKED_UP)
def test_which_are_looked_up(name: str) -> None:
    dtype, value = LOOKED_UP[name]
    f = Function(([i, j], [between(0, R - 1), between(0, C - 1)]), dtype, name)
    f.defn = [value]
    assert ("_pm_pick((" in pm.compile(f).source) == BY_PERMUTATIONS[name]


def test_of_two_sizes_of_cells_one_is_looked_up() -> None:
    """A block begins with a cell of 32, where smaller ones may be none that there are."""
    f = Function(([i, j], [between(0, R - 1), between(0, C - 1)]), Float, "f")
    f.defn = [LOOKED_UP["two_sizes"][1]]
    assert pm.compile(f).source.count("_pm_pick((") == 1


def test_no_table_is_read_beyond_its_array() -> None:
    """Of the last points of a row, whose table is the last of its array and ends where that does."""
    f = Function(([j], [between(0, C - 1)]), Int, "f")
    line = pm.Vector(Float, "line", [C])
    f.defn = [far(j // 8, Clamp(Cast(Int, line(j) * 20), 0, 11))]
    compiled = pm.compile(f, inputs=[line, far])
    for columns in (POINTS, TOGETHER, TOGETHER + POINTS):
        pixels = np.random.default_rng(1).random(columns).astype("f4")
        last = np.arange((columns // 8 + 1) * 12, dtype="i4").reshape(-1, 12)
        wanted = last[np.arange(columns) // 8, np.clip((pixels * 20).astype(int), 0, 11)]
        np.testing.assert_array_equal(compiled(pixels, last), wanted)


def test_no_table_is_read_where_there_are_no_points() -> None:
    """Of 13 columns the points would begin at the last one, in a block whose table is in no array."""
    f = Function(([j], [between(13, C - 1)]), Int, "f")
    line, few = pm.Vector(Float, "line", [C]), pm.Image(Int, "few", [C - 13, 12])
    f.defn = [few(j // 8 - 1, Clamp(Cast(Int, line(j) * 20), 0, 11))]
    compiled = pm.compile(f, inputs=[line, few])
    assert "if (_pm_begin0 < _pm_few_high)" in compiled.source
    for columns in (13, 14, 30):
        arrays = np.ones(columns, "f4"), np.arange((columns - 13) * 12, dtype="i4").reshape(-1, 12)
        np.testing.assert_array_equal(compiled(*arrays), compiled.reference(*arrays))
