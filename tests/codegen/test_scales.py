"""Stages at different scales in one tile loop, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.options import Options
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
SHAPES = [(0, 0), (1, 1), (2, 3), (5, 7), (13, 17), (24, 300), (31, 257), (67, 131)]
TILES: list[tuple[tuple[int, ...], bool]] = [
    ((), True),
    ((1, 1), True),
    ((7, 3), True),
    ((), False),
    ((3, 7), False),
    ((1000, 1000), False),
]


def stage(name: str, rows: Any, columns: Any, value: Any) -> pm.Function:
    """A function of so many rows and columns."""
    spans = [pm.Interval(pm.Int, 0, size - 1) for size in (rows, columns)]
    found = pm.Function(([i, j], spans), pm.Float, name)
    found.defn = [value]
    return found


def pyramid(image: pm.Image) -> list[pm.Function]:
    """Down twice, up twice; a stage that is needed outside at each scale."""
    first = stage("first", R // 2, C // 2, image(2 * i, 2 * j) + image(2 * i + 1, 2 * j + 1))
    blur = stage("blur", R // 2 - 1, C // 2 - 1, first(i, j) + 2 * first(i + 1, j) + first(i + 1, j + 1))
    coarse = stage(
        "coarse", (R // 2 - 1) // 2, (C // 2 - 1) // 2, blur(2 * i, 2 * j + 1) - blur(2 * i + 1, 2 * j)
    )
    up = stage(
        "up", R // 2 - 5, C // 2 - 5, coarse(i // 2, j // 2) + coarse((i + 1) // 2, j // 2) + blur(i, j + 1)
    )
    last = stage("last", R - 12, C - 12, up(i // 2, (j + 1) // 2) * image(i, j))
    return [last, coarse, up]


def thirds(image: pm.Image) -> list[pm.Function]:
    """From two points to three, along one dimension only."""
    twos = stage("twos", R // 2, C, image(2 * i, j) + image(2 * i + 1, j))
    threes = stage("threes", 3 * (R // 2 - 2), C - 1, twos(i // 3 + 1, j) - twos((i + 2) // 3, j + 1))
    return [stage("last", 3 * (R // 2 - 2), C - 1, threes(i, j) * threes(i, j))]


def decimated(image: pm.Image) -> list[pm.Function]:
    """A filter whose sums are at every third row of what it reads, and a reader of every third of those."""
    square = stage("square", R, C, image(i, j) * image(i, j))
    rows = [pm.Interval(pm.Int, 0, (R - 3) // 3 - 1), pm.Interval(pm.Int, 0, C - 1)]
    total = pm.Reduction(([i, j], rows), ([i, j, k], [*rows, pm.Interval(pm.Int, 0, 4)]), pm.Float, "total")
    total.defn = [pm.Reduce(total(i, j), square(3 * i + k, j), pm.Op.Sum)]
    return [stage("last", (R - 3) // 3 // 3, C, total(3 * i + 2, j) - total(3 * i, j)), square]


PROGRAMS: dict[str, Callable[[pm.Image], list[pm.Function]]] = {
    "pyramid": pyramid,
    "thirds": thirds,
    "decimated": decimated,
}


@pytest.mark.covering
@pytest.mark.parametrize(("tiles", "rolling"), TILES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_scales(name: str, tiles: tuple[int, ...], rolling: bool) -> None:
    image = pm.Image(pm.Float, "image", [R, C])
    options = Options(parallel_threshold=0, threads=3, tile_sizes=tiles, inline=False, rolling=rolling)
    compiled = pm.compile(
        PROGRAMS[name](image), inputs=[image], name=name, options=options, estimates={R: 4096, C: 4096}
    )
    if tiles != (1, 1):  # tiles of one row that do not roll compute too much twice to be chosen
        assert "_pm_floordiv_i64(_pm_stop0" in compiled.source
    for shape in SHAPES:
        array = np.random.default_rng(0).random(shape, dtype=np.float32)
        expected = compiled.reference(array)
        for found, wanted in zip(compiled(array), expected, strict=True) if len(expected) else ():
            assert_close(found, wanted, roundings=30, magnitude=300.0)
