"""Places in vectors before sums into them, as C and as numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Clamp, Int, Interval, Op, Reduce, Reduction
from polymat.codegen.loops.placesfirst import PLACES

N = pm.Parameter(Int, "N")
x, b = pm.Variable(Int, "x"), pm.Variable(Int, "b")
values, level = pm.Vector(pm.Float, "values", [N]), pm.Vector(pm.UChar, "level", [N])
POINTS = Interval(Int, 0, N - 1)


def into(place: Any, value: Any, op: Op, dtype: Any, name: str) -> Reduction:
    made = Reduction(([b], [Interval(Int, 0, 255)]), ([x], [POINTS]), dtype, name)
    made.defn = [Reduce(made(place), value, op)]
    return made


def several() -> Reduction:
    """Sums of three kinds in rows of one array, two of them over the same points."""
    r = pm.Variable(Int, "r")
    made = Reduction(
        ([r, b], [Interval(Int, 0, 2), Interval(Int, 0, 255)]), ([x], [POINTS]), pm.Float, "several"
    )
    place = Clamp(Cast(Int, values(x) * 200), 0, 255)
    later = pm.Case(pm.Condition(x, ">=", 3), Reduce(made(2, level(x)), pm.Abs(values(x)), Op.Sum))
    made.defn = [
        Reduce(made(0, place), pm.Abs(values(x) * 2), Op.Sum),
        Reduce(made(1, place), 1.0, Op.Sum),
        later,
    ]
    return made


@pytest.fixture(scope="module")
def compiled() -> pm.Compiled:
    place = Clamp(Cast(Int, values(x) * 200), 0, 255)
    stages = [
        into(place, 1, Op.Sum, pm.Long, "counts"),
        into(place, values(x) * 2, Op.Max, pm.Float, "largest"),
        into(level(x), pm.Floor(values(x) * 4), Op.Sum, pm.Double, "sums"),
        into(level(x), 1, Op.Sum, pm.Int, "plain"),
        several(),
    ]
    options = pm.Options(threads=2, parallel_threshold=0, fuse=False)
    return pm.compile(stages, inputs=[values, level], options=options)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 128, 10_001])
def test_numbers(compiled: pm.Compiled, size: int) -> None:
    rng = np.random.default_rng(size)
    given = rng.integers(-8, 17, size).astype(np.float32) / 8, rng.integers(0, 256, size, dtype=np.uint8)
    for result, expected in zip(compiled(*given), compiled.reference(*given), strict=True):
        assert np.array_equal(result, expected)


def test_only_what_takes_computing_comes_first(compiled: pm.Compiled) -> None:
    parts = [text.partition("\n}\n")[0] for text in compiled.source.split("static void _pm_part_")]
    split = {part.partition("(")[0]: f"{PLACES}[" in part for part in parts[1:]}
    assert split == {"counts": True, "largest": True, "sums": True, "plain": False}


def test_what_is_over_the_same_points_is_one_loop(compiled: pm.Compiled) -> None:
    nests = re.findall(r"static void _pm_(add\d)_several\(", compiled.source)
    assert nests == ["add0", "add2"]
    together = compiled.source.partition("_pm_add0_several(")[2].partition("\n}\n")[0]
    assert f"several[{PLACES}0[" in together
    assert f"several[{PLACES}1[" in together


@pytest.mark.covering
@pytest.mark.parametrize("next_row", [False, True])
@pytest.mark.parametrize("rows", [1, 8])
def test_threads_share_loops_of_sums_that_never_meet(rows: int, next_row: bool) -> None:
    """The last row of a thread's share and the first of the next one go to one row of two sums."""
    y, r = pm.Variable(Int, "y"), pm.Variable(Int, "r")
    heights = pm.Image(pm.Float, "heights", [8 * N, N])
    domain = [y, x], [Interval(Int, 0, 8 * N - 1), POINTS]
    made = Reduction(([r, b], [Interval(Int, 0, 8 * N), Interval(Int, 0, 31)]), domain, pm.Float, "made")
    place, row = Clamp(Cast(Int, heights(y, x)), 0, 15), y if rows == 1 else y // rows
    other = (row + 1, place) if next_row else (row, place + 16)
    made.defn = [
        Reduce(made(row, place), heights(y, x), Op.Sum),
        Reduce(made(*other), 2 * heights(y, x), Op.Sum),
    ]
    compiled = pm.compile(made, options=pm.Options(threads=2, parallel_threshold=0))
    assert "parallel y" in str(compiled.explain())
    nests = re.findall(r"static void _pm_(add\d)_made\(", compiled.source)
    assert nests == (["add0", "add1"] if next_row else ["add0"])
    values = np.random.default_rng(rows).integers(0, 17, (16, 2)).astype(np.float32)
    assert np.array_equal(compiled(values), compiled.reference(values))


def test_small_results_of_known_size_are_shared_out_whatever_is_assumed_of_sizes() -> None:
    whole = pm.compile(into(level(x), 1, Op.Sum, pm.Int, "plain"), options=pm.Options(threads=2))
    assert "each thread adds into a copy of its own" in str(whole.explain())


def test_large_results_are_not_copied_for_a_few_points() -> None:
    few = pm.Vector(pm.Long, "few", [5], values=(0, N - 1))
    made = Reduction(([b], [POINTS]), ([x], [Interval(Int, 0, 4)]), pm.Double, "made")
    made.defn = [Reduce(made(few(x)), 1.0, Op.Sum)]
    compiled = pm.compile(made, estimates={N: 1_000_000}, options=pm.Options(threads=2))
    assert "copy of its own" not in str(compiled.explain()).partition("instead of")[0]
