"""Borders that a Select tells from the interior: each is a part of its stage, as if written as a Case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Part, Stage
from polymat.lang.expr import CastExpr, Expr, SelectExpr
from polymat.lang.indices import affine_names
from polymat.poly.domain import Domain

MOST_PARTS = 9  # of a stage: the interior, edges and corners of a plane


def split_borders(pipeline: Pipeline) -> Pipeline:
    """Define stages part by part where a Select on indices cuts their domains into rectangles.

    Loops over a part have no branch, and a part that is read at fewer places needs less.

    before:  y(i) = Select(0 < i < N - 1, x(i - 1) + x(i + 1), x(i))
    after:   y(i) = x(i - 1) + x(i + 1) for 0 < i < N - 1;  x(i) for i = 0 or i = N - 1
    """
    return pipeline.with_stages(tuple(_split(stage, pipeline.context) for stage in pipeline.stages))


def _split(stage: Stage, context: Domain) -> Stage:
    if stage.is_reduction or any(load.source.name == stage.name for load in stage.loads()):
        return stage
    parts = tuple(found for part in stage.parts for found in _parts(part, context))
    return replace(stage, parts=parts) if len(stage.parts) < len(parts) <= MOST_PARTS else stage


def _parts(part: Part, context: Domain) -> Iterator[Part]:
    """What a part is where each branch of its Select holds; the part itself where it is no such Select."""
    chosen = part.expr
    known = {*part.domain.params, *part.domain.dims}
    names = affine_names(chosen.condition) if isinstance(chosen, SelectExpr) else None
    if not isinstance(chosen, SelectExpr) or names is None or not names <= known:
        yield part
        return
    inside = part.domain.where(chosen.condition, part.at)
    outside = part.domain.subtract(inside)
    if not all(map(_is_of_rectangles, (inside, outside))):
        yield part
        return
    for domain, value in ((inside, chosen.then), (outside, chosen.otherwise)):
        if not domain.assume(context).is_empty():
            yield from _parts(
                replace(part, domain=domain, condition=None, expr=typed_as(chosen, value)), context
            )


def typed_as(chosen: SelectExpr, value: Expr) -> Expr:
    """The value that a Select has, of its type."""
    return value if value.dtype == chosen.dtype else CastExpr(value, chosen.dtype)


def _is_of_rectangles(domain: Domain) -> bool:
    """Whether every piece of a set lies between forms of sizes along every dimension."""
    return all(piece.limits(dim) is not None for piece in domain.pieces() for dim in piece.dims)
