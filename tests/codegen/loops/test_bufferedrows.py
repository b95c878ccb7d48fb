"""Results of any loop written past the caches by parts of rows, against the interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC
from polymat.options import Options
from tests.hosts import compiling_for
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
image = pm.Image(pm.Float, "image", [R, C])
SMALL = replace(GENERIC, vector_bits=512, vector_registers=32, l3_bytes=64)  # everything is too large for it
LENGTHS = [1, 255, 256, 257, 271, 1023, 1024, 1025, 1040, 2051]
COPY = "_pm_past_copy("


def compiled_map(name: str, *cases: Any, **options: Any) -> pm.Compiled:
    spans = [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 0, C - 1)]
    found = pm.Function(([i, j], spans), pm.Float, name)
    found.defn = list(cases)
    with compiling_for(SMALL):
        return pm.compile(found, inputs=[image], options=Options(parallel_threshold=0, threads=2, **options))


def chosen() -> Any:
    return pm.Select(pm.Condition(image(i, j), "<", 0.5), 2.0 * image(i, j), image(i, j) - 1.0)


@pytest.mark.parametrize("columns", LENGTHS)
def test_choices_in_rows_of_every_length(columns: int) -> None:
    compiled = compiled_map("chosen", chosen())
    assert COPY in compiled.source
    array = np.random.default_rng(columns).random((5, columns), dtype=np.float32)
    assert_close(compiled(array), compiled.reference(array), roundings=4, magnitude=4.0)


@pytest.mark.parametrize("start", [0, 1, 7, 15])
def test_nothing_beside_the_result_is_written(start: int) -> None:
    compiled = compiled_map("chosen", chosen())
    array = np.random.default_rng(start).random((3, 2065), dtype=np.float32)
    memory = np.full(array.size + 40, 7.0, np.float32)
    out = memory[start : start + array.size].reshape(array.shape)
    compiled(array, out=out)
    assert_close(out, compiled.reference(array), roundings=4, magnitude=4.0)
    assert (memory[:start] == 7.0).all()
    assert (memory[start + array.size :] == 7.0).all()


def test_over_its_input() -> None:
    compiled = compiled_map("chosen", chosen())
    array = np.random.default_rng(0).random((4, 1500), dtype=np.float32)
    wanted = compiled.reference(array)
    compiled(array, out=array)
    assert_close(array, wanted, roundings=4, magnitude=4.0)


def test_points_that_take_turns() -> None:
    even, odd = (pm.Condition(j % 2, "==", rest) for rest in (0, 1))
    compiled = compiled_map("turns", pm.Case(even, image(i, j) * 2.0), pm.Case(odd, image(i, j) + 1.0))
    assert COPY in compiled.source
    for columns in LENGTHS:
        array = np.random.default_rng(columns).random((3, columns), dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=4, magnitude=4.0)


def test_two_rows_of_a_tile_at_a_time() -> None:
    """Of a chain in tiles the last stage is a result, and its rows share what they read."""
    spans = [pm.Interval(pm.Int, 0, 2), pm.Interval(pm.Int, 2, R - 3), pm.Interval(pm.Int, 2, C - 3)]
    c = pm.Variable(pm.Int, "c")
    planes = pm.Image(pm.Float, "planes", [3, R, C])
    down = pm.Function(([c, i, j], [spans[0], spans[1], pm.Interval(pm.Int, 0, C - 1)]), pm.Float, "down")
    down.defn = [sum(planes(c, i + k, j) for k in range(-2, 3)) * 0.2]
    blur = pm.Function(([c, i, j], spans), pm.Float, "blur")
    middle = sum(down(c, i, j + k) for k in range(-2, 3)) * 0.2
    blur.defn = [pm.Select(pm.Condition(planes(c, i, j), "<", 0.5), middle, planes(c, i, j))]
    with compiling_for(SMALL):
        compiled = pm.compile(blur, inputs=[planes], estimates={R: 512, C: 2048}, trim=True)
    assert COPY in compiled.source
    for columns in (5, 300, 1100, 2053):
        array = np.random.default_rng(columns).random((3, 9, columns), dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=16, magnitude=2.0)
