"""Random pipelines of planes that share alpha, and of images of half the size, beside the interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC
from tests.hosts import compiling_for
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
c, x, y = (pm.Variable(pm.Int, name) for name in "cxy")
WIDE = replace(GENERIC, vector_bits=512, vector_registers=32)
SIZES = [(2, 5), (3, 8), (5, 17), (4, 33), (7, 35), (6, 1031)]


def function(name: str, planes: int, columns: Any, *defn: Any) -> pm.Function:
    spans = [pm.Interval(pm.Int, 0, high) for high in (planes - 1, R - 1, columns - 1)]
    made = pm.Function(([c, x, y], spans), pm.Float, name)
    made.defn = list(defn)
    return made


def weighed(rng: np.random.Generator, planes: int, image: Any) -> Any:
    """Planes by alpha, their last one, at one point or at neighbours."""
    value = image(c, x, y) * image(planes, x, y)
    if rng.random() < 0.5:
        value = value + image(c, x, y + 1) * float(rng.integers(1, 4))
    return value + 0.5 if rng.random() < 0.5 else value * 0.5 + image(planes, x, y)


def twice(rng: np.random.Generator, name: str, planes: int, coarse: Any) -> pm.Function:
    """Columns twice as close: at even places on one, at odd ones between two."""
    on = coarse(c, x, y // 2) * float(rng.integers(1, 5)) + coarse(c, x, y // 2 + 1)
    between = coarse(c, x, (y - 1) // 2) + float(rng.integers(1, 5)) * coarse(c, x, (y + 1) // 2)
    turns = [pm.Case(pm.Condition(y % 2, "==", k), v * 0.125) for k, v in enumerate((on, between))]
    return function(name, planes, C, *turns)


def pipeline(rng: np.random.Generator) -> tuple[pm.Function, list[Any]]:
    planes = int(rng.integers(2, 4))
    image = pm.Image(pm.Float, "image", [planes + 1, R, C + 1])
    coarse = [
        pm.Image(pm.Float, f"coarse{k}", [planes + 1, R, C // 2 + 2]) for k in range(rng.integers(1, 3))
    ]
    full = function("full", planes + 1, C, weighed(rng, planes, image))
    value = full(c, x, y)
    for k, each in enumerate(coarse):
        up = twice(rng, f"up{k}", planes, each)
        value = value - up(c, x, y) if rng.random() < 0.5 else value + up(c, x, y) * image(c, x, y)
    mixed = function("mixed", planes, C, value)
    divisor = full(planes, x, y) if rng.random() < 0.7 else image(planes, x, y) + 1.0
    return function("out", planes, C, mixed(c, x, y) / divisor), [image, *coarse]


@pytest.mark.parametrize("number", range(8))
def test_random_planes_equal_the_interpreter(number: int, seed: int) -> None:
    rng = np.random.default_rng([seed, number])
    out, inputs = pipeline(rng)
    with compiling_for(WIDE if number % 4 else GENERIC):
        compiled = pm.compile(out, inputs=inputs)
    for rows, columns in SIZES:
        arrays = [rng.uniform(0.5, 1, (inputs[0].shape[0].const, rows, columns + 1)).astype(np.float32)]
        for each in inputs[1:]:
            shape = (each.shape[0].const, rows, columns // 2 + 2)
            arrays.append(rng.uniform(0.5, 1, shape).astype(np.float32))
        expected = compiled.reference(*arrays)
        assert_close(compiled(*arrays), expected, roundings=40, magnitude=16.0)


def test_planes_have_no_loop_and_their_common_part_a_name() -> None:
    image = pm.Image(pm.Float, "image", [4, R, C])
    full = function("full", 4, C, image(c, x, y) * image(3, x, y) + 1.0)
    out = function("out", 3, C, full(c, x, y) / full(3, x, y))
    beside, loop = (
        pm.compile(out, inputs=[image], options=pm.Options(unroll=each)).source for each in (True, False)
    )
    assert "for (ptrdiff_t c " not in beside
    assert "for (ptrdiff_t c " in loop
    assert "/ _pm_t1;" in beside
