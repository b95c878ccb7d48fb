"""Bytes that a group moves between its stages and where the arrays of a pipeline live."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, prod

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray, Stage
from polymat.lang.expr import Load
from polymat.lang.traverse import walk
from polymat.machine.model import MEMORY, Machine
from polymat.model.estimates import once_a_stage
from polymat.model.extents import extent, stage_extents
from polymat.plan.tile import Plan
from polymat.tilesize.stagework import part_points
from polymat.tilesize.stateplanes import kept_in_place, planes_apart


def traffic(
    pipeline: Pipeline,
    stages: Sequence[Stage],
    scratch: set[str],
    estimates: Mapping[str, int],
    *,
    line_bytes: int,
    near: Collection[str] = (),
    again: bool = False,
) -> float:
    """Bytes of all arrays that a group touches outside its scratchpads, each once.

    line_bytes: of the lines that caches fetch.  near: arrays that are read where they do not leave the cache,
    or are counted elsewhere.  again: nothing stays there between two stages, so each of them reads its arrays
    anew.
    """
    inputs = {array.name: array for array in pipeline.inputs}
    total = sum(array_bytes(stage, estimates) for stage in stages if stage.name not in scratch)
    read: dict[str, float] = {}
    for stage in stages:
        for name, most in _sources(stage, estimates, line_bytes):
            if name in near or (name in scratch and name not in inputs):
                continue
            whole = (
                input_bytes(inputs[name], estimates)
                if name in inputs
                else array_bytes(pipeline.stage(name), estimates)
            )
            before = read.get(name, 0.0)
            read[name] = before + min(most, whole) if again else min(before + most, whole)
    return total + sum(read.values())


@once_a_stage
def _sources(stage: Stage, estimates: Mapping[str, int], line_bytes: int) -> tuple[tuple[str, float], ...]:
    """The arrays that a stage reads, with the bytes of each at most: a border, or a last step, may be all.

    Of every so many-th element what lies between in the same line is read as well.
    """
    found = dict.fromkeys((load.source.name for load in stage.loads()), 0.0)
    if stage.is_reduction:
        return tuple((name, inf) for name in found)
    for part in stage.parts:
        count = part_points(stage, part, estimates)
        for load in walk(part.expr):
            if isinstance(load, Load):
                size = load.dtype.size * _apart(load, stage.dims)
                found[load.source.name] += count * min(size, line_bytes)
    return tuple(found.items())


def _apart(load: Load, dims: Collection[str]) -> int:
    """How far elements that loops read one after the other are apart, along the innermost dimension.

    The nearest ones: windows that begin at 256 i have all elements at 256 i + j.  Sizes move nothing.
    """
    terms = load.indices[-1].terms if load.indices else ()
    moving = (abs(factor) for atom, factor in terms if not isinstance(atom, str) or atom in dims)
    return min(moving, default=1)


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


def home_level(
    pipeline: Pipeline, machine: Machine, estimates: Mapping[str, int], plan: Plan | None = None
) -> int:
    """The nearest level that holds all arrays of a pipeline: where a group finds its data.

    States that a step changes in place are one array each, but for those that a plan keeps apart.
    """
    once = {stage.name for stage in pipeline.stages} | {old for _, old in kept_in_place(pipeline)}
    moved = traffic(pipeline, pipeline.stages, set(), estimates, line_bytes=machine.line_bytes, near=once)
    if plan is not None:
        moved += sum(array_bytes(stage, estimates) for stage in planes_apart(pipeline, plan))
    return nearest_level(machine, moved)


def nearest_level(machine: Machine, size: float) -> int:
    """The nearest level that holds so many bytes."""
    return next((cache.level for cache in machine.caches if size <= cache.bytes), MEMORY)
