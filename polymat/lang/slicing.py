"""What a Python slice selects of a dimension whose length may be symbolic."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import LangError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Parameter, Variable
from polymat.lang.function import Source
from polymat.lang.indices import as_affine
from polymat.lang.interval import size_parameters
from polymat.lang.lengths import never_positive
from polymat.lang.operators import shown
from polymat.lang.traverse import walk


@dataclass(frozen=True, slots=True)
class SliceStride:
    """`length` positions start, start + step, ...; `parameters` are those of the slice's bounds.

    end: the bound that is not reached.
    """

    start: Affine
    step: int
    length: Affine
    parameters: tuple[Parameter, ...] = ()
    end: Affine = Affine()


def stride_of(source: Source, index: slice, extent: Affine) -> SliceStride:
    """Read a slice along a dimension of a source.

    Constants are clamped as Python does when the length is constant too; a symbolic bound or length is
    taken at its word, and leaving the source is found with the other accesses.
    """
    step = _step(index.step)
    start, stop = (_bound(bound, source, extent) for bound in (index.start, index.stop))
    if all(form is None or form.is_constant for form in (start, stop, extent)):
        return _constant(start, stop, step, extent.const)
    first, last = _position(start, extent), _position(stop, extent)
    if step > 0:
        first, last = Affine() if first is None else first, extent if last is None else last
        length = (last - first + (step - 1)).floordiv(step)
    else:
        first, last = extent - 1 if first is None else first, Affine((), -1) if last is None else last
        length = (first - last + (-step - 1)).floordiv(-step)
    if length.is_constant and length.const < 0:
        length = Affine()
    return SliceStride(first, step, length, size_parameters(index.start, index.stop), last)


def _constant(start: Affine | None, stop: Affine | None, step: int, extent: int) -> SliceStride:
    first, last = (None if form is None else form.const for form in (start, stop))
    chosen = range(*slice(first, last, step).indices(extent))
    return SliceStride(Affine((), chosen.start), step, Affine((), len(chosen)))


def _position(bound: Affine | None, extent: Affine) -> Affine | None:
    """Count a negative integer from the end."""
    if bound is not None and bound.is_constant and bound.const < 0:
        return extent + bound
    return bound


def _bound(value: Any, source: Source, extent: Affine) -> Affine | None:
    if value is None:
        return None
    if isinstance(value, Expr) and any(isinstance(node, Variable) for node in walk(value)):
        raise LangError(
            f"the slice bound {shown(value)} of {source.label} depends on a variable",
            at=caller_location(),
            hint=f"index {source.label} in a definition, as {source.label}(i)",
        )
    return from_the_start(as_affine(value, caller_location()), source, extent)


def from_the_start(form: Affine, source: Source, extent: Affine) -> Affine:
    """A place in brackets; that of sizes counts from the start, even where it is below 0 for most of them."""
    if not never_positive(form):
        return form
    behind = extent + form
    raise LangError(
        f"{form} in brackets of {source.label} counts from the start, as sizes do, and is never above 0",
        at=caller_location(),
        hint="leave it out for all elements" if behind.is_constant else f"{behind} counts from the end",
    )


def _step(value: Any) -> int:
    if value is None:
        return 1
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value != 0:
        return int(value)
    raise LangError(
        f"the step of a slice is an integer other than 0, got {shown(value)}", at=caller_location()
    )
