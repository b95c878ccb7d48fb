"""Rolling tiles: scratchpads that keep rows from one tile to the next, against the interpreter."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.options import Options
from tests.fixed import NARROW
from tests.hosts import CompileFor
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
SHAPES = [(0, 0), (1, 1), (5, 7), (8, 300), (9, 257), (13, 258), (41, 259), (67, 530)]
TILES: list[tuple[int, ...]] = [(), (1, 1), (3, 7)]
ROWS_ALONE = {"pieces"}  # of several parts: tiles cut no rows


def stage(name: str, rows: tuple[int, int], columns: tuple[int, int], value: Any) -> pm.Function:
    """A function from so many rows and columns after the first to so many before the last."""
    spans = [pm.Interval(pm.Int, low, size - 1 - high) for size, (low, high) in ((R, rows), (C, columns))]
    found = pm.Function(([i, j], spans), pm.Float, name)
    found.defn = value if isinstance(value, list) else [value]
    return found


def uneven(image: pm.Image) -> pm.Function:
    """Reads far behind and not before, and a producer that is only read further along."""
    a = stage("a", (0, 3), (0, 0), image(i, j) + 2 * image(i + 3, j))
    b = stage("b", (0, 5), (1, 1), a(i + 2, j - 1) - a(i + 2, j + 1))
    return stage("c", (1, 5), (1, 1), b(i, j) + b(i - 1, j) + a(i, j))


def diamond(image: pm.Image) -> pm.Function:
    """Two ways of different length from one stage to another."""
    a = stage("a", (0, 0), (0, 0), image(i, j) * image(i, j))
    b = stage("b", (2, 2), (0, 0), a(i - 2, j) + a(i + 2, j))
    d = stage("d", (3, 3), (2, 2), b(i - 1, j - 2) * 0.5 + b(i + 1, j + 2))
    return stage("e", (3, 3), (2, 2), d(i, j) - a(i - 3, j) - a(i + 3, j))


def pieces(image: pm.Image) -> pm.Function:
    """Stages of several parts, at the border and inside."""
    inside = pm.Condition(i, ">=", 1) & pm.Condition(i, "<=", R - 2)
    first, last = pm.Condition(i, "==", 0), pm.Condition(i, ">=", R - 1) & pm.Condition(i, ">=", 1)
    parts = [
        pm.Case(inside, image(i - 1, j) + image(i + 1, j)),
        pm.Case(first, image(i, j)),
        pm.Case(last, 2 * image(i, j)),
    ]
    a = stage("a", (0, 0), (0, 0), parts)
    return stage("b", (1, 1), (1, 1), a(i - 1, j) + a(i, j - 1) + a(i, j + 1) + a(i + 1, j))


PROGRAMS = {"uneven": uneven, "diamond": diamond, "pieces": pieces}


@pytest.mark.covering
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("tiles", TILES)
def test_rolling_tiles(name: str, tiles: tuple[int, ...]) -> None:
    image = pm.Image(pm.Float, "image", [R, C])
    sizes = tiles[:1] if name in ROWS_ALONE else tiles
    options = Options(parallel_threshold=0, threads=3, tile_sizes=sizes)
    estimates = {R: 4096, C: 4096}
    compiled = pm.compile(
        PROGRAMS[name](image), inputs=[image], name=name, options=options, estimates=estimates
    )
    assert "rolling tiles" in compiled.source
    for shape in SHAPES:
        array = np.random.default_rng(0).random(shape, dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=12, magnitude=16.0)


def test_planes_of_a_volume() -> None:
    size = pm.Parameter(pm.Int, "N")
    volume = pm.Image(pm.Double, "volume", [size, size, size])

    def within(name: str, border: int, value: Any) -> pm.Function:
        span = pm.Interval(pm.Int, border, size - 1 - border)
        found = pm.Function(([i, j, k], [span, span, span]), pm.Double, name)
        found.defn = [value]
        return found

    def around(f: Any) -> Any:
        near = f(i - 1, j, k) + f(i + 1, j, k) + f(i, j - 1, k) + f(i, j + 1, k)
        return near + f(i, j, k - 1) + f(i, j, k + 1) - 6 * f(i, j, k)

    result = within("twice", 2, around(within("once", 1, around(volume))))
    options = Options(parallel_threshold=0, threads=2)
    compiled = pm.compile(result, name="laplace", options=options, estimates={size: 512})
    assert "rolling tiles" in compiled.source
    for extent in (0, 4, 5, 19, 37):
        array = np.random.default_rng(1).random((extent, extent, extent))
        assert_close(compiled(array), compiled.reference(array), roundings=30, magnitude=144.0)


def test_a_chain_along_its_only_dimension_does_not_roll() -> None:
    x = pm.Vector(pm.Double, "x", [C])
    a = pm.Function(([j], [pm.Interval(pm.Int, 1, C - 2)]), pm.Double, "a")
    b = pm.Function(([j], [pm.Interval(pm.Int, 2, C - 3)]), pm.Double, "b")
    a.defn, b.defn = [x(j - 1) + x(j + 1)], [a(j - 1) * a(j + 1)]
    compiled = pm.compile(b, name="line", estimates={C: 10**7}, options=Options(parallel_threshold=0))
    assert "rolling" not in compiled.source
    for extent in (0, 5, 2047, 2053, 5000):
        array = np.random.default_rng(2).random(extent)
        assert_close(compiled(array), compiled.reference(array), roundings=4, magnitude=4.0)


@pytest.mark.parametrize(("columns", "row"), [(510, 528), (1022, 1040), (498, 528), (254, 256), (126, 128)])
def test_rows_of_scratchpads_lie_in_different_sets_of_a_cache(
    columns: int, row: int, compile_for: CompileFor
) -> None:
    """A row has two more columns than its tile, and one more line where that makes 32 or 64 lines."""
    compile_for(NARROW)
    image = pm.Image(pm.Float, "image", [R, C])
    a = stage("a", (0, 2), (0, 0), image(i, j) + 2 * image(i + 2, j))
    b = stage("b", (0, 4), (1, 1), a(i, j - 1) - a(i + 2, j + 1))
    options = Options(parallel_threshold=0, tile_sizes=(8, columns))
    compiled = pm.compile(b, inputs=[image], name="rows", options=options, estimates={R: 4096, C: 40960})
    assert {*re.findall(r"a\[[^\]]* \* (\d+) ", compiled.source)} == {str(row)}
    for shape in ((0, 0), (5, 1), (19, columns), (21, 2 * columns + 1)):
        array = np.random.default_rng(3).random(shape, dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=6, magnitude=16.0)


@pytest.mark.parametrize(
    ("columns", "row"), [(0, "(16 * _pm_floordiv_i64(C + 15, 16))"), (530, "544"), (512, "528")]
)
def test_whole_rows_of_scratchpads_begin_on_lines(columns: int, row: str) -> None:
    """A line more where they would collide."""
    image = pm.Image(pm.Float, "image", [R, C])
    a = stage("a", (0, 2), (0, 0), image(i, j) + 2 * image(i + 2, j))
    b = stage("b", (0, 4), (1, 1), a(i, j - 1) - a(i + 2, j + 1))
    options = Options(parallel_threshold=0, tile_sizes=(8,), rolling=False)
    sizes = {C: columns} if columns else {}
    compiled = pm.compile(b, inputs=[image], name="rows", options=options, sizes=sizes, estimates={R: 10**6})
    assert f"a[(i - _pm_tile0) * {row} + " in compiled.source
    for shape in ((0, columns), (5, columns or 1), (19, columns or 33), (21, columns or 64)):
        array = np.random.default_rng(3).random(shape, dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=6, magnitude=16.0)
