"""What options take away from plans, or force on them: loops without vectors and blocks, sizes of tiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polymat import Options
from polymat.graph.pipeline import Pipeline
from polymat.plan.loops import LoopPlan
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.tilesize.switches import MOST_SCRATCH_BYTES, dim_extent, switched
from tests.fixed import compiled_levels
from tests.product.test_schemegroups import K, M, blurred, sums

SIZES = {"M": 3000, "K": 2000}


def planned(output: Any, **options: Any) -> tuple[Any, Pipeline]:
    levels = compiled_levels(output, estimates={M: 3000, K: 2000}, options=Options(inline=False, **options))
    schedule = levels["tilesize"]
    assert isinstance(schedule, Schedule)
    return schedule.plans[-1], schedule.grouping.pipeline


def tiles(**changed: Any) -> tuple[TilePlan, Pipeline]:
    plan, pipeline = planned(blurred(), tile_sizes=(16, 64))
    assert isinstance(plan, TilePlan)
    return replace(plan, crossing=None, row_loop=None, **changed), pipeline


def forced(sizes: tuple[int, ...], estimates: dict[str, int] = SIZES, **changed: Any) -> tuple[int, ...]:
    plan, pipeline = tiles(**changed)
    found = switched(plan, pipeline, estimates, Options(tile_sizes=sizes))
    assert isinstance(found, TilePlan)
    assert found.forced
    assert found.reason.endswith("; tile sizes by Options.tile_sizes")
    return found.sizes


def test_nothing_is_forced_where_nothing_was_said() -> None:
    plan, pipeline = tiles()
    found = switched(plan, pipeline, SIZES, Options())
    assert isinstance(found, TilePlan)
    assert (found.sizes, found.reason) == (plan.sizes, plan.reason)


def test_the_last_size_counts_for_all_that_follow() -> None:
    assert forced((8,)) == (8, 8)
    assert forced((8, 32)) == (8, 32)


def test_tiles_are_no_longer_than_what_is_known() -> None:
    assert forced((5000, 32)) == (3000, 32)
    assert forced((5000, 32), {}) == (5000, 32)


def test_scratchpads_that_no_thread_has_room_for_are_halved_the_longest_first() -> None:
    wide, high = forced((100_000, 100_000), {"M": 100_000, "K": 100_000})
    assert 8 * wide * high <= MOST_SCRATCH_BYTES < 8 * 4 * wide * high
    assert max(wide, high) <= 2 * min(wide, high)


def test_loops_without_vectors_and_without_blocks() -> None:
    plan, pipeline = planned(sums())
    assert isinstance(plan, LoopPlan)
    assert (plan.vector, plan.unroll > 1) == ("k", True)
    for options, kept in (
        (Options(vector=False), (None, plan.unroll)),
        (Options(unroll=False), ("k", 1)),
    ):
        found = switched(plan, pipeline, SIZES, options)
        assert isinstance(found, LoopPlan)
        assert (found.vector, found.unroll) == kept


@pytest.mark.parametrize("options", [Options(vector=False), Options(unroll=False)])
def test_loops_within_tiles_are_changed_too(options: Options) -> None:
    plan, pipeline = tiles()
    found = switched(plan, pipeline, SIZES, options)
    assert isinstance(found, TilePlan)
    assert found.row_loop is None
    for inner in found.loops.values():
        assert isinstance(inner, LoopPlan)
        assert (inner.vector is None) == (not options.vector)
        assert inner.unroll == 1 or options.unroll


def test_extents_of_dimensions_of_a_result_and_of_what_is_summed() -> None:
    _, pipeline = planned(sums())
    stage = pipeline.stage("S")
    assert [str(dim_extent(stage, dim)) for dim in ("i", "k", "j")] == ["M", "K", "None"]
