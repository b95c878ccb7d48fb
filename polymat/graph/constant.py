"""Stages that are the same in every call: they read no argument, and depend on no size."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.lang.traverse import names_of

LEAST_POINTS = 4096  # of a sum that is worth keeping
MOST_BYTES = 256 << 20  # of all that is kept


def kept_stages(pipeline: Pipeline) -> frozenset[str]:
    """The stages that the first call computes for all: long sums of constants, and what they are made of.

    Other constants cost no more to compute than to read.  None where they would take too much memory.
    """
    constant: set[str] = set()
    for stage in pipeline.stages:
        reads = {load.source.name for load in stage.loads()} - {stage.name}
        if reads <= constant and _is_closed(stage) and stage.name not in pipeline.outputs:
            constant.add(stage.name)
    found: set[str] = set()
    for stage in reversed(pipeline.stages):
        long = stage.is_reduction and any(_points(a.box) >= LEAST_POINTS for a in stage.accumulations)
        if stage.name in constant and (long or stage.name in found):
            found |= {stage.name, *(load.source.name for load in stage.loads())}
    total = sum(_bytes(pipeline.stage(name)) for name in found)
    return frozenset(found) if total <= MOST_BYTES else frozenset()


def _is_closed(stage: Stage) -> bool:
    """Whether neither its domains nor its definitions depend on a size or a parameter.

    The box of a sum whose terms a Case leaves out from N on, or that reads a table from N on, does not tell.
    """
    boxes = [stage.box, *(item.box for item in stage.accumulations)]
    if any(not form.is_constant for box in boxes for pair in box for form in pair):
        return False
    return not stage.domain.has_parameters and all(
        _has_own_names(stage, item) for item in stage.definitions()
    )


def _has_own_names(stage: Stage, item: Part | Accumulation) -> bool:
    """Whether a definition, and where it holds, has names of its dimensions alone."""
    dims, target = (item.dims, item.target) if isinstance(item, Accumulation) else (stage.dims, ())
    names = {*names_of(item.values()), *(name for form in target for name in form.names())}
    return names <= {*dims} and not item.domain.has_parameters


def _points(box: Bounds) -> int:
    return prod(_lengths(box))


def _lengths(box: Bounds) -> Iterable[int]:
    return (max(high.const - low.const + 1, 0) for low, high in box)


def _bytes(stage: Stage) -> int:
    return prod(extent.const for extent in stage.extents) * stage.dtype.size
