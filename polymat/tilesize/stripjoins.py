"""Which stages of a step whose slices wait are one pass over the rows of a strip: made, and added up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.graph.waits import behind_front
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Binary, Const, Expr, Load, Parameter, Unary
from polymat.lang.reduction import Op
from polymat.lang.traverse import loads_in
from polymat.lang.types import Double, Float, ScalarType
from polymat.plan.strips import JoinedStrips
from polymat.plan.tile import Plan
from polymat.poly.domain import Domain

ARITHMETIC = ("+", "-", "*", "/")  # that vectors have


def joined_strips(pipeline: Pipeline, plans: Sequence[Plan]) -> tuple[JoinedStrips, ...]:
    """The pairs of stages with slices that follow each other, the second of which adds up rows of the first.

    before:  for i: for j: a(i, j) = ...        for i: for j: s(j) += q(i) * a(i, j)
    after:   for i: for j: a(i, j) = ..., s(j) += q(i) * a(i, j)
    """
    slices = pipeline.waiting
    if slices is None or slices.lanes == 1:
        return ()
    sliced = [plan for plan in plans if slices.place(plan.group.stages[-1]) is not None]
    found: list[JoinedStrips] = []
    for plan, other in pairwise(sliced):
        one, another = (pipeline.stage(each.group.stages[-1]) for each in (plan, other))
        taken = bool(found) and found[-1].added == one.name
        is_pair = plan.kind == "map" and other.kind == "row"
        joined = _joined(pipeline, one, another) if is_pair and not taken else None
        found += [] if joined is None else [joined]
    return tuple(found)


def _joined(pipeline: Pipeline, one: Stage, other: Stage) -> JoinedStrips | None:
    """Both stages in one pass; None where something else is done to a strip, or has no vectors."""
    slices, context = pipeline.waiting, pipeline.context
    assert slices is not None, "asked of what waits"
    if len(one.dims) != 2 or len(other.dims) != 1 or slices.place(one.name) != 1 or other.op is not Op.Sum:
        return None
    made, added = behind_front(one, slices), behind_front(other, slices)
    if one.dtype not in (Double, Float) or len(made.parts) != 1 or len(added.accumulations) != 1:
        return None
    (part,), (item,) = made.parts, added.accumulations
    if len(item.reduced_dims) != 1 or not item.is_aligned or not _starts_with_nothing(added):
        return None
    (row,), (column,) = item.reduced_dims, item.target[0].names()
    ends = _ends(part.domain, made.dims, context)
    if ends is None or ends != _ends(item.domain, (row, column), context):
        return None
    if ends[1] != made.box[1] or added.box[0] != made.box[1]:
        return None
    here = (Affine.name(row), Affine.name(column))
    read = [load.indices for load in other.loads() if load.source.name == one.name]
    if not read or any(indices != here for indices in read):
        return None
    if not (_has_vectors(part.expr, made.dims[1], one.dtype) and _has_vectors(item.expr, column, one.dtype)):
        return None
    return JoinedStrips(one.name, other.name, part, item, *ends[0])


def _starts_with_nothing(stage: Stage) -> bool:
    return all(isinstance(part.expr, Const) and part.expr.value == 0 for part in stage.parts)


def _ends(domain: Domain, dims: Sequence[str], context: Domain) -> list[tuple[Affine, Affine]] | None:
    """Where a box begins and ends along dimensions; None where it is none of one form at each end.

    All points between are in it at all sizes of the context.
    """
    limits = {dim: domain.assume(context).limits(dim) for dim in domain.dims}
    found = {dim: each for dim, each in limits.items() if each is not None}
    if len(found) < len(domain.dims):
        return None
    whole = domain.has_all_of([found[dim] for dim in domain.dims], context)
    return [found[dim] for dim in dims] if whole else None


def _has_vectors(value: Expr, column: str, dtype: ScalarType) -> bool:
    """Whether a value at neighbouring columns is made of vectors, in which a row is read, and of numbers."""
    loads = loads_in(value)
    along = any(column in form.names() for load in loads for form in load.indices)
    return along and _is_arithmetic(value, column, dtype)


def _is_arithmetic(value: Expr, column: str, dtype: ScalarType) -> bool:
    match value:
        case Const():
            return value.dtype.kind in "iuf"
        case Parameter():
            return value.dtype == dtype
        case Load(_, indices):
            return value.dtype == dtype and _are_neighbours(indices, column)
        case Unary("-", operand):
            return value.dtype == dtype and _is_arithmetic(operand, column, dtype)
        case Binary(op, left, right) if op in ARITHMETIC and value.dtype == dtype:
            return _is_arithmetic(left, column, dtype) and _is_arithmetic(right, column, dtype)
        case _:
            return False


def _are_neighbours(indices: Sequence[Affine], column: str) -> bool:
    """Whether elements are the same for all columns, or neighbours in a row."""
    if computed_in(indices):
        return False
    moving = [form for form in indices if column in form.names()]
    if not moving:
        return True
    return moving == [*indices[-1:]] and column not in (indices[-1] - Affine.name(column)).names()
