"""Groups that go over the same array in turns."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from polymat.driver import levels, request_for
from polymat.options import Options
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan


def directions(name: str, options: Options) -> list[bool]:
    """For each group of tiles whether it runs backwards."""
    description = next(iter(find_kernel(name).builds.values()))()
    request = request_for(description.outputs, name="x", inputs=description.inputs, options=options)
    found = dict(levels(request))
    schedule = found["tilesize"]
    assert isinstance(schedule, Schedule)
    return [plan.backwards for plan in schedule.plans if isinstance(plan, TilePlan)]


def test_a_second_pass_over_a_matrix_goes_back() -> None:
    assert directions("gemver", Options()) == [False, True]


def test_one_pass_goes_forwards() -> None:
    assert not any(directions("atax", Options()))
    assert not any(directions("gesummv", Options(fuse=False)))  # two matrices


def test_the_papers_have_one_direction() -> None:
    assert not any(directions("gemver", Options.paper()))


@pytest.mark.parametrize("threads", [1, 3])
def test_backwards_covers_every_tile_once(threads: int) -> None:
    kernel = find_kernel("gemver")
    call = kernel.compile(options=Options(parallel_threshold=0))
    assert "-= 8" in call.source
    for size in (0, 1, 7, 8, 9, 15, 16, 17, 63):
        arrays = kernel.inputs({"N": size})
        with pm.threads(threads):
            found = call(*arrays.values(), **kernel.scalars)
        assert kernel.error(found, arrays, {"N": size}) <= 1
        assert np.asarray(found).shape == (size,)
