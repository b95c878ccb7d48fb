"""Bytes that a group moves between its stages and where the arrays of a pipeline live."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray, Stage
from polymat.machine.model import MEMORY, Machine
from polymat.model.estimates import once_a_stage
from polymat.model.extents import extent, stage_extents


def traffic(
    pipeline: Pipeline,
    stages: Sequence[Stage],
    scratch: set[str],
    estimates: Mapping[str, int],
    *,
    near: Collection[str] = (),
    again: bool = False,
) -> float:
    """Bytes of all arrays that a group touches outside its scratchpads, each once.

    near: stages that are read where they do not leave the cache.  again: nothing stays there between two
    stages, so each of them reads its arrays anew.
    """
    inputs = {array.name: array for array in pipeline.inputs}
    read = [name for stage in stages for name in _sources(stage, estimates)]
    total = sum(array_bytes(stage, estimates) for stage in stages if stage.name not in scratch)
    for name in read if again else dict.fromkeys(read):
        if name in inputs:
            total += input_bytes(inputs[name], estimates)
        elif name not in scratch and name not in near:
            total += array_bytes(pipeline.stage(name), estimates)
    return total


@once_a_stage
def _sources(stage: Stage, _: Mapping[str, int]) -> tuple[str, ...]:
    """The arrays that a stage reads, each once."""
    return tuple(dict.fromkeys(load.source.name for load in stage.loads()))


def input_bytes(array: InputArray, estimates: Mapping[str, int]) -> float:
    count = float(array.dtype.size)
    for form in array.extents:
        count *= extent(form, estimates)
    return count


@once_a_stage
def array_bytes(stage: Stage, estimates: Mapping[str, int]) -> float:
    """Bytes of a stage's values."""
    return prod(stage_extents(stage, estimates)) * stage.dtype.size


def home_level(pipeline: Pipeline, machine: Machine, estimates: Mapping[str, int]) -> int:
    """The nearest level that holds all arrays of a pipeline: where a group finds its data."""
    moved = traffic(pipeline, pipeline.stages, set(), estimates)
    for cache in machine.caches:
        if moved <= cache.bytes:
            return cache.level
    return MEMORY
