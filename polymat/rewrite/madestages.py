"""Stages that a rewriting of products makes, and what they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import free_name
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load
from polymat.lang.reduction import Op
from polymat.lang.traverse import loads_in
from polymat.poly.access import Access
from polymat.poly.domain import Domain


def made_stage(
    value: Expr,
    dims: Sequence[str],
    summed: Sequence[str],
    bounds: Mapping[str, tuple[Affine, Affine]],
    root: Stage,
    taken: set[str],
) -> Stage:
    """A new stage of a value over some indices, summed over others, for the sake of a stage that there is.

    bounds: the range of every index.  taken: names that others have, and then this one's.
    """
    name = free_name(f"{root.name}_product", taken)
    taken.add(name)
    params, outer = tuple(root.domain.params), tuple(bounds[dim] for dim in dims)
    domain = Domain.box(params, dims, outer)
    if not summed:
        part = Part(domain, None, value, root.at)
        return Stage(name, value.dtype, tuple(dims), outer, domain, (part,), None, (), root.at)
    every, inner = (*dims, *summed), (*outer, *(bounds[dim] for dim in summed))
    whole = Domain.box(params, every, inner)
    target = tuple(map(Affine.name, dims))
    item = Accumulation(every, inner, whole, None, target, value, root.at)
    zero = Part(domain, None, Const(0, value.dtype), None)
    return Stage(name, value.dtype, tuple(dims), outer, domain, (zero,), Op.Sum, (item,), root.at)


def element(stage: Stage) -> Load:
    """The element of a stage at its own indices."""
    return Load(stage.ref, tuple(map(Affine.name, stage.dims)), stage.dtype)


def order_of(expr: Expr) -> tuple[str, ...]:
    """The names in an expression in the order of memory of the arrays that it reads."""
    return tuple(dict.fromkeys(n for load in loads_in(expr) for form in load.indices for n in form.names()))


def reads_inside(stage: Stage, pipeline: Pipeline) -> bool:
    """Whether a new stage reads elements that a pipeline has, at whatever points it has."""
    boxes: dict[str, Bounds] = {
        array.name: tuple((Affine(), extent - 1) for extent in array.extents) for array in pipeline.inputs
    }
    boxes |= {each.name: each.box for each in pipeline.stages}
    for domain, expr in stage.expressions():
        where = domain.assume(pipeline.context)
        for load in loads_in(expr):
            bounds = boxes.get(load.source.name)
            if bounds is None:
                continue
            names = [f"d{k}" for k in range(len(bounds))]
            box = Domain.box(domain.params, names, bounds)
            if not Access.of(where, load.indices).outside(box).is_empty():
                return False
    return True
