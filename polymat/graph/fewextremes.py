"""Minima and maxima of a few terms, of a known number, written out: points are independent of each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage, loads_of
from polymat.lang.affine import Affine
from polymat.lang.computed import substituted
from polymat.lang.expr import Const, Expr, binary
from polymat.lang.neutral import neutral
from polymat.lang.reduction import EXTREMES
from polymat.lang.types import STORED

FEW, MORE = 4, 9
"""Terms, and those of elements that lie apart along the rows of the result: three times three of a window."""
_STEPS = (2, 3, 4, 8)
"""How far apart they lie where compilers take vectors of them apart by shuffles."""


def write_out_extremes(pipeline: Pipeline) -> Pipeline:
    """Compute minima and maxima of two to four terms, or nine of every few-th element, as one value.

    before:  m(i) over [i, k], 0 <= k < 3:  m(i) max= a(i, k)
    after:   m(i) = max(max(a(i, 0), a(i, 1)), a(i, 2)), in vectors along i
    """
    return pipeline.with_stages(tuple(map(_written_out, pipeline.stages)))


def _written_out(stage: Stage) -> Stage:
    if stage.op not in EXTREMES or stage.dtype in STORED or stage.dtype.kind not in "iuf" or not stage.dims:
        return stage
    if stage.reads_itself or stage.segments is not None:
        return stage
    if (len(stage.accumulations), len(stage.parts)) != (1, 1):
        return stage
    (item,), (start,) = stage.accumulations, stage.parts
    if item.expr.dtype != stage.dtype or not item.is_aligned or not _has_few(item):
        return stage
    if not all(_is_everywhere(stage, item, point) for point in _points(item)):
        return stage
    terms = [_term(stage, item, point) for point in _points(item)]
    begins = start.expr
    if not isinstance(begins, Const) or begins.value != neutral(stage.operation, stage.dtype).value:
        terms.insert(0, begins)
    value = reduce(lambda one, other: binary(stage.operation.value, one, other), terms)
    return replace(stage, op=None, accumulations=(), parts=(replace(start, expr=value, at=item.at),))


def _has_few(item: Accumulation) -> bool:
    sizes = [high - low + 1 for low, high in _ranges(item)]
    most = MORE if _lies_apart(item) else FEW
    return all(size.is_constant for size in sizes) and 2 <= prod(size.const for size in sizes) <= most


def _lies_apart(item: Accumulation) -> bool:
    """Whether vectors along the rows of the result take every few-th element.

    Reductions of such go element by element; those of neighbours have vectors of their own.
    """
    inner = _own(item)[-1]
    forms = [form for load in loads_of(item) for form in load.indices if inner in form.names()]
    steps = {form.coefficient(inner) for form in forms}
    return not steps.isdisjoint(_STEPS) and steps <= {1, *_STEPS}


def _ranges(item: Accumulation) -> list[tuple[Affine, Affine]]:
    """The bounds of what is reduced."""
    reduced = item.reduced_dims
    return [bounds for dim, bounds in zip(item.dims, item.box, strict=True) if dim in reduced]


def _points(item: Accumulation) -> Iterator[tuple[Affine, ...]]:
    """The places of the terms, in the order of loops."""
    ranges = _ranges(item)
    for steps in product(*(range((high - low).const + 1) for low, high in ranges)):
        yield tuple(low + step for (low, _), step in zip(ranges, steps, strict=True))


def _is_everywhere(stage: Stage, item: Accumulation, point: tuple[Affine, ...]) -> bool:
    """Whether every result has a term at this place."""
    domain = item.domain
    for dim, value in zip(item.reduced_dims, point, strict=True):
        domain = domain.sliced(dim, value)
    return domain.onto(_own(item)).renamed(stage.dims).equals(stage.domain)


def _own(item: Accumulation) -> list[str]:
    """The dimensions of an aligned accumulation that are those of the result, in its order."""
    return [name for form in item.target for name in form.names()]


def _term(stage: Stage, item: Accumulation, point: tuple[Affine, ...]) -> Expr:
    own = zip(_own(item), map(Affine.name, stage.dims), strict=True)
    return substituted(item.expr, {**dict(own), **dict(zip(item.reduced_dims, point, strict=True))})
