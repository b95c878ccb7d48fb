"""Reads of a sum within a step: what the step before has just made, and the row that the next step reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from polymat.codegen.c.ctree import CBinary, CExpr, Evaluate, Id, Literal, Subscript, names_in
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import index_terms
from polymat.codegen.loops.bodies import BodyWriter
from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.expr import Load
from polymat.lang.traverse import walk

NEAR = 2  # steps: what was made longer ago is in the cache, for most of the time


@dataclass(frozen=True, slots=True)
class StepReads:
    """newest: the end of the loop, "low" or "high", whose terms were made last; "" where there is none.

    rows: by arrays that no step changes the name of the step, both in C.
    """

    newest: str = ""
    rows: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(stage: Stage, pipeline: Pipeline, bodies: BodyWriter) -> StepReads:
        """Find them for a sum; there is nothing where it is in no steps."""
        ends = {end for item in stage.accumulations for end in _newest(item, pipeline)}
        coming = pipeline.coming or {}
        rows = {bodies.array(name): bodies.names.get("size", step) for name, step in coming.items()}
        return StepReads(ends.pop() if len(ends) == 1 else "", rows)

    def next_row(self, element: CExpr) -> Subscript | None:
        """The element of the next step, where that is in another row; None where it is beside this one."""
        if not isinstance(element, Subscript) or not isinstance(element.array, Id):
            return None
        step = self.rows.get(element.array.name)
        if step is None:
            return None
        walks = (term for _, term in index_terms(element.index) if step in names_in([Evaluate(term)]))
        if not any(isinstance(term, CBinary) and term.op == "*" for term in walks):
            return None
        moved = substituted(element.index, {Id(step): CBinary("+", Id(step), Literal("1"))})
        return Subscript(element.array, moved)


def _newest(item: Accumulation, pipeline: Pipeline) -> set[str]:
    """The ends of the loop of a sum where it reads what was made last."""
    found: set[str] = set()
    if len(item.reduced_dims) != 1:
        return found
    (dim,) = item.reduced_dims
    bounds = dict(zip(item.dims, item.box, strict=True))[dim]
    for load in walk(item.expr):
        if not isinstance(load, Load) or load.source.name not in pipeline.newest:
            continue
        for end, form in zip(("low", "high"), bounds, strict=True):
            apart = pipeline.newest[load.source.name] - load.indices[0].substitute({dim: form})
            if apart.is_constant and abs(apart.const) < NEAR:
                found.add(end)
    return found
