"""Bytes that a group moves between its stages and where the arrays of a pipeline live."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, prod

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, InputArray, Stage, loads_of
from polymat.lang.table import Lookup, Table
from polymat.lang.traverse import walk
from polymat.machine.model import MEMORY, Machine
from polymat.memo import remembered
from polymat.model.estimates import Estimates, once_a_stage
from polymat.model.extents import extent, stage_extents
from polymat.plan.tile import Plan
from polymat.tilesize.stagework import part_points, points
from polymat.tilesize.stateplanes import kept_in_place, kept_share, planes_apart
from polymat.tilesize.touched import touched_bytes


def traffic(
    pipeline: Pipeline,
    stages: Sequence[Stage],
    scratch: set[str],
    estimates: Mapping[str, int],
    *,
    line_bytes: int,
    near: Collection[str] = (),
    again: bool = False,
    whole: bool = False,
) -> float:
    """Bytes of all arrays that a group touches outside its scratchpads, each once.

    line_bytes: of the lines that caches fetch.  near: arrays that are read where they do not leave the cache,
    or are counted elsewhere.  again: nothing stays there between two stages, so each of them reads its arrays
    anew.  whole: sums count for all of what they read, since other steps read the rest.  Tables of constants
    are such arrays as well.
    """
    inputs, sizes = {array.name for array in pipeline.inputs}, sizes_of(pipeline, estimates)
    total = sum(array_bytes(stage, estimates) for stage in stages if stage.name not in scratch)
    read: dict[str, float] = {}
    for stage in stages:
        for name, touched in _sources(stage, estimates, line_bytes):
            if name in near or (name in scratch and name not in inputs):
                continue
            most = inf if whole and stage.is_reduction else touched
            all_of_it = sizes[name]
            before = read.get(name, 0.0)
            read[name] = before + min(most, all_of_it) if again else min(before + most, all_of_it)
    tables: dict[Table, float] = {}
    for table, touched in (found for stage in stages for found in _tables(stage, estimates)):
        most = tables.get(table, 0.0) + touched
        tables[table] = most if again else min(most, float(len(table.values)))
    return total + sum(read.values()) + sum(tables.values())


@once_a_stage
def _tables(stage: Stage, estimates: Mapping[str, int]) -> tuple[tuple[Table, float], ...]:
    """The tables that a stage looks into, with the bytes of each at most."""
    count = prod(stage_extents(stage, estimates))
    nodes = (node for _, expr in stage.expressions() for node in walk(expr))
    tables = dict.fromkeys(node.table for node in nodes if isinstance(node, Lookup))
    return tuple((each, min(float(len(each.values)), count * each.dtype.size)) for each in tables)


@once_a_stage
def _sources(stage: Stage, estimates: Mapping[str, int], line_bytes: int) -> tuple[tuple[str, float], ...]:
    """The arrays that a stage reads, with the bytes of each at most: a border, or a last step, may be all.

    Sums whose ranges data say may read all.
    """
    found = dict.fromkeys((load.source.name for load in stage.loads()), 0.0)
    if stage.segments is not None:
        return tuple((name, inf) for name in found)
    for item in stage.definitions():
        if isinstance(item, Accumulation):
            dims, box, count = item.dims, item.box, points(item.box, estimates)
        else:
            dims, box, count = stage.dims, stage.box, part_points(stage, item, estimates)
        lengths = {dim: extent(high - low + 1, estimates) for dim, (low, high) in zip(dims, box, strict=True)}
        for load in loads_of(item):
            found[load.source.name] += touched_bytes(load, lengths, count, line_bytes)
    return tuple(found.items())


def sizes_of(pipeline: Pipeline, estimates: Mapping[str, int]) -> Mapping[str, float]:
    """Bytes of all arrays of a pipeline, by name."""
    return _sizes_at(pipeline, estimates) if isinstance(estimates, Estimates) else _sizes(pipeline, estimates)


def _sizes(pipeline: Pipeline, estimates: Mapping[str, int]) -> Mapping[str, float]:
    found = {stage.name: array_bytes(stage, estimates) for stage in pipeline.stages}
    return found | {array.name: input_bytes(array, estimates) for array in pipeline.inputs}


_sizes_at = remembered(_sizes)


@once_a_stage
def input_bytes(array: InputArray, estimates: Mapping[str, int]) -> float:
    """Bytes of an input's values."""
    count = float(array.dtype.size)
    for form in array.extents:
        count *= extent(form, estimates)
    return count


@once_a_stage
def array_bytes(stage: Stage, estimates: Mapping[str, int]) -> float:
    """Bytes of a stage's values."""
    return prod(stage_extents(stage, estimates)) * stage.dtype.size


def home_bytes(
    pipeline: Pipeline, machine: Machine, estimates: Mapping[str, int], plan: Plan | None = None
) -> float:
    """The bytes of all arrays of a pipeline, which groups find their data in.

    States that a step changes in place are one array each, but for those that a plan keeps apart.  Of planes
    of a recurrence those count that are needed at a time.
    """
    once = {stage.name for stage in pipeline.stages} | {old for _, old in kept_in_place(pipeline)}
    lines = machine.line_bytes
    moved = traffic(pipeline, pipeline.stages, set(), estimates, line_bytes=lines, near=once, whole=True)
    if plan is not None:
        moved += sum(array_bytes(stage, estimates) for stage in planes_apart(pipeline, plan))
    for stage in pipeline.stages:
        moved -= (1.0 - kept_share(pipeline, stage, estimates)) * array_bytes(stage, estimates)
    return moved


def nearest_level(machine: Machine, size: float) -> int:
    """The nearest level that holds so many bytes."""
    return next((cache.level for cache in machine.caches if size <= cache.bytes), MEMORY)
