"""Which results are written past the caches."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.tilesize.rowloop import is_arithmetic, reads_along
from polymat.tilesize.schedule import LoopPlan

LEAST_LEVELS = 4  # times the last-level cache that a core can count on: others of its lines may be free


def past_caches(pipeline: Pipeline, stage: Stage, plan: LoopPlan, machine: Machine) -> LoopPlan:
    """The loops of a stage by itself, its result past the caches where it is too large to stay in one.

    Of results that nobody in the call reads again, computed by plain arithmetic along rows.
    """
    if plan.kind != "map" or plan.lanes == 1 or plan.unroll > 1 or not (stage.dims and is_arithmetic(stage)):
        return plan
    read = any(load.source.name == stage.name for other in pipeline.stages for load in other.loads())
    if read or not all(reads_along(load, stage.dims[-1]) for load in stage.loads()):
        return plan
    limit = LEAST_LEVELS * machine.l3_bytes
    reason = f"{plan.reason}; a result of more than {limit:.2g} bytes is written past the caches"
    return replace(plan, streamed=limit, reason=reason)
