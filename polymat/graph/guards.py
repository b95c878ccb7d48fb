"""Terms that a Select leaves out of a reduction: they are no points of it."""

from __future__ import annotations

import math
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.condition import Condition
from polymat.lang.expr import CastExpr, Const, Expr, SelectExpr
from polymat.lang.indices import affine_names
from polymat.lang.neutral import neutral
from polymat.lang.traverse import conjuncts


def leave_out_terms(pipeline: Pipeline) -> Pipeline:
    """Reduce over the points alone whose terms a Select on indices keeps.

    before:  c(i) over [i, k]:           c(i) += Select(k <= i, a(i, k), 0)
    after:   c(i) over [i, k], k <= i:   c(i) += a(i, k)
    """
    return pipeline.with_stages(tuple(_narrowed(stage) for stage in pipeline.stages))


def _narrowed(stage: Stage) -> Stage:
    if stage.op is None or (stage.dtype.kind in "fc" and not _stays_with_zero(stage.parts[-1].expr)):
        return stage
    items = tuple(_without(stage, item) for item in stage.accumulations)
    unchanged = all(new is old for new, old in zip(items, stage.accumulations, strict=True))
    return stage if unchanged else replace(stage, accumulations=items)


def _stays_with_zero(start: Expr) -> bool:
    """Whether 0 changes nothing that is added to a start: -0.0 is 0.0 then, and stays -0.0 without a term."""
    if not isinstance(start, Const):
        return False
    value = complex(start.value)
    return all(part != 0.0 or math.copysign(1.0, part) > 0.0 for part in (value.real, value.imag))


def _without(stage: Stage, item: Accumulation) -> Accumulation:
    chosen = item.expr
    if stage.op is None or not isinstance(chosen, SelectExpr) or not isinstance(chosen.otherwise, Const):
        return item
    absent = neutral(stage.op, stage.dtype).value == chosen.otherwise.value
    if not absent or not _is_on_points(chosen.condition, item):
        return item
    both = chosen.condition if item.condition is None else item.condition & chosen.condition
    kept = chosen.then if chosen.then.dtype == chosen.dtype else CastExpr(chosen.then, chosen.dtype)
    domain = item.domain.where(chosen.condition, item.at)
    return replace(item, domain=domain, condition=both, expr=kept)


def _is_on_points(condition: Condition, item: Accumulation) -> bool:
    """Whether comparisons of indices and sizes, of which all hold, make the condition."""
    names = affine_names(condition)
    known = {*item.dims, *item.domain.params}
    return names is not None and names <= known and all(each.op != "|" for each in conjuncts(condition))
