"""Reductions of whole arrays along some of their dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, LangError, ShapeError, caller_location, counted
from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    check_plain,
    described,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    span,
)
from polymat.lang.broadcasting import ONE
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast, truth
from polymat.lang.expr import Const, Expr, as_expr, binary
from polymat.lang.function import Source
from polymat.lang.lengths import at_least
from polymat.lang.makers import index_expression
from polymat.lang.mathfunctions import Sqrt
from polymat.lang.operators import shown
from polymat.lang.reduction import Op, Reduce
from polymat.lang.types import (
    Bool,
    Double,
    Long,
    ScalarType,
    check_type,
    computed_with,
    real_part,
    summed_type,
)
from polymat.lang.whole import lifted, makers_of


@dataclass(frozen=True, slots=True)
class _Along:
    """The dimensions of an array that a reduction goes over, in order, and whether they stay."""

    source: Source
    axes: tuple[int, ...]
    keepdims: bool
    text: str

    @property
    def extents(self) -> tuple[Affine, ...]:
        """Of the dimensions that are reduced."""
        return tuple(self.source.shape[axis] for axis in self.axes)

    @property
    def kept(self) -> tuple[int, ...]:
        """The other dimensions."""
        return tuple(axis for axis in range(self.source.rank) if axis not in self.axes)

    def count(self) -> Expr:
        """How many elements are reduced to one."""
        leaves: dict[str, Expr] = {size.name: size for size in self.source.sizes}
        factors = (index_expression(extent, leaves) for extent in self.extents)
        return reduce(lambda one, other: binary("*", one, other), factors, as_expr(1))


def _along(source: Source, method: str, axis: Any, keepdims: object) -> _Along:
    if not isinstance(keepdims, bool):
        raise LangError(f"{method}: keepdims is True or False, got {shown(keepdims)}", at=caller_location())
    text = f"{source.label}.{method}({'' if axis is None else f'axis={axis!r:.40}'})"
    if source.algebra == "":
        check_plain(source, text)
    chosen = range(source.rank) if axis is None else [axis] if _is_axis(axis) else axis
    if not isinstance(chosen, range | list | tuple) or not all(map(_is_axis, chosen)):
        raise LangError(
            f"{method}: the axis is an integer, several in a tuple, or None, got {shown(axis)}",
            at=caller_location(),
        )
    axes = sorted(_from_first(source, method, each) for each in chosen)
    if len(set(axes)) < len(axes):
        raise ShapeError(f"{text}: an axis is there twice", at=caller_location())
    return _Along(source, tuple(axes), keepdims, text)


def dimension_of(source: Source, method: str, axis: Any) -> int:
    """The one dimension that a method goes along: of one there is, where none is named."""
    if _is_axis(axis) or (axis is None and source.rank == 1):
        return _along(source, method, axis, False).axes[0]
    none = "without an axis takes all elements in a row"
    got = none if axis is None else f"takes an integer for its axis, got {shown(axis)}"
    raise LangError(
        f"{method} of {described(source)} {got}", at=caller_location(), hint="one of its axes, axis=0 say"
    )


def _is_axis(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _from_first(source: Source, method: str, axis: Any) -> int:
    """An axis that may be counted from the last one, by its number from the first."""
    if not -source.rank <= axis < source.rank:
        raise ShapeError(
            f"{method}: {described(source)} has {counted(source.rank, 'dimension')}, there is no axis {axis}",
            at=caller_location(),
            hint=f"axes are 0 to {source.rank - 1}, or -1 for the last" if source.rank else "it is a number",
        )
    return int(axis) % source.rank


def _reduced(
    along: _Along, op: Op, dtype: ScalarType, term: Callable[[Expr], Expr] | None = None, init: Any = None
) -> Any:
    """The reduction of `term` of every element, without the dimensions that it goes over."""
    source = along.source
    sizes = merged_sizes(source)
    at = fresh_variables(source.rank, names_in((source,)))
    spans = [span(extent, sizes) for extent in source.shape]
    order = (*along.kept, *along.axes)
    kept, kept_spans = ([each[axis] for axis in along.kept] for each in (at, spans))
    domain = ([at[axis] for axis in order], [spans[axis] for axis in order])
    value: Expr = source(*at) if term is None else term(source(*at))
    starts = {} if init is None else {"init": init}
    stage = makers_of((source,)).accumulated((kept, kept_spans), domain, dtype, **starts)
    stage.defn = [Reduce(stage(*kept), value, op)]
    stage.text = along.text
    return stage


def _shaped(along: _Along, stage: Result, value: Callable[[Expr], Expr] | None = None) -> Result:
    """A reduction, or `value` of it, with dimensions of extent 1 where they are to be kept."""
    if value is None and not along.keepdims:
        return stage
    source, kept = along.source, along.kept
    shape = tuple(ONE if axis in along.axes else extent for axis, extent in enumerate(source.shape))
    if not along.keepdims:
        shape = tuple(source.shape[axis] for axis in kept)

    def element(*at: Any) -> Expr:
        found = stage(*(at[axis] for axis in kept)) if along.keepdims else stage(*at)
        return found if value is None else value(found)

    operands: Sequence[Source | Expr] = (stage, along.count()) if value else (stage,)
    result: Result = pointwise(makers_of((source,)).computed, operands, shape, element, along.text)
    return result


@later.summed.given
def summed(source: Source, axis: Any, keepdims: bool, dtype: Any = None) -> Result:
    """Sums, in 64 bits of integers."""

    def total(elements: Source) -> Result:
        along = _along(elements, "sum", axis, keepdims)
        return _shaped(along, _reduced(along, Op.Sum, summed_type(elements.dtype)))

    return _in_type(dtype, source, total)


def _in_type(dtype: Any, source: Source, reduced: Callable[[Source], Result]) -> Result:
    """What is reduced of the elements in a type, in that type; in NumPy's where none is given."""
    if dtype is None:
        return reduced(source)
    found = reduced(source.astype(dtype))
    return found if found.dtype == dtype else found.astype(dtype)


@later.multiplied.given
def multiplied(source: Source, axis: Any, keepdims: bool, dtype: Any = None) -> Result:
    """Products, in 64 bits of integers."""

    def product(elements: Source) -> Result:
        along = _along(elements, "prod", axis, keepdims)
        return _shaped(along, _reduced(along, Op.Mul, summed_type(elements.dtype)))

    return _in_type(dtype, source, product)


@later.mean.given
def mean(source: Source, axis: Any, keepdims: bool, dtype: Any = None) -> Result:
    """Means, of integers in Double."""
    if dtype is not None and check_type(dtype, "mean: dtype=", caller_location()).kind not in "fc":
        raise DtypeError(
            f"mean: dtype={dtype}: means are no integers", at=caller_location(), hint="pm.Double"
        )
    return _in_type(dtype, source, lambda elements: _mean(_along(elements, "mean", axis, keepdims)))


def _mean(along: _Along, less: int = 0) -> Result:
    """The sum of the elements by their number less some."""
    dtype = computed_with(along.source.dtype) if along.source.dtype.kind in "fc" else Double
    total = _reduced(along, Op.Sum, dtype, lambda value: Cast(dtype, value))
    number = along.count() if less == 0 else binary("max", binary("-", along.count(), less), 0)
    return _shaped(along, total, lambda value: binary("/", value, Cast(real_part(dtype), number)))


@later.variance.given
def variance(source: Source, axis: Any, ddof: Any, keepdims: bool) -> Result:
    """Means of squared distances from the mean, by their number less `ddof`."""
    along = _along(source, "var", axis, keepdims)
    if not _is_axis(ddof):
        raise LangError(f"var: ddof is an integer, got {shown(ddof)}", at=caller_location())
    if source.dtype.kind == "c":
        raise DtypeError(f"{along.text} is not defined for complex values", at=caller_location())
    middle = _mean(_Along(source, along.axes, True, f"{source.label}.mean()"))
    apart = lifted(_squared_distance, (source, middle), f"({source.label} - mean)**2")
    return _mean(_Along(apart, along.axes, keepdims, along.text), int(ddof))


def _squared_distance(value: Expr, middle: Expr) -> Expr:
    return binary("**", binary("-", value, middle), 2)


@later.deviation.given
def deviation(source: Source, axis: Any, ddof: Any, keepdims: bool) -> Result:
    """Square roots of the variances."""
    return Sqrt(variance(source, axis, ddof, keepdims))


@later.extreme.given
def extreme(source: Source, method: str, axis: Any, keepdims: bool) -> Result:
    """The smallest or the largest elements."""
    along = _along(source, method, axis, keepdims)
    stage = _reduced(along, Op.Min if method == "min" else Op.Max, computed_with(source.dtype))
    return _with_elements(along, stage)


@later.position.given
def position(source: Source, method: str, axis: Any, keepdims: bool) -> Result:
    """The indices of the first smallest or largest elements."""
    if axis is not None and not _is_axis(axis):
        raise LangError(f"{method}: the axis is an integer or None, got {shown(axis)}", at=caller_location())
    along = _along(source, method, axis, keepdims)
    stage = _reduced(along, Op.ArgMin if method == "argmin" else Op.ArgMax, Long)
    return _with_elements(along, stage)


def _with_elements(along: _Along, stage: Result) -> Result:
    """Refuse reductions of nothing, which have no smallest element."""
    for extent in along.extents:
        if extent == Affine():
            raise ShapeError(
                f"{along.text}: {described(along.source)} has no elements along a dimension",
                at=caller_location(),
            )
    stage.requires = at_least(1, along.extents, along.source.sizes)
    return _shaped(along, stage)


@later.holds.given
def holds(source: Source, method: str, axis: Any, keepdims: bool) -> Result:
    """Whether some, or all, elements are not 0, or how many."""
    along = _along(source, method, axis, keepdims)

    def is_true(value: Expr) -> Expr:
        return truth(Condition(value, "!=", 0))

    if method == "count":
        return _shaped(along, _reduced(along, Op.Sum, Long, lambda value: Cast(Long, is_true(value))))
    op, start = (Op.Max, 0) if method == "any" else (Op.Min, 1)
    return _shaped(along, _reduced(along, op, Bool, is_true, Const(start, Bool)))
