"""Parts of whole arrays: integers, slices, new axes, in brackets as NumPy writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import BoundsError, LangError, ShapeError, caller_location, counted
from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.algebra import Result, check_plain, described, merged_sizes, pointwise
from polymat.lang.broadcasting import ONE
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load, Parameter, Variable
from polymat.lang.function import Source
from polymat.lang.indices import as_affine
from polymat.lang.interval import size_parameters
from polymat.lang.lengths import not_negative
from polymat.lang.operators import indexed, shown
from polymat.lang.slicing import SliceStride, from_the_start, stride_of
from polymat.lang.traverse import walk
from polymat.lang.types import Bool
from polymat.lang.whole import makers_of


@dataclass(frozen=True, slots=True)
class _Fixed:
    """One index along a dimension, which the result has not."""

    index: Affine
    parameters: tuple[Parameter, ...]


_Pick = _Fixed | SliceStride | None  # None: a new dimension, of extent 1


@later.subscripted.given
def subscripted(source: Source, index: Any) -> Result:
    """The part of an array that brackets select."""
    items = index if isinstance(index, tuple) else (index,)
    text = f"{source.label}[{', '.join(map(_item_text, items))}]"
    if source.algebra == "":
        check_plain(source, text)
    picks = _picks(source, items)
    chosen = [pick for pick in picks if pick is not None]
    parameters = tuple(p for pick in chosen for p in pick.parameters)
    shape = tuple(_extent(pick) for pick in picks if not isinstance(pick, _Fixed))

    def value(*at: Variable) -> Expr:
        free, forms = iter(at), []
        for pick in picks:
            if isinstance(pick, _Fixed):
                forms.append(pick.index)
                continue
            variable = next(free)
            if pick is not None:
                forms.append(Affine.name(variable.name).scale(pick.step) + pick.start)
        used = {name for form in forms for name in form.names()}
        sizes = tuple(p for p in merged_sizes(source, *parameters) if p.name in used)
        return Load(source, tuple(forms), source.dtype, caller_location(), sizes)

    result: Result = pointwise(makers_of((source,)).computed, (source, *parameters), shape, value, text)
    result.requires = _within(source, chosen, parameters)
    return result


def _extent(pick: SliceStride | None) -> Affine:
    return ONE if pick is None else pick.length


def _picks(source: Source, items: tuple[Any, ...]) -> list[_Pick]:
    """What each item selects, with whole dimensions for `...` and for those that are not mentioned."""
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > source.rank:
        has, got = counted(source.rank, "dimension"), counted(used, "index", "indices")
        raise ShapeError(f"{described(source)} has {has}, got {got}", at=caller_location())
    gaps = sum(item is Ellipsis for item in items)
    if gaps > 1:
        raise LangError(f"{source.label}: brackets have one ... at most", at=caller_location())
    filled: list[Any] = [slice(None)] * (source.rank - used)
    where = next((k for k, item in enumerate(items) if item is Ellipsis), len(items))
    extents = iter(source.shape)
    listed = [*items[:where], *filled, *items[where + gaps :]]
    return [None if item is None else _pick(source, item, next(extents)) for item in listed]


def _pick(source: Source, item: Any, extent: Affine) -> _Fixed | SliceStride:
    if isinstance(item, slice):
        return stride_of(source, item, extent)
    whole = isinstance(item, int | np.integer) and not isinstance(item, bool)
    if not whole and not isinstance(item, Expr):
        raise LangError(
            f"{source.label}[{_item_text(item)}]: brackets take integers, slices, None and ...",
            at=caller_location(),
            hint=_instead(source, item),
        )
    if isinstance(item, Expr) and any(isinstance(node, Variable) for node in walk(item)):
        raise LangError(
            f"{source.label} is read with parentheses, not brackets, at indices that vary",
            at=caller_location(),
            hint=f"{indexed(source)} in a definition",
        )
    form = from_the_start(as_affine(item, caller_location()), source, extent)
    position = extent + form if form.is_constant and form.const < 0 else form
    room = extent - position - 1
    if any(each.is_constant and each.const < 0 for each in (position, room)):
        raise BoundsError(
            f"{source.label}[{_item_text(item)}]: {form} is outside a dimension of extent {extent}",
            at=caller_location(),
        )
    return _Fixed(position, size_parameters(item))


def _instead(source: Source, item: Any) -> str:
    """What is written for NumPy's selection by an array."""
    if not isinstance(item, Source):
        return ""
    if item.dtype == Bool:
        return f"pm.where(condition, {source.label}, 0) keeps what a condition selects"
    return f"nothing is read at indices that an array holds: index with the result of {item.label} in NumPy"


def _within(
    source: Source, chosen: list[_Fixed | SliceStride], parameters: tuple[Parameter, ...]
) -> tuple[Condition, ...]:
    """The conditions on sizes that keep what is selected within the array."""
    lengths: list[Affine] = []
    for pick, extent in zip(chosen, source.shape, strict=True):
        if isinstance(pick, _Fixed):
            lengths += [pick.index, extent - pick.index - 1]
        elif extent.is_constant and pick.length.is_constant and pick.start.is_constant:
            continue  # clamped
        elif pick.step > 0:
            lengths += [pick.start, pick.length, extent - pick.end]
        else:
            lengths += [extent - pick.start - 1, pick.length, pick.end + 1]
    return not_negative(lengths, (*source.sizes, *parameters))


def _item_text(item: Any) -> str:
    if item is Ellipsis:
        return "..."
    if not isinstance(item, slice):
        return str(item) if item is None or isinstance(item, int) else shown(item)
    return slice_text(item)


def slice_text(index: slice) -> str:
    """A slice as it is written: `1:-1`, `::2`."""
    parts = ["" if part is None else shown(part) for part in (index.start, index.stop)]
    return ":".join(parts if index.step is None else [*parts, shown(index.step)])
