"""FIR filters: sums of products of taps and samples, and what their taps may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from operator import and_
from typing import Any, Literal, TypeAlias

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, LangError, ShapeError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    check_mode,
    check_plain,
    described,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    read,
    scalar,
    span,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Variable, binary
from polymat.lang.function import Case, CaseEntry, Source
from polymat.lang.makers import Makers, index_expression
from polymat.lang.operators import is_number, shown
from polymat.lang.reduction import Op, Reduce
from polymat.lang.table import Lookup, Table
from polymat.lang.types import Double, Float, ScalarType, computed_with, type_of_dtype

FEW_TAPS = 8  # of real numbers, which are written out; sums of more run on register blocks
MAX_WRITTEN_TAPS = 64  # of other types
REAL = (Float, Double)


@dataclass(frozen=True, slots=True)
class Strided:
    """`count` taps of a source: first, first + step, ..."""

    source: Source
    first: int
    step: int
    count: Affine


Mode: TypeAlias = Literal["valid", "causal", "same", "full"]
MODES = ("valid", "causal", "same", "full")


def fir(make: Makers[Any], signal: Source, taps: Any, mode: Any) -> Any:
    """A signal filtered with taps: numbers, a vector or a signal."""
    check_mode("fir", mode, MODES)
    count = taps_count(taps)
    label = taps_label(taps)
    start, length = window(signal, signal.shape[-1], count, mode)
    if not are_written(signal, taps):
        source = taps_source(make, taps, signal.dtype)
        stage = filtered_sum(make, signal, Strided(source, 0, 1, count), start, length)
    else:
        stage = written_out(make, signal, written_taps(taps), start.const, length)
    stage.text = f"{signal.label}.fir({label}, {mode!r})"
    return stage


def are_written(signal: Source, taps: Any) -> bool:
    """Whether taps become constants of the code: those that are numbers, and few."""
    if isinstance(taps, Source) or signal.rank > 1:
        return False
    if all(map(is_number, taps)) and not all(map(_is_finite, taps)):
        return False  # zeros around the signal would be multiplied by them
    kind = (
        taps.dtype
        if isinstance(taps, np.ndarray)
        else np.dtype("float64" if signal.dtype == Double else "float32")
    )
    blocks = signal.dtype in REAL and kind.name == signal.dtype.dtype
    return len(taps) <= (FEW_TAPS if blocks else MAX_WRITTEN_TAPS)


def _is_finite(number: Any) -> bool:
    return bool(number == number and abs(number) != math.inf)


def constant(make: Makers[Any], values: Any, what: str, default: ScalarType = Double) -> Any:
    """A signal of numbers that are known; those of Python take the type `default`."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iufc":
        raise LangError(
            f"{what}: the values are a sequence of numbers, got {shown(values)}", at=caller_location()
        )
    if not isinstance(values, np.ndarray) and array.dtype.kind != "c":
        array = array.astype(computed_with(default).dtype if default.kind in "fc" else "float64")
    try:
        table = Table.of(array.astype(type_of_dtype(array.dtype).dtype))
    except DtypeError as error:
        raise error.at(caller_location()) from None

    def value(i: Variable) -> Expr:
        return Lookup(table, i, table.dtype)

    return pointwise(make.computed, (), (Affine((), len(array)),), value, f"({len(array)} constants)")


def taps_count(taps: Any) -> Affine:
    """How many taps there are; refuses what are no taps."""
    if isinstance(taps, Source):
        if taps.rank != 1:
            raise ShapeError(
                f"fir: the taps {described(taps)} have {taps.rank} dimensions, not one", at=caller_location()
            )
        if taps.algebra == "":
            check_plain(taps, "fir")
        return taps.shape[0]
    if not isinstance(taps, list | tuple | np.ndarray) or (isinstance(taps, np.ndarray) and taps.ndim != 1):
        raise LangError(
            f"fir: the taps are a Vector, a Signal or a sequence of numbers, got {shown(taps)}",
            at=caller_location(),
        )
    if len(taps) == 0:
        raise ShapeError("fir: there are no taps", at=caller_location())
    return Affine((), len(taps))


def taps_source(make: Makers[Any], taps: Any, dtype: ScalarType) -> Source:
    """The taps as something that can be indexed."""
    return taps if isinstance(taps, Source) else constant(make, taps, "fir", dtype)


def taps_label(taps: Any) -> str:
    return taps.label if isinstance(taps, Source) else counted(len(taps), "tap")


def window(signal: Source, length: Affine, count: Affine, mode: Mode) -> tuple[Affine, Affine]:
    """Which results of the whole convolution a mode keeps along a dimension: the first, and how many."""
    match mode:
        case "causal":
            return Affine(), length
        case "full":
            return Affine(), length + count - 1
        case "same":
            return (count - 1).floordiv(2), length
        case "valid":
            kept = length - count + 1
            if kept.is_constant and kept.const < 1:
                raise ShapeError(
                    f"fir: {described(signal)} is shorter than its {counted(count, 'tap')}",
                    at=caller_location(),
                    hint="mode='causal' keeps the length",
                )
            return count - 1, kept


def filtered_sum(make: Makers[Any], signal: Source, taps: Strided, start: Affine, length: Affine) -> Any:
    """y(i) = sum over k of h(k) x(start + i - k), where x has that sample, i < length, in every channel."""
    sizes = merged_sizes(signal, taps.source)
    *before, i, k = fresh_variables(signal.rank + 1, names_in((signal, taps.source)))
    index = Affine.name(i.name) - Affine.name(k.name) + start
    tap = read(taps.source, Affine.name(k.name).scale(taps.step) + taps.first, sizes)
    value = binary("*", read(signal, index, sizes, before), tap)
    outer = [*(span(each, sizes) for each in signal.shape[:-1]), span(length, sizes)]
    inner = ([*before, i, k], [*outer, span(taps.count, sizes)])
    stage = make.accumulated(([*before, i], outer), inner, value.dtype)
    leaves: dict[str, Expr] = {p.name: p for p in sizes} | {i.name: i, k.name: k}
    front, behind = _beyond(signal, taps.count, start, length)
    conditions = [Condition(index_expression(index, leaves), ">=", 0)] if front else []
    if behind:
        conditions.append(
            Condition(index_expression(index, leaves), "<", index_expression(signal.shape[-1], leaves))
        )
    entry = Reduce(stage(*before, i), value, Op.Sum)
    stage.defn = [Case(reduce(and_, conditions), entry) if conditions else entry]
    return stage


def _beyond(
    signal: Source, count: Affine, start: Affine, length: Affine
) -> tuple[Affine | None, Affine | None]:
    """How many samples are missing before and behind the signal; None where that is none in any case."""
    front, behind = count - 1 - start, start + length - signal.shape[-1]
    found = [None if each.is_constant and each.const <= 0 else each for each in (front, behind)]
    return found[0], found[1]


def written_out(make: Makers[Any], signal: Source, taps: Sequence[Expr], start: int, length: Affine) -> Any:
    count = len(taps)
    front, behind = _beyond(signal, Affine((), count), Affine((), start), length)
    source = signal
    if front or behind:
        source = _padded(make, signal, 0 if front is None else front.const, behind)

    def value(i: Variable) -> Expr:
        position = Affine.name(i.name) + (start if front is None else count - 1)
        terms = [binary("*", tap, source(position - k)) for k, tap in enumerate(taps)]
        return reduce(partial(binary, "+"), terms)

    return pointwise(make.computed, (signal, *taps), (length,), value, "")


def written_taps(taps: Any) -> list[Expr]:
    for n, tap in enumerate(taps):
        if not isinstance(tap, Expr | Source) and not is_number(tap):
            raise LangError(f"fir: tap {n} is {shown(tap)}, not a number", at=caller_location())
    found = [scalar(tap, "fir") for tap in taps]
    for tap, factor in zip(taps, found, strict=True):
        if factor is None:
            raise LangError(f"fir: a tap is a number, got {described(tap)}", at=caller_location())
    return [factor for factor in found if factor is not None]


def _padded(make: Makers[Any], signal: Source, front: int, behind: Affine | None) -> Any:
    """The signal between zeros."""
    (length,) = signal.shape
    leaves: dict[str, Expr] = {p.name: p for p in signal.sizes}
    end = index_expression(length + front, leaves)
    total = length + front + (behind or Affine())

    def value(i: Variable) -> list[CaseEntry]:
        later, before = Condition(i, ">=", front), Condition(i, "<", front)
        if behind is None:
            return [Case(before, 0), Case(later, signal(i - front))]
        inside, after = Condition(i, "<", end), Condition(i, ">=", end)
        if not front:
            return [Case(inside, signal(i)), Case(after, 0)]
        # A length may be negative, of the valid part of a filter say: then the end lies among the zeros.
        return [Case(later & inside, signal(i - front)), Case(later & after, 0), Case(before, 0)]

    text = f"({signal.label} between zeros)" if behind else f"({signal.label} after {front} zeros)"
    return pointwise(make.computed, (signal,), (total,), value, text)
