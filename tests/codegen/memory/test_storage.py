"""Where scratchpads begin: as far before a tile as stages read there, however far they read behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.memory.storage import buffers
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from tests.fixed import compiled_levels

M, N = (pm.Parameter(pm.Int, name) for name in "MN")
i, j = (pm.Variable(pm.Int, name) for name in "ij")
SCHEME = {"y": "[fuse(t), Par(i*j), T(i, 8), T(j, 64)]"}
OPTIONS = pm.Options(scheme=SCHEME, inline=False, parallel_threshold=0)


def reading(before: tuple[int, int], behind: tuple[int, int]) -> Any:
    """Sums of exponentials so far before a point and behind it, in two stages."""
    x = pm.Image(pm.Double, "x", [M, N])
    t = pm.Function(([i, j], [pm.Interval(pm.Int, 0, size - 1) for size in (M, N)]), pm.Double, "t")
    t.defn = [pm.Exp(x(i, j))]
    spans = [
        pm.Interval(pm.Int, low, size - 1 - high)
        for low, high, size in zip(before, behind, (M, N), strict=True)
    ]
    y = pm.Function(([i, j], spans), pm.Double, "y")
    y.defn = [t(i - before[0], j - before[1]) + 2.0 * t(i + behind[0], j + behind[1])]
    return y


REACHES = [((3, 0), (1, 2)), ((0, 2), (2, 0)), ((0, 0), (4, 3)), ((5, 3), (0, 0))]


@pytest.mark.parametrize(("before", "behind"), REACHES)
def test_a_scratchpad_begins_with_the_first_point_that_is_read(
    before: tuple[int, int], behind: tuple[int, int]
) -> None:
    schedule = compiled_levels(reading(before, behind), options=OPTIONS)["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    assert not plan.rolling
    pad = buffers(schedule.grouping.pipeline, schedule)["t"]
    assert [-origin.const for origin in pad.origin] == [*before]
    rows, columns = (extent.const for extent in pad.extents)
    assert rows == 8 + before[0] + behind[0]
    assert columns >= 64 + before[1] + behind[1]


@pytest.mark.parametrize(("before", "behind"), REACHES)
def test_tiles_compute_what_is_read_before_and_behind_them(
    before: tuple[int, int], behind: tuple[int, int]
) -> None:
    compiled = pm.compile(reading(before, behind), options=OPTIONS)
    given = np.random.default_rng(1).uniform(-1, 1, (37, 150))
    np.testing.assert_allclose(compiled(given), compiled.reference(given), rtol=1e-13)
