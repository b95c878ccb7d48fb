"""Tile sizes from the reuse equation at every cache level, and when they are taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polymat as pm
from benchmarks.images import find_program
from benchmarks.polybench import find_kernel
from benchmarks.stencils import chain
from polymat import Float, Image, Interval, Options, Parameter, Variable
from polymat import Int as Integer
from polymat.decide.decider import Decider
from polymat.driver import levels, request_for
from polymat.fusion.alignment import align
from polymat.fusion.legality import live_outs
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.model.loopnest import LoopNest
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.runtime.host import InstalledLibraries
from polymat.tilesize.levels import overflows, plans_by_level
from polymat.tilesize.paperplan import aligned_nest
from tests.model.nests import tile_bytes
from tests.tolerance import assert_close

MACHINE = Machine("test", cores=2, l1_bytes=48 << 10, l2_bytes=1 << 20, l3_bytes=8 << 20)
HALF = 0.5  # of a cache is what a tile may fill


def steps(count: int) -> pm.Function:
    """A seven-point stencil over a cube, so many times one after the other."""
    n = Parameter(Integer, "N")
    x, y, z = (Variable(Integer, name) for name in "xyz")
    last: Image | pm.Function = Image(Float, "A", [n, n, n])
    for step in range(1, count + 1):
        f = pm.Function(([x, y, z], [Interval(Integer, step, n - 1 - step)] * 3), Float, f"h{step}")
        sides = last(x - 1, y, z) + last(x + 1, y, z) + last(x, y - 1, z) + last(x, y + 1, z)
        f.defn = [0.25 * sides - last(x, y, z - 1) * last(x, y, z) + last(x, y, z + 1)]
        last = f
    assert isinstance(last, pm.Function)
    return last


def decided(outputs: object, options: Options, sizes: dict[str, int]) -> tuple[Decider, Schedule]:
    found = levels(replace(request_for(outputs, name="x", options=options), estimates=sizes))  # type: ignore[arg-type]
    pipeline = next(level for word, level in found if word == "graph")
    assert isinstance(pipeline, Pipeline)
    decider = Decider(pipeline, MACHINE, sizes, options, InstalledLibraries())
    return decider, decider.schedule(decider.grouping())


def nest_of(decider: Decider, plan: TilePlan) -> LoopNest:
    names = plan.group.stages
    stages = [decider.pipeline.stage(name) for name in names]
    alignment, live = align(decider.reads, names), live_outs(decider.reads, names)
    return aligned_nest(stages, alignment, live, decider.assumed)


def test_a_group_gets_tiles_for_every_level() -> None:
    description = find_kernel("atax").builds["algebra"]()
    decider, schedule = decided(description.outputs, Options(threads=1), {"M": 1900, "N": 2100})
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    nest = nest_of(decider, plan)
    found = plans_by_level(decider.pipeline, plan, nest, MACHINE, decider.assumed)
    assert [(each.sizes, each.solved.level) for each in found if each.solved] == [
        ((24,), "L2"),
        ((232,), "L3"),
    ]
    for each, cache in zip(found, (MACHINE.l2_bytes, MACHINE.l3_bytes), strict=True):
        tile = {**nest.extents, plan.dims[0]: each.sizes[0]}
        assert 0.75 * HALF * cache < tile_bytes(nest, tile) <= 1.05 * HALF * cache
    shared = plans_by_level(decider.pipeline, plan, nest, MACHINE, decider.assumed, threads=2)
    assert shared[-1].sizes[0] in range(96, 128, 8)  # half of the last level


def test_sizes_that_are_no_quicker_are_not_taken_but_told() -> None:
    description = find_kernel("atax").builds["algebra"]()
    _, schedule = decided(description.outputs, Options(threads=1), {"M": 1900, "N": 2100})
    (plan,), (decision,) = schedule.plans, schedule.decisions
    assert isinstance(plan, TilePlan)
    assert plan.sizes == (8,)
    assert "as tiles of 24 along" in decision.terms
    assert "= 0 for L2)" in decision.terms
    assert "= 0 for L3)" in decision.terms


def test_a_cube_gets_the_tiles_of_the_equation_where_the_listed_ones_are_too_large() -> None:
    decider, _ = decided([steps(5)], Options(threads=1, rolling=False), {"N": 256})
    plans = decider.ways(tuple(stage.name for stage in decider.pipeline.stages))
    tiles = [plan for plan in plans if isinstance(plan, TilePlan)]
    assert all(overflows(decider.pipeline, p, MACHINE, decider.assumed) for p in tiles if p.solved is None)
    (near,) = (p for p in tiles if p.solved is not None and p.solved.level == "L2")
    assert near.solved is not None
    assert all(4 <= size <= 16 for size in near.sizes[:2])
    assert str(near.solved.equation) in near.reason
    assert "for 524288 bytes of L2" in near.reason
    assert not overflows(decider.pipeline, near, MACHINE, decider.assumed)


def test_a_large_grid_is_not_cut_into_short_runs() -> None:
    """Tiles along the middle dimension would write 120 bytes here and there."""
    program = find_program("bilateral-grid-c")
    _, schedule = decided(list(program.build().outputs), Options(threads=1), dict(program.sizes["PAPER"]))
    (plan,) = (plan for plan in schedule.plans if "by" in plan.group.stages)
    assert isinstance(plan, TilePlan)
    assert plan.group.stages[:3] == ("bz", "bx", "by")
    assert plan.dims[0] != "gy"


def test_a_cube_gets_rows_of_planes_that_fit() -> None:
    decider, schedule = decided([steps(2)], Options(threads=1, rolling=False), {"N": 256})
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    assert plan.dims == ("x", "y")
    assert plan.sizes == (16, 8)
    assert not overflows(decider.pipeline, plan, MACHINE, decider.assumed)


def test_few_tiles_are_not_shared_out() -> None:
    """Of sixteen rows of a cube no tile of the second level is left for the second thread."""
    for threads in (1, 2):
        _, schedule = decided([steps(2)], Options(threads=threads, rolling=False), {"N": 20})
        assert not any(isinstance(plan, TilePlan) and plan.solved for plan in schedule.plans)


def test_forced_sizes_stay() -> None:
    _, schedule = decided([steps(2)], Options(tile_sizes=(5,), threads=1), {"N": 256})
    assert all(plan.sizes == (5,) * len(plan.dims) for plan in schedule.plans if isinstance(plan, TilePlan))


def test_a_chain_of_images_keeps_its_rolling_tiles() -> None:
    _, schedule = decided(chain.build().outputs, Options(threads=1), {"R": 4096, "C": 4096})
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    assert plan.rolling
    assert plan.solved is None


@pytest.mark.parametrize("n", [4, 5, 6, 13, 23, 41])
def test_a_cube_in_these_tiles(n: int) -> None:
    compiled = pm.compile(
        steps(2),
        name="cube",
        estimates={Parameter(Integer, "N"): 256},
        options=Options(threads=2, parallel_threshold=0, rolling=False),
    )
    array = np.random.default_rng(n).random((n, n, n), dtype=np.float32)
    assert_close(compiled(array), compiled.reference(array), roundings=30, magnitude=np.float64(4.0))


def test_sizes_are_multiples_of_all_scales() -> None:
    n = Parameter(Integer, "N")
    i, j = Variable(Integer, "i"), Variable(Integer, "j")
    image = Image(Float, "A", [6 * n, 6 * n])
    whole = Interval(Integer, 0, 6 * n - 1)
    blurred = pm.Function(([i, j], [Interval(Integer, 1, 6 * n - 2), whole]), Float, "blurred")
    blurred.defn = [image(i - 1, j) * image(i, j) + image(i + 1, j)]
    outputs = []
    for scale in (2, 3):
        rows = Interval(Integer, 1, 6 // scale * n - 1)
        kept = pm.Function(([i, j], [rows, whole]), Float, f"every{scale}")
        kept.defn = [blurred(scale * i, j) * 2.0 + blurred(scale * i - 1, j)]
        outputs.append(kept)
    decider, _ = decided(outputs, Options(threads=1, rolling=False, inline=False), {"N": 700})
    names = tuple(stage.name for stage in decider.pipeline.stages)
    found = decider.candidates.of(names)
    assert isinstance(found, list)
    plan = next(each for each in found if isinstance(each, TilePlan))
    assert {member.scale(0) for member in plan.members} == {1, 2, 3}
    sized = decider.candidates.by_level(plan)
    assert sized
    assert all(each.sizes[0] % 6 == 0 for each in sized), [each.sizes for each in sized]
