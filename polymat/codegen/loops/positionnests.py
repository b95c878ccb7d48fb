"""Extremes with their first places, in one pass: by blocks that are looked through again, or row by row."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.positionblocks import PositionBlocks
from polymat.codegen.loops.positionrows import PositionRows
from polymat.codegen.loops.stagecode import StageWriter
from polymat.errors import InternalError
from polymat.graph.stage import Stage
from polymat.plan.position import PositionPlan


def position_nest(
    writer: StageWriter, stage: Stage, plan: PositionPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of an extreme and its place."""
    if kind == "part" or any(dim not in (None, plan.parallel) for dim in along):
        raise InternalError(f"bug in polymat: a part of the places of {stage.name}")
    if plan.kind == "rows":
        return PositionRows(writer, plan, along).nest(kind)
    return PositionBlocks(writer, plan, along).nest(kind)
