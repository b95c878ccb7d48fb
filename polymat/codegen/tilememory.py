"""The memory of tiles: scratchpads, and copies of results that each thread accumulates into."""

from __future__ import annotations

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CExpr,
    CFunction,
    CParameter,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.loops.work import times_extents
from polymat.codegen.memory.pads import Pad
from polymat.codegen.tilerun import Private
from polymat.graph.aligned import Member
from polymat.graph.stage import Stage
from polymat.lang.neutral import neutral
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


def clear_and_merge(bodies: BodyWriter, stage: Stage) -> tuple[CFunction, CFunction]:
    """Functions that clear a private copy and that add it to the result."""
    ctype = stage.dtype.c
    index = Id("_pm_i")
    whole, part = Subscript(Id("_pm_whole"), index), Subscript(Id("_pm_part"), index)
    value = bodies.constant(neutral(stage.operation, stage.dtype))
    count = CParameter("const ptrdiff_t", "_pm_count")
    target = CParameter(f"{ctype} *restrict ", "_pm_whole")
    source = CParameter(f"const {ctype} *restrict ", "_pm_part")
    clear, merge = Assign(whole, "=", value), bodies.combine(stage, whole, part)
    names = (f"_pm_clear_{stage.name}", f"_pm_merge_{stage.name}")
    return (
        CFunction("void", names[0], (target, count), (_over(clear),)),
        CFunction("void", names[1], (target, source, count), (_over(merge),)),
    )


def _over(statement: Stmt) -> Stmt:
    index = Id("_pm_i")
    bound = CBinary("<", index, Id("_pm_count"))
    return For("_pm_i", Literal("0"), bound, Literal("1"), (statement,), (VECTORS,))
