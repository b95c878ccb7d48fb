"""The memory of tiles: scratchpads, and what threads accumulate into."""

from __future__ import annotations

from polymat.codegen.c.ctree import CBinary, CExpr, Literal
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.loops.work import times_extents
from polymat.codegen.memory.pads import Pad
from polymat.codegen.privates import clear_and_merge
from polymat.codegen.tilerun import Private
from polymat.graph.aligned import Member
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import TilePlan


def scratchpads(stages: StageWriter, plan: TilePlan) -> list[Pad]:
    """A pad for every stage of a group that a tile keeps to itself or has a copy of."""
    padded = [member.stage for member in plan.members if member.scratch or member.copied]
    return [_scratchpad(stages, name, plan.places.get(name, "")) for name in padded]


def _scratchpad(stages: StageWriter, name: str, place: str) -> Pad:
    """The memory of a scratchpad, or that of another one."""
    array, buffer = stages.bodies.array, stages.storage[name]
    size = CBinary("*", Literal(f"{float(buffer.dtype.size)}"), _count(stages, name))
    return Pad(array(name), buffer.dtype.c, size, memory_of=array(place) if place else "")


def _count(stages: StageWriter, name: str) -> CExpr:
    """How many elements an array has."""
    return times_extents(1, stages.storage[name].extents, stages.size)


def accumulated(stages: StageWriter, plan: TilePlan, member: Member) -> Private:
    """The start values, and the memory and functions, of a stage that is accumulated tile by tile."""
    stage = stages.pipeline.stage(member.stage)
    loops = LoopPlan(plan.group, "map", stage.dims, None, stage.dims[-1] if stage.dims else None, "start")
    start = stages.ranged(stage, loops, [], "start")
    clear, merge = clear_and_merge(stages.bodies, stage)
    array = stages.bodies.array(stage.name)
    copied = member.dims[0] not in stage.dims
    return Private(stage, copied, array, stage.dtype.c, _count(stages, stage.name), start, clear, merge)
