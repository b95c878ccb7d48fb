"""Borders that nobody reads: a stage is defined where it is read alone, layer by layer from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.graph.accesses import loads_with_domains
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Bounds, Part, Stage
from polymat.lang.affine import Affine
from polymat.poly.access import Access
from polymat.poly.domain import Domain

MOST_LAYERS = 2  # on each side; borders are as wide as what is next to them reads


def leave_out_borders(pipeline: Pipeline) -> Pipeline:
    """Leave out rows and columns at the ends of stages of several parts that no other stage reads.

    What is left has fewer parts, each of which is loops of its own, in every tile.

    before:  f(i) = x(i) for 0 < i < N, 0 for i = 0 and i = N;  y(i) = f(i - 1) + f(i) for 0 < i < N
    after:   f(i) = x(i) for 0 < i < N, 0 for i = 0;  y(i) = f(i - 1) + f(i) for 0 < i < N
    """
    if pipeline.states or pipeline.sliced or pipeline.followed or pipeline.waiting is not None:
        return pipeline
    several = {stage.name for stage in pipeline.stages if _has_borders(stage, pipeline)}
    if not several:
        return pipeline
    read: dict[str, list[Domain]] = {name: [] for name in several}
    found: list[Stage] = []
    for stage in reversed(pipeline.stages):
        kept = _trimmed(stage, read[stage.name], pipeline.context) if stage.name in several else stage
        for name, elements in _elements(kept, pipeline, read):
            read[name].append(elements)
        found.append(kept)
    same = all(before is after for before, after in zip(reversed(pipeline.stages), found, strict=True))
    return pipeline if same else pipeline.with_stages(tuple(reversed(found)))


def _has_borders(stage: Stage, pipeline: Pipeline) -> bool:
    """Whether a stage has parts, and no points but those that other stages read are asked for."""
    if stage.name in pipeline.outputs or stage.is_reduction or stage.reads_itself:
        return False
    return len(stage.parts) > 1 and stage.bounds == stage.box and stage.domain.is_box()


def _elements(
    stage: Stage, pipeline: Pipeline, wanted: Mapping[str, Sequence[Domain]]
) -> Iterator[tuple[str, Domain]]:
    """The elements of some stages that one reads, set by set."""
    for domain, expr in stage.expressions():
        where = domain.assume(pipeline.context)
        for here, load in loads_with_domains(where, expr):
            name = load.source.name
            if name in wanted:
                yield name, Access.of(here, load.indices).elements(pipeline.stage(name).dims)


def _trimmed(stage: Stage, read: Sequence[Domain], context: Domain) -> Stage:
    """The stage without the layers at its ends in which nothing is read."""
    bounds: Bounds = tuple(
        (low + _unread(dim, low, 1, read), high - _unread(dim, high, -1, read))
        for dim, (low, high) in zip(stage.dims, stage.bounds, strict=True)
    )
    if bounds == stage.bounds or not all(_may_end(high, context) for _, high in bounds):
        return stage
    box = Domain.box(stage.domain.params, stage.dims, bounds)
    parts = tuple(_within(part, box) for part in stage.parts)
    some = tuple(part for part in parts if not part.domain.assume(context).is_empty())
    if not some:
        return stage
    if len(some) == 1:
        some = (replace(some[0], condition=None, fills=False),)
    return replace(stage, bounds=bounds, domain=box, parts=some)


def _unread(dim: str, end: Affine, step: int, read: Sequence[Domain]) -> int:
    """How many layers from an end of a dimension on no element is read in."""
    for layers in range(MOST_LAYERS):
        beyond = (end + step * layers - Affine.name(dim)).scale(step)
        if any(not elements.at_least_zero([beyond]).is_empty() for elements in read):
            return layers
    return MOST_LAYERS


def _may_end(high: Affine, context: Domain) -> bool:
    """Whether a dimension that ends there has at least no negative number of points, whatever the sizes."""
    return context.at_least_zero([-high - 2]).is_empty()


def _within(part: Part, box: Domain) -> Part:
    return replace(part, domain=part.domain.intersect(box))
