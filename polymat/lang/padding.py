"""Arrays with a border around them, as `numpy.pad` makes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from operator import and_
from typing import Any, Literal, get_args, overload

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, LangError, ShapeError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import Result, check_mode, pointwise
from polymat.lang.condition import Condition
from polymat.lang.einsum import TensorResult
from polymat.lang.expr import Expr, Load, Variable, as_expr
from polymat.lang.function import Case, CaseEntry, Source
from polymat.lang.lengths import not_negative
from polymat.lang.makers import index_expression
from polymat.lang.matrix import MatrixAlgebra, MatrixResult
from polymat.lang.operators import shown
from polymat.lang.signal import SignalAlgebra, SignalResult
from polymat.lang.types import can_store

Mode = Literal["constant", "edge", "reflect", "symmetric", "wrap"]


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of one dimension of the result: where it is, and what it reads there; None: no element."""

    condition: Condition | None
    index: Affine | None


@overload
def pad(array: MatrixAlgebra, width: Any, mode: Mode = ..., value: Any = ...) -> MatrixResult: ...
@overload
def pad(array: SignalAlgebra, width: Any, mode: Mode = ..., value: Any = ...) -> SignalResult: ...
@overload
def pad(array: Source, width: Any, mode: Mode = ..., value: Any = ...) -> Result: ...
def pad(array: Any, width: Any, mode: Mode = "constant", value: Any = 0) -> Result:
    """The array with `width` more elements on either side of every dimension, as `numpy.pad`.

    width: an integer, a pair (before, after), or such a pair for each dimension.
    mode: what is there. "constant": `value`; "edge": the nearest element; "reflect" and "symmetric": the
    array mirrored, without and with the element at the edge; "wrap": the array once more.
    A call is refused where an array is too short for its border: "edge" takes one element, "symmetric" and
    "wrap" as many as the border is wide, "reflect" one more.  So it is where a dimension with a border would
    have a negative length, the valid part of a filter say.

    pad(x, 1, "edge")(i)  is  x(0) for i = 0,  x(i - 1) for 0 < i <= N,  x(N - 1) for i = N + 1
    """
    if not isinstance(array, Source) or array.rank == 0:
        what = array.label if isinstance(array, Source) else shown(array)
        raise ShapeError(f"pad: {what} is no array", at=caller_location())
    check_mode("pad", mode, get_args(Mode))
    widths = _widths(width, array)
    outside = _outside(value, array)

    def cases(*variables: Variable) -> Expr | list[CaseEntry]:
        sides = zip(variables, array.shape, widths, strict=True)
        each = [_parts(array, mode, variable, extent, *both) for variable, extent, both in sides]
        return list(_cases(array, product(*each), outside)) or array(*variables)

    shape = tuple(extent + sum(both) for extent, both in zip(array.shape, widths, strict=True))
    text = f"pad({array.label}, {width!r}, {mode!r})"
    stage = pointwise(_kind(array), (array, outside), shape, cases, text, array.dtype)
    sides_with = ((extent, max(both)) for extent, both in zip(array.shape, widths, strict=True) if any(both))
    longer = (extent - _read(mode, width) for extent, width in sides_with)
    stage.requires = not_negative(longer, array.sizes)
    return stage


def _outside(value: Any, array: Source) -> Expr:
    """The value of the border, which has to be one that the array can hold."""
    outside = as_expr(value, caller_location())
    if not can_store(outside.dtype, array.dtype):
        raise DtypeError(
            f"pad: the value {outside} is no {array.dtype}, the type of {array.label}", at=caller_location()
        )
    return outside


def _parts(
    array: Source, mode: Mode, variable: Variable, extent: Affine, before: int, after: int
) -> list[_Part]:
    """The array along one dimension and the borders that it has there, each with its condition."""
    leaves: dict[str, Expr] = {size.name: size for size in array.sizes}
    index = Affine.name(variable.name) - before
    here, end = (index_expression(form, leaves | {variable.name: variable}) for form in (index, extent))
    inside = [Condition(here, ">=", 0)] * bool(before) + [Condition(here, "<", end)] * bool(after)
    found = [_Part(reduce(and_, inside) if inside else None, index)]
    left, right = _beyond(mode, index, extent)
    found += [_Part(Condition(here, "<", 0), left)] * bool(before)
    found += [_Part(Condition(here, ">=", end), right)] * bool(after)
    return found


def _kind(array: Source) -> type[MatrixResult] | type[SignalResult] | type[TensorResult]:
    """A padded matrix is a matrix, a padded signal a signal."""
    if isinstance(array, SignalAlgebra):
        return SignalResult
    return MatrixResult if isinstance(array, MatrixAlgebra) else TensorResult


def _cases(array: Source, blocks: Any, outside: Expr) -> Iterator[CaseEntry]:
    """What each block of the result reads, the inner one first; nothing where there is no border."""
    for block in blocks:
        conditions = [part.condition for part in block if part.condition is not None]
        forms = [part.index for part in block if part.index is not None]
        element = Load(array, tuple(forms), array.dtype, caller_location(), array.sizes)
        if conditions:
            yield Case(reduce(and_, conditions), element if len(forms) == len(block) else outside)


def _read(mode: Mode, width: int) -> int:
    """How many elements a dimension has at least whose border is so wide on one side."""
    return {"constant": 0, "edge": 1, "reflect": width + 1, "symmetric": width, "wrap": width}[mode]


def _beyond(mode: Mode, index: Affine, extent: Affine) -> tuple[Affine | None, Affine | None]:
    """What is read where an index is below 0, and where it is not below the extent."""
    mirrored = index.scale(-1)
    match mode:
        case "constant":
            return None, None
        case "edge":
            return Affine(), extent - 1
        case "reflect":
            return mirrored, mirrored + extent.scale(2) - 2
        case "symmetric":
            return mirrored - 1, mirrored + extent.scale(2) - 1
        case "wrap":
            return index + extent, index - extent


def _widths(width: Any, array: Source) -> list[tuple[int, int]]:
    """The elements before and after each dimension."""
    given = np.asarray(width) if isinstance(width, int | np.integer | Sequence | np.ndarray) else None
    if (
        given is None
        or given.dtype.kind not in "iu"
        or given.shape not in ((), (2,), (1, 2), (array.rank, 2))
    ):
        raise LangError(
            f"pad: the width is {shown(width)}; expected an integer, a pair, or a pair for each of "
            f"{counted(array.rank, 'dimension')}",
            at=caller_location(),
        )
    if (given < 0).any():
        raise LangError(f"pad: the width {shown(width)} is negative", at=caller_location())
    return [(int(before), int(after)) for before, after in np.broadcast_to(given, (array.rank, 2))]
