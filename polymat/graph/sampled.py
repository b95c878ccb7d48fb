"""Sums of which a few results are kept: only those are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.computed import affine_value
from polymat.lang.expr import CastExpr, Expr, Load, Variable
from polymat.lang.traverse import rebuild, rebuild_condition
from polymat.poly.access import Access
from polymat.poly.domain import Domain


def compute_kept_samples(pipeline: Pipeline) -> Pipeline:
    """Let a copy of some results of a sum, whose others nobody reads, be those sums themselves.

    before:  f(i) = sum over k of h(k) x(i + k), for i < N;  y(i) = f(10 i)
    after:   y(i) = sum over k of h(k) x(10 i + k)
    """
    stages = {stage.name: stage for stage in pipeline.stages}
    readers: dict[str, set[str]] = {name: set() for name in stages}
    for stage in pipeline.stages:
        for load in stage.loads():
            readers.get(load.source.name, set()).add(stage.name)
    for stage in pipeline.stages:
        kept = _copied(stage)
        whole = None if kept is None else stages.get(kept.source.name)
        if kept is None or whole is None or whole.name in pipeline.outputs:
            continue
        if readers[whole.name] == {stage.name} and _can_be_sampled(whole, stage, kept):
            stages[stage.name] = _sampled(stage, whole, kept.indices)
            del stages[whole.name]
    return pipeline if len(stages) == len(pipeline.stages) else pipeline.with_stages(tuple(stages.values()))


def _copied(stage: Stage) -> Load | None:
    """What a stage is a copy of elements of."""
    if stage.is_reduction or len(stage.parts) != 1 or stage.parts[0].condition is not None:
        return None
    expr = stage.parts[0].expr
    return expr if isinstance(expr, Load) and expr.dtype == stage.dtype else None


def _can_be_sampled(whole: Stage, copy: Stage, load: Load) -> bool:
    """Whether it is a plain sum, of which no result is read twice."""
    plain = whole.is_reduction and not whole.reads_itself and len(whole.parts) == 1
    if not plain or whole.parts[0].condition is not None or load.source.name == copy.name:
        return False
    aligned = all(item.is_aligned for item in whole.accumulations)
    return aligned and Access.of(copy.parts[0].domain, load.indices).is_injective()


def _sampled(copy: Stage, whole: Stage, indices: tuple[Affine, ...]) -> Stage:
    start = _at(whole.parts[0].expr, dict(zip(whole.dims, indices, strict=True)))
    parts = (Part(copy.domain, None, start, whole.parts[0].at),)
    accumulations = tuple(_moved(item, copy, indices) for item in whole.accumulations)
    return replace(copy, parts=parts, op=whole.op, accumulations=accumulations)


def _moved(item: Accumulation, copy: Stage, indices: tuple[Affine, ...]) -> Accumulation:
    """The accumulation at the copied results: its other dimensions stay, under names that are free."""
    taken = {*copy.dims, *item.dims, *item.domain.params}
    values: dict[str, Affine] = {_name(form): index for form, index in zip(item.target, indices, strict=True)}
    names: list[str] = []
    for dim in item.reduced_dims:
        name = dim if dim not in copy.dims else _free(dim, taken)
        taken.add(name)
        names.append(name)
        values[dim] = Affine.name(name)
    limits = dict(zip(item.dims, item.bounds, strict=True))
    inner = [limits[dim] for dim in item.reduced_dims]
    bounds = (*copy.bounds, *((low.substitute(values), high.substitute(values)) for low, high in inner))
    dims = (*copy.dims, *names)
    domain = Domain.box(item.domain.params, dims, bounds)
    for form in item.target:
        low, high = limits[_name(form)]
        index = values[_name(form)]
        domain = domain.at_least_zero([index - low.substitute(values), high.substitute(values) - index])
    condition = item.condition
    if condition is not None:
        condition = rebuild_condition(condition, lambda node: _leaf(node, values))
        domain = domain.where(condition)
    target = tuple(map(Affine.name, copy.dims))
    return Accumulation(dims, bounds, domain, condition, target, _at(item.expr, values), item.at)


def _name(form: Affine) -> str:
    (name,) = form.names()
    return name


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"


def _at(expr: Expr, values: Mapping[str, Affine]) -> Expr:
    return rebuild(expr, lambda node: _leaf(node, values))


def _leaf(node: Expr, values: Mapping[str, Affine]) -> Expr:
    match node:
        case Load(source, indices):
            return Load(source, tuple(form.substitute(values) for form in indices), node.dtype, node.at)
        case Variable(name=name) if name in values:
            return CastExpr(affine_value(values[name]), node.dtype)
        case _:
            return node
