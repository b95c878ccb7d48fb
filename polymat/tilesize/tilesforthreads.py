"""Tiles for every thread: smaller ones where there would be fewer tiles than threads at the estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, prod

from polymat.graph.aligned import grid
from polymat.graph.pipeline import Pipeline
from polymat.plan.tile import TilePlan
from polymat.tilesize.register import ROWS_REDUCED
from polymat.tilesize.shortloops import level_lengths
from polymat.tilesize.tileshape import levels_of_rows

IDLE_ROUNDS = 8  # tiles a thread, above which it does not count that some have one less
LEAST_PIECE = 64  # elements of a row: a few vectors, and whole lines of memory


def tile_counts(pipeline: Pipeline, plan: TilePlan, estimates: Mapping[str, int]) -> list[int]:
    """How many tiles there are along each dimension that threads share, at the estimates."""
    lengths = _lengths(pipeline, plan, estimates)
    counts = [max(1, ceil(length / size)) for length, size in zip(lengths, plan.sizes, strict=True)]
    return counts if plan.is_numbered else counts[:1]


def shared_out(
    pipeline: Pipeline, plan: TilePlan, estimates: Mapping[str, int], threads: int
) -> TilePlan | None:
    """The plan with as many tiles as there are threads, cut along its longest dimensions, and none left over.

    None if it has them.  Whether that pays is for the cost to say: a region costs something, and so do
    shorter rows.
    """
    counts = tile_counts(pipeline, plan, estimates)
    if plan.rolling or plan.nest or plan.crossing is not None or _go_round(prod(counts), threads):
        return None
    lengths = _lengths(pipeline, plan, estimates)
    rows = levels_of_rows(plan.loops, plan.members)
    sizes = list(plan.sizes)
    for level in sorted(range(len(counts)), key=lambda level: -lengths[level]):
        others = prod(count for k, count in enumerate(counts) if k != level)
        unit = grid(plan.members, level) * (1 if level in rows else LEAST_PIECE)
        least = unit * (ROWS_REDUCED if level in rows else 1)  # blocks of rows stay whole
        wanted = ceil(lengths[level] / ceil(threads / others) / unit) * unit
        size = max(unit, min(sizes[level], wanted))
        while size > least and not _go_round(others * ceil(lengths[level] / size), threads):
            size = max(least, size // 2 // unit * unit)
        sizes[level], counts[level] = size, max(1, ceil(lengths[level] / size))
        if _go_round(prod(counts), threads):
            break
    if tuple(sizes) == plan.sizes:
        return None
    reason = f"{plan.reason}; {prod(counts)} tiles at the estimates, for {threads} threads"
    return replace(plan, sizes=tuple(sizes), reason=reason)


def _go_round(tiles: int, threads: int) -> bool:
    """Whether no thread waits for another that has a tile more, for long."""
    return tiles % threads == 0 or tiles >= IDLE_ROUNDS * threads


def _lengths(pipeline: Pipeline, plan: TilePlan, estimates: Mapping[str, int]) -> Sequence[float]:
    """Points of the tiled dimensions, in those of the finest stage."""
    stages = {member.stage: pipeline.stage(member.stage) for member in plan.members}
    return level_lengths(stages, plan.members, estimates)
