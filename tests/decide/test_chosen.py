"""Choices are carried out: by name, with other tiles and blocks, and refused where they do not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from polymat import Double, Int, Matrix, Options, Parameter
from polymat.decide.chosen import UnfitError, Ways, with_tiles
from polymat.driver import request_for
from polymat.graph.group import separate
from polymat.graph.selection import GroupChoice, Selection, TunedChoice
from polymat.passes import levels_of
from polymat.plan.registerblocks import kernel_of
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.request import Request
from polymat.steps import Job
from tests.faulty import N, stencils
from tests.fixed import NARROW
from tests.hosts import StatedLibraries, as_stated

M = Parameter(Int, "M")
A, B, C = (Matrix(Double, name, [M, M]) for name in "ABC")


def request(outputs: Any, **asked: Any) -> Request:
    found = request_for(outputs, options=Options(inline=False, threads=1), **asked)
    return replace(found, machine=as_stated(NARROW), libraries=StatedLibraries())


def scheduled(asked: Request) -> Schedule:
    return next(level for _, level in levels_of(Job(asked)) if isinstance(level, Schedule))


def ways_of(asked: Request) -> tuple[Ways, Schedule]:
    job, schedule = Job(asked), scheduled(asked)
    return job.ways(schedule.grouping.pipeline), schedule


PRODUCT = request(pm.gemm(A, B, C, 2.0, 1.0).named("D"), estimates={M: 300})
STENCILS = request(stencils(), estimates={N: 100000})


@pytest.mark.parametrize("asked", [PRODUCT, STENCILS], ids=["product", "stencils"])
def test_the_usual_choice_is_what_is_decided_anyway(asked: Request) -> None:
    ways, schedule = ways_of(asked)
    usual = ways.usual(schedule.grouping)
    carried = scheduled(replace(asked, found=TunedChoice(usual, {}, "so it was found")))
    assert carried.summary == schedule.summary
    assert carried.notes[-1] == "so it was found"
    assert [plan.reason for plan in carried.plans] == [plan.reason for plan in schedule.plans]


def test_ways_have_names_of_their_own() -> None:
    for asked in (PRODUCT, STENCILS):
        ways, schedule = ways_of(asked)
        for group in schedule.grouping.groups:
            listed = ways.listed(group.stages)
            assert len({*listed}) == len(listed) > 1
            assert ways.plan(listed[0]) is ways.decider.settled(group.stages)[0]
            assert all(ways.seconds(each) > 0.0 for each in listed)


def test_tiles_have_the_sizes_of_the_choice() -> None:
    ways, schedule = ways_of(STENCILS)
    (usual,) = ways.usual(schedule.grouping).groups
    plan = ways.plan(replace(usual, sizes=(96,)))
    assert isinstance(plan, TilePlan)
    assert plan.sizes == (96,)
    assert plan.forced
    assert plan.reason.endswith("tile sizes chosen by measuring")


def test_blocks_and_registers_are_those_of_the_choice() -> None:
    ways, schedule = ways_of(PRODUCT)
    (usual,) = ways.usual(schedule.grouping).groups
    choice = Selection((replace(usual, blocks=(100, 40, 480, 20000)),), ((8, 4, 3),))
    (plan,) = scheduled(replace(PRODUCT, found=TunedChoice(choice, {}))).plans
    kernel = kernel_of(plan)
    assert kernel is not None
    blocks = kernel.blocks
    assert (blocks.rows, blocks.vectors) == (4, 3)
    assert (blocks.kc, blocks.mc, blocks.nc, blocks.small) == (100, 40, 480, 20000)
    assert "T(k, 100)" in str(kernel.scheme)


def test_other_products_have_the_register_blocks_of_the_machine() -> None:
    (plan,) = scheduled(replace(PRODUCT, found=None)).plans
    kernel = kernel_of(plan)
    assert kernel is not None
    assert (kernel.blocks.rows, kernel.blocks.vectors) == (6, 2)


def test_the_partition_is_that_of_the_choice() -> None:
    ways, schedule = ways_of(STENCILS)
    alone = ways.usual(separate(schedule.grouping.pipeline))
    carried = scheduled(replace(STENCILS, found=TunedChoice(alone, {})))
    assert carried.grouping.summary == "f | g"
    assert carried.grouping.guarantee == "chosen by measuring"
    assert schedule.grouping.summary == "f+g"


def test_what_does_not_fit_is_refused() -> None:
    ways, schedule = ways_of(STENCILS)
    (usual,) = ways.usual(schedule.grouping).groups
    with pytest.raises(UnfitError) as error:
        ways.plan(replace(usual, way="calls of gemm"))
    assert error.value.message == "f+g cannot be computed as calls of gemm"
    with pytest.raises(UnfitError) as error:
        ways.plan(replace(usual, sizes=(4, 4)))
    assert error.value.message == "f+g has no tiles of 2 dimensions"
    with pytest.raises(UnfitError) as error:
        ways.plan(replace(usual, blocks=(64, 48, 960, 1024)))
    assert error.value.message == "f+g is no product, and has no blocks"
    ways, schedule = ways_of(PRODUCT)
    (product,) = ways.usual(schedule.grouping).groups
    for blocks in ((16, 40, 4800, 1024), (100, 40, 64, 1024), (100, 40, 480, 1 << 20), (100, 40, 96, 20000)):
        with pytest.raises(UnfitError, match="has no room for such blocks: "):
            ways.plan(replace(product, blocks=blocks))
    with pytest.raises(UnfitError) as error:
        scheduled(replace(STENCILS, found=TunedChoice(Selection((GroupChoice(("f",), "map loops"),)), {})))
    assert error.value.message == "the stages of a choice are not those of the program"


def test_the_same_sizes_are_the_same_plan() -> None:
    ways, schedule = ways_of(STENCILS)
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    assert with_tiles(plan, plan.sizes, ways.pipeline) is plan
