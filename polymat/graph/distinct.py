"""One name, one meaning within a stage: reduced dimensions are not called like dimensions of the result."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load, Variable
from polymat.lang.indices import index_variable
from polymat.lang.traverse import rebuild, rebuild_condition


def separate_names(pipeline: Pipeline) -> Pipeline:
    """Rename the reduced dimensions that a result dimension has the name of: both become loops of one nest.

    before:  c(m) over [m, j]:  c(j) += a(j, m)
    after:   c(m) over [m_, j]:  c(j) += a(j, m_)
    """
    return pipeline.with_stages(tuple(_separated(stage) for stage in pipeline.stages))


def _separated(stage: Stage) -> Stage:
    if not any(set(_own_dims(a)) & set(stage.dims) for a in stage.accumulations):
        return stage
    return replace(stage, accumulations=tuple(_renamed(stage, a) for a in stage.accumulations))


def _own_dims(accumulation: Accumulation) -> tuple[str, ...]:
    """The dimensions that are none of the result's: all where the place in the result is computed."""
    return accumulation.reduced_dims if accumulation.is_aligned else accumulation.dims


def _renamed(stage: Stage, accumulation: Accumulation) -> Accumulation:
    taken = {*stage.dims, *accumulation.dims, *stage.domain.params}
    fresh: dict[str, str] = {}
    for dim in _own_dims(accumulation):
        if dim in stage.dims:
            name = dim
            while name in taken:
                name += "_"
            taken.add(name)
            fresh[dim] = name
    if not fresh:
        return accumulation
    forms = {old: Affine.name(new) for old, new in fresh.items()}
    dims = tuple(fresh.get(dim, dim) for dim in accumulation.dims)

    def leaf(node: Expr) -> Expr:
        match node:
            case Load(source, indices):
                return Load(source, tuple(f.substitute(forms) for f in indices), node.dtype, node.at)
            case Variable() if node.name in fresh:
                return index_variable(fresh[node.name], node.dtype, node.at)
            case _:
                return node

    condition = accumulation.condition
    return replace(
        accumulation,
        dims=dims,
        bounds=tuple((lo.substitute(forms), hi.substitute(forms)) for lo, hi in accumulation.bounds),
        domain=accumulation.domain.renamed(dims),
        condition=None if condition is None else rebuild_condition(condition, leaf),
        target=tuple(form.substitute(forms) for form in accumulation.target),
        expr=rebuild(accumulation.expr, leaf),
    )
