"""Stages in place of another one: what a rewriting of a pipeline makes of one of its stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import map_expressions
from polymat.graph.stage import Ref, Stage
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import rebuild


def spliced(stage: Stage, built: Pipeline, refs: Mapping[str, Ref], taken: set[str]) -> list[Stage] | None:
    """The stages of a small pipeline under names of their own, the last under the replaced stage's name.

    refs: what the inputs of the small pipeline stand for.  taken: names that others have, and then these.
    None where the small pipeline has sizes that the stage's does not have.
    """
    params = tuple(stage.domain.params)
    if not {size.name for size in built.sizes}.issubset(params):
        return None
    named = {each.name: free_name(f"{stage.name}_{each.name}", taken) for each in built.stages}
    named[built.outputs[0]] = stage.name
    taken |= set(named.values())

    def leaf(node: Expr) -> Expr:
        if not isinstance(node, Load):
            return node
        name = node.source.name
        ref = refs.get(name) or Ref(named[name], node.dtype, is_input=False)
        return Load(ref, node.indices, node.dtype, node.at)

    found = [map_expressions(each, lambda expr: rebuild(expr, leaf)) for each in built.stages]
    return [replace(over_sizes(each, params), name=named[each.name], at=stage.at) for each in found]


def over_sizes(stage: Stage, params: tuple[str, ...]) -> Stage:
    """The stage with all sets over these sizes."""
    parts = tuple(replace(part, domain=part.domain.over(params)) for part in stage.parts)
    sums = tuple(replace(item, domain=item.domain.over(params)) for item in stage.accumulations)
    return replace(stage, domain=stage.domain.over(params), parts=parts, accumulations=sums)


def names_taken(pipeline: Pipeline) -> set[str]:
    """Names of everything in a pipeline."""
    parameters = {each.name for each in (*pipeline.sizes, *pipeline.scalars)}
    return parameters | {array.name for array in pipeline.inputs} | {each.name for each in pipeline.stages}


def without_unread(pipeline: Pipeline) -> Pipeline:
    """The pipeline without stages that no output needs."""
    needed = set(pipeline.outputs)
    for stage in reversed(pipeline.stages):
        if not needed.isdisjoint((stage.name, *stage.circle)):
            needed |= {stage.name, *(load.source.name for load in stage.loads())}
    return replace(pipeline, stages=tuple(stage for stage in pipeline.stages if stage.name in needed))


def free_name(name: str, taken: set[str]) -> str:
    """The name, with underscores behind it where others have it."""
    while name in taken:
        name += "_"
    return name
