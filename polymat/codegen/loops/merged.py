"""Stages that are computed as one: its nest is that of the stage they amount to."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.stagecode import StageWriter
from polymat.graph.stage import Stage
from polymat.plan.nest import MergedPlan


def merged_nest(
    writer: StageWriter, stage: Stage, plan: MergedPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of the one stage."""
    return writer.ranged(plan.stage, plan.inner, along, kind)
