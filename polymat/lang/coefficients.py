"""What recursive filters are given: coefficients as numbers or in arrays, a state, and an axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, LangError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import check_plain, described, dims
from polymat.lang.expr import Const, Expr, binary
from polymat.lang.firfilters import MAX_WRITTEN_TAPS
from polymat.lang.function import Source
from polymat.lang.operators import shown
from polymat.lang.table import Lookup, Table
from polymat.lang.types import Double, ScalarType, computed_with, promote, real_part, type_of_dtype

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Coefficients:
    """y[n] = sum over j of forward[j] x[n - j] - sum over k of back[k - 1] y[n - k]."""

    forward: tuple[Expr, ...]
    back: tuple[Expr, ...]
    sources: tuple[Source, ...] = ()

    @property
    def order(self) -> int:
        """How far back it looks."""
        return max(len(self.forward) - 1, len(self.back))

    @property
    def dtype(self) -> ScalarType:
        """The type of all of them together."""
        return reduce(promote, (each.dtype for each in (*self.forward, *self.back)))


def axis_of(function: str, signal: Source, axis: Any) -> int:
    """The dimension along which samples follow each other."""
    whole = isinstance(axis, int | np.integer) and not isinstance(axis, bool)
    if not whole or not -signal.rank <= axis < signal.rank:
        raise LangError(
            f"{function}: axis is an integer from {-signal.rank} to {signal.rank - 1} "
            f"for {described(signal)}, got {shown(axis)}",
            at=caller_location(),
        )
    return int(axis) % signal.rank


def numbers(values: Any, name: str) -> Array | Source:
    """Coefficients as numbers, or the vector that they are given in."""
    if isinstance(values, Source) and values.rank == 1 and values.shape[0].is_constant:
        if values.algebra == "":
            check_plain(values, "lfilter")
        if 0 < values.shape[0].const <= MAX_WRITTEN_TAPS:
            return values
    array = np.zeros(0) if isinstance(values, Source) else np.atleast_1d(np.asarray(values))
    if array.ndim == 1 and array.dtype.kind in "iuf" and 0 < len(array) <= MAX_WRITTEN_TAPS:
        return array.astype(np.float64)
    raise LangError(
        f"lfilter: {name} is a list of 1 to {MAX_WRITTEN_TAPS} real numbers, got {shown(values)}",
        at=caller_location(),
        hint="a Vector of them has a length that is a number" if isinstance(values, Source) else "",
    )


def kind_of(values: Any, signal: Source) -> ScalarType:
    """The type of coefficients: of arrays their own, of Python's numbers that of the signal."""
    if isinstance(values, Source):
        return computed_with(values.dtype)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        try:
            return computed_with(type_of_dtype(values.dtype))
        except DtypeError as error:
            raise error.at(caller_location()) from None
    return computed_with(real_part(signal.dtype)) if signal.dtype.kind in "fc" else Double


def coefficients_of(above: Array | Source, below: Array | Source, kind: ScalarType) -> Coefficients:
    """All coefficients divided by the first of those below."""
    if isinstance(below, np.ndarray):
        above = above / below[0] if isinstance(above, np.ndarray) else above
        first: Expr | None = None if isinstance(above, np.ndarray) else Const(float(below[0]), kind)
        back = [Const(value, kind) for value in (below[1:] / below[0]).tolist()]
        forward = [_divided(each, first) for each in _listed(above, kind)]
        return Coefficients(tuple(forward), tuple(back), _sources(above))
    first = below(0)
    forward, found = ([_divided(each, first) for each in _listed(v, kind)] for v in (above, below))
    return Coefficients(tuple(forward), tuple(found[1:]), _sources(above, below))


def _sources(*values: Array | Source) -> tuple[Source, ...]:
    return tuple(each for each in values if isinstance(each, Source))


def _divided(value: Expr, by: Expr | None) -> Expr:
    return value if by is None else binary("/", value, by)


def _listed(values: Array | Source, kind: ScalarType) -> list[Expr]:
    if isinstance(values, Source):
        return [values(k) for k in range(values.shape[0].const)]
    return [Const(value, kind) for value in values.tolist()]


def rows_of(rows: Any, signal: Source) -> tuple[int, Callable[[Expr], Coefficients]]:
    """How many sections there are, and the coefficients of the section that makes signal s, from 1 on."""
    if isinstance(rows, Source):
        shape = rows.shape
        if len(shape) != 2 or shape[1] != Affine((), 6) or not shape[0].is_constant or shape[0].const < 1:
            raise ShapeError(
                f"sosfilt: sections are rows of six numbers, got {described(rows)}",
                at=caller_location(),
                hint="a Matrix of them has a number of rows that is known",
            )

        def read(at: Expr) -> Coefficients:
            values = [binary("/", rows(at - 1, k), rows(at - 1, 3)) for k in (0, 1, 2, 4, 5)]
            return Coefficients(tuple(values[:3]), tuple(values[3:]), (rows,))

        return shape[0].const, read
    known, kind = _known_rows(rows), kind_of(rows, signal)

    def look(at: Expr) -> Coefficients:
        columns = [known[:, k] / known[:, 3] for k in (0, 1, 2, 4, 5)]
        tables = [Table.of(np.concatenate([[0.0], each]).astype(kind.dtype)) for each in columns]
        values = [Lookup(table, at, kind) for table in tables]
        return Coefficients(tuple(values[:3]), tuple(values[3:]))

    return len(known), look


def _known_rows(values: Any) -> Array:
    try:
        rows = np.asarray(values)
    except ValueError:  # rows of different lengths
        rows = np.zeros(0)
    if rows.ndim != 2 or rows.shape[1] != 6 or len(rows) == 0:
        raise ShapeError(
            f"sosfilt: sections are rows of six numbers, got {shown(values)}", at=caller_location()
        )
    if rows.dtype.kind not in "iuf":
        raise LangError(
            f"sosfilt: sections are real numbers, got {shown(values)} of {rows.dtype}", at=caller_location()
        )
    for n, row in enumerate(rows):
        if row[3] == 0:
            raise LangError(f"sosfilt: a0 of section {n} is 0", at=caller_location())
    return rows.astype(np.float64)


def state_of(function: str, zi: Any, signal: Source, wanted: tuple[Affine, ...]) -> Source:
    """The initial state, if it has the shape that SciPy's has."""
    if isinstance(zi, Source) and zi.shape == wanted:
        if zi.algebra == "":
            check_plain(zi, function)
        return zi
    got = described(zi) if isinstance(zi, Source) else shown(zi)
    kind = {1: "a Vector", 2: "a Matrix"}.get(len(wanted), "an Image")
    raise ShapeError(
        f"{function}: the state zi of {described(signal)} is {dims(wanted)}, got {got}",
        at=caller_location(),
        hint=f"declare it as {kind}; that of SciPy's {function}_zi has this shape for one channel",
    )
