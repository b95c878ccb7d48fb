"""A stage of a circle at one of its steps: a stage with a dimension less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from polymat.graph.circles import StepAxis
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.computed import affine_value
from polymat.lang.expr import CastExpr, Expr, Load, Variable
from polymat.lang.traverse import rebuild, rebuild_indices
from polymat.poly.domain import Domain

T = TypeVar("T")
Relink = Callable[[Load, tuple[Affine, ...]], Load]
"""What a load becomes, of the load and its indices at a step."""


def at_step(stage: Stage, axis: StepAxis, step: Affine, context: Domain, relink: Relink) -> Stage | None:
    """The points that a stage computes at a step that the context allows; None where these are none.

    before:  u(t, i) = 2 * u(t - 1, i) where t >= 1, u0(i) where t = 0
    after:   u(i) = 2 * u_1(i), at a step t >= 1
    """
    place = axis.position
    dims, bounds = _without(stage.dims, place), _bounds(stage.dims, stage.bounds, place, axis.index(step))
    domain = stage.domain.sliced(stage.dims[place], axis.index(step)).over(context.params)
    parts = tuple(
        part for each in stage.parts if (part := _part(stage, each, axis, step, context, relink)) is not None
    )
    sums = tuple(
        item
        for each in stage.accumulations
        if (item := _accumulation(each, axis, step, context, relink)) is not None
    )
    if not parts:
        return None
    if len(parts) == 1 and domain.assume(context).is_subset(parts[0].domain):
        parts = (replace(parts[0], domain=domain),)
    op = stage.op if sums else None
    return replace(
        stage, dims=dims, bounds=bounds, domain=domain, parts=parts, op=op, accumulations=sums, circle=()
    )


def _part(
    stage: Stage, part: Part, axis: StepAxis, step: Affine, context: Domain, relink: Relink
) -> Part | None:
    dim = stage.dims[axis.position]
    domain = part.domain.sliced(dim, axis.index(step)).over(context.params)
    if domain.assume(context).is_empty():
        return None
    expr = _value(part.expr, dim, axis.index(step), relink)
    return replace(part, domain=domain, condition=None, expr=expr, fills=False)


def _accumulation(
    item: Accumulation, axis: StepAxis, step: Affine, context: Domain, relink: Relink
) -> Accumulation | None:
    dim = next(item.target[axis.position].names())
    place, index = item.dims.index(dim), axis.index(step)
    domain = item.domain.sliced(dim, index).over(context.params)
    if domain.assume(context).is_empty():
        return None
    target = tuple(form.substitute({dim: index}) for form in _without(item.target, axis.position))
    target = rebuild_indices(target, lambda value: _value(value, dim, index, relink))
    return replace(
        item,
        dims=_without(item.dims, place),
        bounds=_bounds(item.dims, item.bounds, place, index),
        domain=domain,
        condition=None,
        target=target,
        expr=_value(item.expr, dim, index, relink),
    )


def _bounds(dims: tuple[str, ...], bounds: Bounds, place: int, index: Affine) -> Bounds:
    known = {dims[place]: index}
    return tuple((low.substitute(known), high.substitute(known)) for low, high in _without(bounds, place))


def _value(expr: Expr, dim: str, index: Affine, relink: Relink) -> Expr:
    """A right-hand side at a step."""

    def leaf(node: Expr) -> Expr:
        match node:
            case Load():
                return relink(node, tuple(form.substitute({dim: index}) for form in node.indices))
            case Variable() if node.name == dim:
                value = affine_value(index)
                return value if value.dtype == node.dtype else CastExpr(value, node.dtype)
            case _:
                return node

    return rebuild(expr, leaf)


def _without(items: tuple[T, ...], place: int) -> tuple[T, ...]:
    return items[:place] + items[place + 1 :]
