"""Steps from one choice to another: another way of a group, other tiles, other blocks, other groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, inf, prod
from random import Random

from polymat.decide.chosen import Ways
from polymat.graph.selection import GroupChoice, Selection
from polymat.machine.model import Machine
from polymat.model.extents import extent, tile_size
from polymat.plan.kernel import KernelPlan
from polymat.plan.registerblocks import kernel_of
from polymat.plan.tile import TilePlan
from polymat.product.blocks import L3_SHARE, LEAST_KC, register_block, register_family
from polymat.search.grown import filling, grown_tile
from polymat.tilesize.switches import dim_extent

FACTORS = (0.25, 0.5, 2.0, 4.0)  # of a tile size
ONE_SIZE = 0.5  # of the steps among tiles change one size alone
INNER = (128, 256, 512, 1024)  # elements of a row in a tile
NEARNESS = (0.25, 0.5, 1.0)  # of what counts as held by the second level, in products
L2_PART = 0.25  # of the second level for a panel of B beside other data
ONE_BLOCK = 0.4  # of the steps among blocks change one of them alone


def other_way(ways: Ways, group: GroupChoice, rng: Random) -> GroupChoice | None:
    """The group in another way, the likelier the quicker that is predicted to be."""
    others = [each for each in ways.listed(group.stages) if each != group]
    if not others:
        return None
    weights = [1.0 / max(ways.seconds(each), 1e-12) for each in others]
    return rng.choices(others, weights)[0]


def other_tiles(ways: Ways, machine: Machine, group: GroupChoice, rng: Random) -> GroupChoice | None:
    """The group with another tile size along one dimension, or with tiles that were grown for a cache."""
    plan = ways.plan(group)
    if not isinstance(plan, TilePlan):
        return None
    most = tuple(_longest(ways, plan, level) for level in range(len(plan.dims)))
    if rng.random() < ONE_SIZE:
        level = rng.randrange(len(plan.dims))
        sizes = [*plan.sizes]
        sizes[level] = max(1, min(most[level], int(sizes[level] * rng.choice(FACTORS))))
        return replace(group, sizes=tuple(sizes))
    stages = {member.stage: ways.pipeline.stage(member.stage) for member in plan.members}
    size_of = tile_size(stages, plan.members, ways.decider.assumed)
    inner = min(rng.choice((*INNER, plan.sizes[-1])), most[-1])
    start = (*(1 for _ in plan.dims[1:]), inner)
    cache = rng.choice([each.bytes for each in machine.caches])
    return replace(group, sizes=grown_tile(start, most, size_of, cache, rng))


def _longest(ways: Ways, plan: TilePlan, level: int) -> int:
    """The longest extent of a tiled dimension, in points of the group."""
    found = [1.0]
    for member in plan.members:
        own = member.dims[level]
        form = None if own is None else dim_extent(ways.pipeline.stage(member.stage), own)
        if form is not None:
            found.append(extent(form, ways.decider.assumed) * member.scale(level))
    return max(1, ceil(max(found)))


def other_blocks(ways: Ways, machine: Machine, group: GroupChoice, rng: Random) -> GroupChoice | None:
    """The group with blocks for the caches that were grown from the inside: kc, then mc, then nc."""
    kernel = kernel_of(ways.plan(group))
    if kernel is None:
        return None
    now = kernel.blocks
    kc, mc, nc = grown_blocks(kernel, machine, ways, rng)
    small = max(1, int(machine.l2_bytes // kernel.element_bytes * rng.choice(NEARNESS)))
    if rng.random() < ONE_BLOCK:
        only = rng.randrange(4)
        before = (now.kc, now.mc, now.nc, now.small)
        after = (kc, mc, nc, small)
        blocks = tuple(after[k] if k == only else before[k] for k in range(4))
    else:
        blocks = (kc, mc, nc, now.small)
    return replace(group, blocks=blocks)


def grown_blocks(kernel: KernelPlan, machine: Machine, ways: Ways, rng: Random) -> tuple[int, int, int]:
    """Blocks of a product: a panel of B for the first or second level, A for the second, B for the last."""
    found, blocks, size = kernel.contraction, kernel.blocks, kernel.element_bytes
    m, n, k = (
        ceil(prod(found.length(dim, ways.decider.assumed) for dim in dims))
        for dims in (found.all_rows, found.all_columns, found.summed)
    )
    panel = blocks.columns * size
    near = rng.choice((machine.l1_bytes, L2_PART * machine.l2_bytes))
    kc = max(LEAST_KC, rng.choice(filling(k, 1, panel, near)))
    mc = rng.choice(filling(m, blocks.rows, kc * size, rng.choice((0.5, 1.0)) * machine.l2_bytes))
    last = machine.capacity(3, machine.cores)
    nc = rng.choice(filling(n, blocks.columns, kc * size, rng.choice((last, L3_SHARE * last))))
    least = max(2 * mc, 2 * machine.l2_bytes / (size * kc))  # what `holds` asks for
    nc = max(nc, ceil(least / blocks.columns) * blocks.columns)
    return kc, mc, nc


def other_registers(ways: Ways, machine: Machine, choice: Selection, rng: Random) -> Selection | None:
    """The choice with another register block for one type of elements, and the blocks that follow from it."""
    kernels = [kernel for group in choice.groups if (kernel := kernel_of(ways.plan(group))) is not None]
    if not kernels:
        return None
    size = rng.choice(kernels).element_bytes
    now = next((k.blocks.rows, k.blocks.vectors) for k in kernels if k.element_bytes == size)
    family = [block for block in register_family(machine) if block != now]
    if not family:
        return None
    block = rng.choice(family)
    registers = [each for each in choice.registers if each[0] != size]
    registers += [] if block == register_block(machine, size) else [(size, *block)]
    groups = tuple(replace(group, blocks=()) for group in choice.groups)
    return Selection(groups, tuple(sorted(registers)))


def other_partition(ways: Ways, choice: Selection, rng: Random) -> Selection | None:
    """The choice with two groups as one, one as two, or a stage moved to a neighbour."""
    partitions = [*_merged(ways, choice), *_split(choice)]
    rng.shuffle(partitions)
    for groups in partitions:
        found = regrouped(ways, choice, groups)
        if found is not None:
            return found
    return None


def regrouped(ways: Ways, choice: Selection, groups: list[tuple[str, ...]]) -> Selection | None:
    """The choice with other groups, those that it has as they are; None where there may be no such groups."""
    dag = ways.decider.dag
    order = dag.run_order([dag.mask(stages) for stages in groups])
    if order is None:
        return None
    known = {group.stages: group for group in choice.groups}
    found = []
    for stages in map(dag.group, order):
        if stages not in known and (ways.decider.cost(stages) == inf or not ways.listed(stages)):
            return None
        found.append(known.get(stages) or ways.listed(stages)[0])
    return replace(choice, groups=tuple(found))


def _merged(ways: Ways, choice: Selection) -> Iterator[list[tuple[str, ...]]]:
    """Two groups that read or are read as one, and with one stage of a neighbour."""
    dag, groups = ways.decider.dag, [group.stages for group in choice.groups]
    for a, first in enumerate(groups):
        beside = dag.consumers(dag.mask(first)) | dag.producers(dag.mask(first))
        for b, second in enumerate(groups):
            if a == b or not beside & dag.mask(second):
                continue
            others = [each for each in groups if each not in (first, second)]
            if a < b:
                yield [*others, (*first, *second)]
            for stage in second if len(second) > 1 else ():
                yield [*others, (*first, stage), tuple(name for name in second if name != stage)]


def _split(choice: Selection) -> Iterator[list[tuple[str, ...]]]:
    """One group as two, cut anywhere in the order of its stages."""
    groups = [group.stages for group in choice.groups]
    for stages in groups:
        others = [each for each in groups if each != stages]
        for cut in range(1, len(stages)):
            yield [*others, stages[:cut], stages[cut:]]
