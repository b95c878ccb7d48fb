"""Results that are needed outside and beyond their own tile, against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.options import Options
from tests.differential.compare import compile_tiled
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
ESTIMATES = {R: 4096, C: 4096}
TILES: list[tuple[int, ...]] = [(), (5, 64), (7, 33)]


def stage(name: str, border: int, value: Any) -> pm.Function:
    spans = [pm.Interval(pm.Int, border, size - 1 - border) for size in (R, C)]
    found = pm.Function(([i, j], spans), pm.Float, name)
    found.defn = [value]
    return found


def chain(image: pm.Image) -> list[pm.Function]:
    """Every stage of a chain is a result."""
    a = stage("a", 1, image(i - 1, j) + image(i + 1, j))
    b = stage("b", 2, a(i, j - 1) - a(i, j + 1) + a(i + 1, j))
    return [stage("c", 3, b(i - 1, j) * a(i, j + 1)), a, b]


def shared(image: pm.Image) -> list[pm.Function]:
    """A result in the middle, and a later group that reads it as a whole."""
    a = stage("a", 0, image(i, j) * 2)
    b = stage("b", 1, a(i - 1, j) + a(i + 1, j) + a(i, j - 1))
    last = stage("last", 0, a(R - 1 - i, C - 1 - j) + 1)
    return [b, last]


PROGRAMS = {"chain": chain, "shared": shared}


@pytest.mark.parametrize(("name", "tiles"), [*(("chain", tiles) for tiles in TILES), ("shared", (8,))])
def test_results_that_overlap(name: str, tiles: tuple[int, ...]) -> None:
    image = pm.Image(pm.Float, "image", [R, C])
    options = Options(parallel_threshold=0, threads=3, tile_sizes=tiles, inline=False)
    outputs = PROGRAMS[name](image)
    compiled = pm.compile(outputs, inputs=[image], name=name, options=options, estimates=ESTIMATES)
    assert "what the tile owns is written" in compiled.source
    for shape in [(3, 3), (5, 7), (8, 300), (9, 257), (41, 259), (67, 530)]:
        array = np.random.default_rng(0).random(shape, dtype=np.float32)
        for found, expected in zip(compiled(array), compiled.reference(array), strict=True):
            assert_close(found, expected, roundings=12, magnitude=16.0)


@pytest.mark.parametrize("tiles", TILES)
def test_sums_that_overlap(tiles: tuple[int, ...]) -> None:
    A, x = pm.Matrix(pm.Double, "A", [R, C]), pm.Vector(pm.Double, "x", [C])
    rows = pm.Interval(pm.Int, 0, R - 1)
    total = pm.Reduction(([i], [rows]), ([i, k], [rows, pm.Interval(pm.Int, 0, C - 1)]), pm.Double, "total")
    total.defn = [pm.Reduce(total(i), A(i, k) * x(k), pm.Op.Sum)]
    smooth = pm.Function(([i], [pm.Interval(pm.Int, 1, R - 2)]), pm.Double, "smooth")
    smooth.defn = [total(i - 1) + total(i + 1)]
    options = Options(parallel_threshold=0, threads=2, tile_sizes=tiles)
    compiled = compile_tiled([smooth, total], options, inputs=[A, x], name="sums", estimates=ESTIMATES)
    rng = np.random.default_rng(0)
    for shape in [(2, 1), (3, 5), (17, 40), (131, 33)]:
        arrays = rng.random(shape), rng.random(shape[1])
        for found, expected in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
            assert_close(found, expected, roundings=shape[1] + 2, magnitude=2.0 * shape[1])


def test_a_result_that_overlaps_is_not_written_over_what_it_reads() -> None:
    image = pm.Image(pm.Float, "image", [R, C])
    a = stage("a", 0, image(i, j) * 2 + 1)
    b = stage("b", 2, a(i - 2, j) + a(i + 2, j - 1))
    options = Options(parallel_threshold=0, threads=2, inline=False)
    compiled = pm.compile([a, b], inputs=[image], name="over", options=options, estimates=ESTIMATES)
    array = np.random.default_rng(0).random((37, 530), dtype=np.float32)
    expected = compiled.reference(array)
    result = np.zeros_like(expected[1])
    found = compiled(array, out=(array, result))
    assert found[0] is array
    assert_close(array, expected[0], roundings=4, magnitude=4.0)
    assert_close(result, expected[1], roundings=4, magnitude=8.0)
