"""Which loop of a sum into computed places runs innermost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.plan.schedule import Schedule
from tests.fixed import WIDE, compiled_levels

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
i, j, a, g, z = (pm.Variable(pm.Int, name) for name in "ijagz")
image = pm.Image(pm.Float, "image", [M, 8 * N + 8])
SIZES: dict[pm.Parameter, int] = {M: 40, N: 50}


def cells(levels: int = 11, *, last: bool = False) -> pm.Reduction:
    """Sums of windows of nine pixels, by their brightness; last: the window comes before columns."""
    rows, columns = pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)
    kept = ([i, j, z], [rows, columns, pm.Interval(pm.Int, 0, levels - 1)])
    window = pm.Interval(pm.Int, 0, 8)
    over = ([i, a, j], [rows, window, columns]) if last else ([i, j, a], [rows, columns, window])
    sums = pm.Reduction(kept, over, pm.Float, "sums")
    pixel = image(i, 8 * j + a)
    level = pm.Clamp(pm.Cast(pm.Int, pixel * 10), 0, levels - 1)
    sums.defn = [pm.Reduce(sums(i, j, level), pixel, pm.Op.Sum)]
    return sums


def order_of(output: Any, **options: Any) -> tuple[str, ...]:
    found = compiled_levels(output, machine=WIDE, estimates=SIZES, options=pm.Options(**options))["tilesize"]
    assert isinstance(found, Schedule)
    (plan,) = found.plans
    return plan.part("sums").order


def names(order: tuple[str, ...]) -> list[str]:
    """Dimensions without what tells those of a sum from those of its result."""
    return [dim.rstrip("_") for dim in order]


def test_cells_that_never_meet_run_innermost() -> None:
    assert names(order_of(cells())) == ["i", "a", "j"]
    assert names(order_of(cells(), unroll=False)) == ["i", "j", "a"]


def test_what_runs_innermost_apart_stays() -> None:
    assert names(order_of(cells(last=True))) == ["i", "a", "j"]


def test_rows_of_cells_that_no_cache_holds_stay_as_they_are() -> None:
    many = 1 + WIDE.l2_bytes // (50 * 4)
    assert names(order_of(cells(many))) == ["i", "j", "a"]


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_are_those_of_the_interpreter(threads: int) -> None:
    options = pm.Options(threads=threads, parallel_threshold=0)
    compiled = pm.compile(cells(), options=options, estimates=SIZES)
    rng = np.random.default_rng(2)
    for rows, columns in ((1, 1), (3, 7), (5, 64), (2, 131)):
        x = rng.integers(0, 16, (rows, 8 * columns + 8)).astype("f4") / 16
        np.testing.assert_array_equal(compiled(x), compiled.reference(x))
