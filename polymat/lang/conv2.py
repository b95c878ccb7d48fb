"""Convolution and correlation of two dimensions, zeros outside, as SciPy has them."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from polymat.errors import LangError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    check_mode,
    described,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    span,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Variable, binary
from polymat.lang.firfilters import Mode, window
from polymat.lang.function import Case, Source
from polymat.lang.makers import index_expression
from polymat.lang.mathfunctions import Conj
from polymat.lang.matrix import MatrixReduction, MatrixResult
from polymat.lang.operators import shown
from polymat.lang.reduction import Op, Reduce
from polymat.lang.table import Lookup, Table
from polymat.lang.types import computed_with, type_of_dtype


def convolve2d(image: Source, taps: Any, mode: Mode = "full") -> MatrixReduction:
    """y[i, j] = sum over r, s of h[r, s] x[i - r, j - s], as `scipy.signal.convolve2d` with zeros outside.

    image: of rank 2.  taps: of rank 2, an array of numbers or a matrix, not larger than the image.
    mode: "full", "same" (its middle part, as large as the image) or "valid" (without zeros).
    """
    return _filtered("convolve2d", image, taps, mode, turned=False)


def correlate2d(image: Source, taps: Any, mode: Mode = "full") -> MatrixReduction:
    """y[i, j] = sum over r, s of conj(h[r, s]) x[i - R + 1 + r, j - S + 1 + s], as `correlate2d` of SciPy.

    R x S are the extents of the taps, an array of numbers or a matrix; modes as of `convolve2d`.
    """
    return _filtered("correlate2d", image, taps, mode, turned=True)


def _filtered(function: str, image: Any, taps: Any, mode: Mode, *, turned: bool) -> MatrixReduction:
    """The part that a mode keeps of the sum over taps, turned by 180 degrees for a correlation."""
    _check_rank_two(function, "image", image)
    weights = taps if isinstance(taps, Source) else _numbers(function, taps, image)
    _check_rank_two(function, "taps", weights)
    check_mode(function, mode, ("full", "same", "valid"))
    parts = [window(image, n, count, mode) for n, count in zip(image.shape, weights.shape, strict=True)]
    if turned and mode == "same":  # of an even number of taps the other middle, as SciPy has it
        middles = [count.floordiv(2) for count in weights.shape]
        parts = [(middle, length) for middle, (_, length) in zip(middles, parts, strict=True)]
    sizes = merged_sizes(image, weights)
    i, j, r, s = variables = fresh_variables(4, names_in((image, weights)))
    at = [
        Affine.name(out.name) - Affine.name(tap.name) + start
        for out, tap, (start, _) in zip((i, j), (r, s), parts, strict=True)
    ]
    leaves: dict[str, Expr] = {p.name: p for p in sizes} | {each.name: each for each in variables}
    tap_at = [Affine.name(each.name) for each in (r, s)]
    if turned:
        tap_at = [count - 1 - form for count, form in zip(weights.shape, tap_at, strict=True)]
    pixel, weight = (
        source(*(index_expression(form, leaves) for form in forms))
        for source, forms in ((image, at), (weights, tap_at))
    )
    value = binary("*", pixel, Conj(weight) if turned and weight.dtype.kind == "c" else weight)
    outer = [span(length, sizes) for _, length in parts]
    inner = [*outer, *(span(count, sizes) for count in weights.shape)]
    stage = MatrixReduction(([i, j], outer), (variables, inner), value.dtype)
    entry = Reduce(stage(i, j), value, Op.Sum)
    inside = [
        condition
        for form, extent in zip(at, image.shape, strict=True)
        for condition in (
            Condition(index_expression(form, leaves), ">=", 0),
            Condition(index_expression(form, leaves), "<", index_expression(extent, leaves)),
        )
    ]
    stage.defn = [entry if mode == "valid" else Case(reduce(and_, inside), entry)]
    stage.text = f"{function}({image.label}, {mode!r})"
    return stage


def _check_rank_two(function: str, name: str, source: Any) -> None:
    if not isinstance(source, Source) or source.rank != 2:
        what = described(source) if isinstance(source, Source) else repr(source)
        raise ShapeError(f"{function}: the {name} {what} is not of rank 2", at=caller_location())


def _numbers(function: str, taps: Any, image: Source) -> Source:
    """Taps that are known, as an array that the pipeline computes from a table."""
    array = np.asarray(taps)
    if array.ndim != 2 or array.dtype.kind not in "iufc" or array.size == 0:
        raise LangError(
            f"{function}: the taps are numbers in rows, or an array of rank 2; got {shown(taps)}",
            at=caller_location(),
        )
    if not isinstance(taps, np.ndarray) and array.dtype.kind != "c":
        array = array.astype(computed_with(image.dtype).dtype if image.dtype.kind in "fc" else "float64")
    table = Table.of(array.astype(type_of_dtype(array.dtype).dtype).ravel())
    rows, columns = array.shape
    shape = (Affine((), rows), Affine((), columns))

    def value(r: Variable, s: Variable) -> Expr:
        return Lookup(table, columns * r + s, table.dtype)

    return pointwise(MatrixResult, (), shape, value, f"({rows} x {columns} constants)")
