"""Copies of results that each thread accumulates into: their start, and how they are added up."""

from __future__ import annotations

from polymat.codegen.c.ctree import Assign, CBinary, CFunction, CParameter, For, Id, Literal, Stmt, Subscript
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.bodies import BodyWriter
from polymat.graph.stage import Stage
from polymat.lang.neutral import neutral


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
