"""Sums into computed places: which loop runs innermost, asked of their loops when candidates are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.machine.model import Machine
from polymat.model.extents import extent
from polymat.plan.loops import LoopPlan
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from polymat.poly.order import accumulation_is_parallel

NEAR = 0.5  # of the second-level cache that what such a loop passes over may fill


def apart_innermost(
    stage: Stage, plan: LoopPlan, context: Domain, machine: Machine, estimates: Mapping[str, int]
) -> LoopPlan:
    """The loops of a sum into computed places, innermost one whose points never meet where there is one.

    before:  for cells: for pixels of a cell: sums(cell, level(pixel)) += pixel
    after:   for pixels of a cell: for cells: the same

    An addition to an element waits for the one before it, through a store and a load.  The loop goes inside
    where all that it passes over is read again from a cache.
    """
    if plan.kind != "scatter" or plan.cut > 1:
        return plan
    first, *others = stage.accumulations
    if any(each.dims != first.dims for each in others):
        return plan
    apart = [dim for dim in first.dims if _is_apart(stage, dim, context)]
    inner = [dim for dim in apart if dim != plan.parallel]
    if not inner or first.dims[-1] in apart:
        return plan
    order = (*(dim for dim in first.dims if dim != inner[-1]), inner[-1])
    if _passed_over(stage, first, order, machine, estimates) > NEAR * machine.l2_bytes:
        return plan
    return replace(plan, order=order, reason=f"{plan.reason}; of no two {inner[-1]} the same")


def _is_apart(stage: Stage, dim: str, context: Domain) -> bool:
    """Whether points that differ in a dimension never add to the same element."""
    writes = (Access.of(each.domain.assume(context), each.target) for each in stage.accumulations)
    return all(accumulation_is_parallel(each, dim) for each in writes)


def _passed_over(
    stage: Stage, item: Accumulation, order: tuple[str, ...], machine: Machine, estimates: Mapping[str, int]
) -> float:
    """Bytes that the innermost loop may add to, and those that it reads."""
    *outer, inner = order
    fixed = {Affine.name(dim) for dim in outer}
    moving = (box for form, box in zip(item.target, stage.box, strict=True) if form not in fixed)
    added = stage.dtype.size * prod(extent(high - low + 1, estimates) for low, high in moving)
    low, high = item.box[item.dims.index(inner)]
    read = sum(_read_bytes(load, inner, machine) for load in dict.fromkeys(stage.loads()))
    return len(stage.accumulations) * added + extent(high - low + 1, estimates) * read


def _read_bytes(load: Load, dim: str, machine: Machine) -> int:
    """Bytes that a read brings along at a point of a loop: those that it moves on by, or a line of memory."""
    if any(dim in form.names() for form in load.indices[:-1]):
        return machine.line_bytes
    step = abs(load.indices[-1].coefficient(dim)) if load.indices else 0
    return min(machine.line_bytes, step * load.dtype.size)
