"""Steps from one choice to another: each gives a choice that can be carried out, and changes what it says."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import polymat as pm
from polymat.checked import check
from polymat.graph.selection import Selection
from polymat.plan.registerblocks import kernel_of
from polymat.product.blocks import LEAST_KC
from polymat.search import moves
from polymat.search.space import Space
from tests.faulty import N, stencils
from tests.fixed import NARROW
from tests.search.test_space import M, products, request, space_of

TURNS = 20


def of_stencils() -> Space:
    return space_of(request(stencils(), {N: 100000}))


def of_products() -> Space:
    return space_of(request(products(), {M: 300}))


def test_another_way_is_one_of_those_that_there_are() -> None:
    space = of_products()
    ways = space.ways(())
    group = space.default.groups[0]
    for seed in range(TURNS):
        other = moves.other_way(ways, group, Random(seed))
        assert other is not None
        assert other != group
        assert other in ways.listed(group.stages)


def test_other_tiles_are_no_longer_than_what_they_cut() -> None:
    space = of_stencils()
    ways = space.ways(())
    group = next(group for group in space.default.groups if len(group.stages) == 2)
    found = {
        other.sizes
        for seed in range(TURNS)
        if (other := moves.other_tiles(ways, NARROW, group, Random(seed))) is not None
    }
    assert len(found) > 2
    assert all(1 <= size <= 100000 for sizes in found for size in sizes)


def test_only_groups_in_tiles_get_others() -> None:
    space, tiled = of_products(), of_stencils()
    assert moves.other_tiles(space.ways(()), NARROW, space.default.groups[0], Random(0)) is None
    assert moves.other_blocks(tiled.ways(()), NARROW, tiled.default.groups[0], Random(0)) is None


def test_other_blocks_hold_a_register_block_and_fit_together() -> None:
    space = of_products()
    ways = space.ways(())
    group = next(each for each in ways.listed(space.default.groups[0].stages) if kernel_of(ways.plan(each)))
    kernel = kernel_of(ways.plan(group))
    assert kernel is not None
    for seed in range(TURNS):
        kc, mc, nc = moves.grown_blocks(kernel, NARROW, ways, Random(seed))
        assert kc >= LEAST_KC
        assert mc >= kernel.blocks.rows
        assert nc >= 2 * mc
        other = moves.other_blocks(ways, NARROW, group, Random(seed))
        assert other is not None
        assert len(other.blocks) == 4
        assert (other.stages, other.way) == (group.stages, group.way)


def test_other_registers_take_their_own_blocks_for_the_caches() -> None:
    space = of_products()
    ways = space.ways(())
    group = next(each for each in ways.listed(space.default.groups[0].stages) if kernel_of(ways.plan(each)))
    choice = Selection((replace(group, blocks=(64, 64, 512, 1000)),), ())
    for seed in range(TURNS):
        other = moves.other_registers(ways, NARROW, choice, Random(seed))
        assert other is not None
        assert [each.blocks for each in other.groups] == [()]
        assert other.registers != choice.registers
    plain = of_stencils()
    assert moves.other_registers(plain.ways(()), NARROW, plain.default, Random(0)) is None


def test_another_partition_has_every_stage_once_and_keeps_what_it_knows() -> None:
    space = of_stencils()
    ways = space.ways(())
    found = moves.other_partition(ways, space.default, Random(1))
    assert found is not None
    assert found != space.default
    assert sorted(name for group in found.groups for name in group.stages) == ["f", "g"]
    back = moves.regrouped(ways, found, [group.stages for group in space.default.groups])
    assert back is not None
    assert [group.stages for group in back.groups] == [group.stages for group in space.default.groups]
    check("tilesize", space.schedule(found))


def test_groups_that_wait_for_each_other_are_none() -> None:
    """a is read by b, and b by c: a and c as one group would have to be before and behind b."""
    x = pm.Vector(pm.Double, "x", [N])
    a = (x + 1.0).named("a")
    b = a.sum().named("b")
    c = (a * b()).named("c")
    space = space_of(request([a, b, c], {N: 1000}))
    groups = [("a", "c"), ("b",)]
    names = {name for group in space.default.groups for name in group.stages}
    assert names == {"a", "b", "c"}
    assert moves.regrouped(space.ways(()), space.default, groups) is None
