"""Extremes and their places as plans: which ones run in one pass, and the predicted time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.graph.flatpoints import is_flat
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.types import STORED
from polymat.machine.model import Machine
from polymat.plan.loops import LoopPlan
from polymat.plan.position import PositionPlan
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.register import in_rows, unrolled
from polymat.tilesize.stagework import stage_operations

MOST_DIMS = 2  # of points that do not lie behind each other in memory: rows, and the columns of these


class PositionPlanner:
    """Plans of extremes with their places, for groups of one pipeline."""

    def __init__(self, pipeline: Pipeline, machine: Machine, sizes: Mapping[str, int]) -> None:
        self.pipeline = pipeline
        self.machine = machine
        self.sizes = sizes
        alone = pipeline.apart or pipeline.waiting is not None  # then each stage has loops of its own
        self.pairs = () if alone else pipeline.positions

    def joins(self) -> list[tuple[str, str]]:
        """The pairs that a group may hold."""
        return [(each.extreme, each.place) for each in self.pairs]

    def plan(self, stages: tuple[str, ...]) -> PositionPlan | None:
        """The plan of a group that is an extreme and its place."""
        if stages not in self.joins():
            return None
        extreme, place = (self.pipeline.stage(name) for name in stages)
        if extreme.dtype in STORED or extreme.dtype.kind not in "iuf":
            return None
        loops = {stage.name: self._loops(stage) for stage in (extreme, place)}
        (item,) = extreme.accumulations
        if loops[extreme.name].kind == "reduce":
            inputs = {array.name: array.extents for array in self.pipeline.inputs}
            few = len(item.reduced_dims) <= MOST_DIMS or is_flat(item, inputs)
            return self._blocks(loops, extreme, place) if few else None
        # gcc 12 takes a minute for vectors of bytes that comparisons of wider real numbers choose.
        slow = extreme.dtype.kind == "f" and place.dtype.size == 1
        by_rows = loops[extreme.name].kind == "row" and len(item.reduced_dims) == 1 and not slow
        return _rows(loops, extreme) if by_rows else None

    def _loops(self, stage: Stage) -> LoopPlan:
        """The loops of one of both over some of its points, of blocks one result at a time."""
        group, bits = Group((stage.name,)), self.machine.vector_bits
        plan = plan_stage(group, stage, self.pipeline.context, bits)
        plan = unrolled(stage, in_rows(stage, replace(plan, parallel=None), self.machine, None))
        return replace(plan, unroll=1) if plan.kind == "reduce" else plan

    def _blocks(self, loops: Mapping[str, LoopPlan], extreme: Stage, place: Stage) -> PositionPlan:
        """Of all points of a result: those of the extreme alone, but for a block."""
        operations = [stage_operations(stage, self.sizes) for stage in (extreme, place)]
        share = operations[0] / max(1.0, sum(operations))
        (first, *_) = extreme.dims or extreme.accumulations[0].reduced_dims
        return PositionPlan(
            group=Group(tuple(loops)),
            kind="blocks",
            order=(),
            parallel=first,
            vector=loops[extreme.name].vector,
            reason="the first block that has the extreme is looked through again, and nothing else",
            loops=loops,
            relative=share * (1.0 if extreme.dims else loops[extreme.name].slowdown(1)),
        )


def _rows(loops: Mapping[str, LoopPlan], extreme: Stage) -> PositionPlan:
    """Of each point of rows of results."""
    return PositionPlan(
        group=Group(tuple(loops)),
        kind="rows",
        order=(),
        parallel=extreme.dims[0],
        vector=extreme.dims[-1],
        reason="the index of each extreme of a row is kept beside it, in vectors",
        loops=loops,
        relative=1.0,
    )
