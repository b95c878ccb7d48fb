"""Recursive filters: direct forms and sections of second order, from an initial state to the final one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from polymat.errors import LangError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    between,
    fresh_variables,
    merged_sizes,
    names_in,
    span,
)
from polymat.lang.coefficients import (
    Coefficients,
    axis_of,
    coefficients_of,
    kind_of,
    numbers,
    rows_of,
    state_of,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import CastExpr, Const, Expr, Parameter, Variable, binary
from polymat.lang.function import Case, CaseEntry, Source
from polymat.lang.makers import Makers, index_expression
from polymat.lang.types import Long, ScalarType, promote

MOST_DIRECT = 16  # the order of a filter up to which it is one stage; of more, its samples are filtered first


def direct_form(make: Makers[Any], b: Any, a: Any, signal: Source, zi: Any, axis: Any) -> Any:
    """One recursive filter; with an initial state also the final one."""
    time = axis_of("lfilter", signal, axis)
    above, below = numbers(b, "b"), numbers(a, "a")
    if isinstance(below, np.ndarray) and below[0] == 0:
        raise LangError("lfilter: a[0] is 0", at=caller_location())
    last, kind = time == signal.rank - 1, promote(kind_of(b, signal), kind_of(a, signal))
    if isinstance(above, np.ndarray) and isinstance(below, np.ndarray) and zi is None and last:
        forward = above / below[0]
        given = isinstance(b, np.ndarray) or isinstance(a, np.ndarray)
        listed = forward.astype(kind.dtype) if given else forward.tolist()
        if not below[1:].any() or max(len(above), len(below)) > MOST_DIRECT + 1:
            filtered = signal.fir(listed, mode="causal")  # type: ignore[attr-defined]
            rest = coefficients_of(np.ones(1), below / below[0], kind_of(a, signal))
            return filtered if not below[1:].any() else _stage(make, filtered, time, rest, None)
    found = coefficients_of(above, below, kind)
    if found.order > MOST_DIRECT:
        raise LangError(
            f"lfilter: order {found.order}, and above {MOST_DIRECT} there is no zi, axis=0 or Vector b or a",
            at=caller_location(),
            hint="sosfilt: sections of second order are more exact as well",
        )
    state = None
    if zi is not None:
        if found.order == 0:
            raise LangError("lfilter: a filter of one number has no state", at=caller_location())
        state = state_of("lfilter", zi, signal, _with(signal.shape, time, Affine((), found.order)))
    label, (signal, state) = signal.label, _alike(make, signal, found, state)
    stage = _stage(make, signal, time, found, state)
    stage.text = f"lfilter({label})"
    if state is None:
        return stage
    tails = [_tail(make, each, time, found.order) for each in (signal, stage)]
    sizes = merged_sizes(signal, state, *found.sources)
    at = fresh_variables(signal.rank, names_in((signal, state, *found.sources)))
    final = _final(make, found, state, (time, signal.shape[time]), tails, at, sizes)
    final.text = f"the state of {stage.text}"
    return stage, final


def sections(make: Makers[Any], rows: Any, signal: Source, zi: Any, axis: Any) -> Any:
    """Sections of second order in a row; with an initial state also the final one.

    The signals between them are one stage, w(s, ...): w(0, ...) is the signal, w(S, ...) the result.
    """
    time = axis_of("sosfilt", signal, axis)
    count, found = rows_of(rows, signal)
    state = None
    if zi is not None:
        state = state_of(
            "sosfilt", zi, signal, (Affine((), count), *_with(signal.shape, time, Affine((), 2)))
        )
    label, (signal, state) = signal.label, _alike(make, signal, found(Const(1, Long)), state)
    operands = [each for each in (signal, rows, state) if isinstance(each, Source)]
    at = fresh_variables(signal.rank + 1, names_in(operands))
    sizes = merged_sizes(*operands)
    every = _cascade(make, signal, time, count, found(at[0]), (at, sizes, state))
    result = _computed(make, every, signal.shape, lambda *point: every(count, *point))
    result.text = f"sosfilt({label})"
    if state is None:
        return result
    tail = _tail(make, every, time + 1, 2)
    sides = [lambda s, *point: tail(s, *point), lambda s, *point: tail(s + 1, *point)]
    final = _final(make, found(at[0] + 1), state, (time + 1, signal.shape[time]), sides, at, sizes)
    final.text = f"the state of {result.text}"
    return result, final


def _with(shape: Sequence[Affine], position: int, extent: Affine) -> tuple[Affine, ...]:
    return (*shape[:position], extent, *shape[position + 1 :])


def _at(at: Sequence[Any], position: int, index: Any) -> list[Any]:
    return [*at[:position], index, *at[position + 1 :]]


def _sum(found: Coefficients, sample: Callable[[int], Expr], past: Callable[[int], Expr], most: int) -> Expr:
    """A result of whose past there are `most` samples; the newest comes last, since a step waits for it."""
    terms = [binary("*", f, sample(j)) for j, f in enumerate(found.forward) if j <= most]
    value = reduce(partial(binary, "+"), terms)
    for k in range(min(len(found.back), most), 0, -1):
        value = binary("-", value, binary("*", found.back[k - 1], past(k)))
    return value


def _alike(
    make: Makers[Any], signal: Source, found: Coefficients, state: Source | None
) -> tuple[Source, Source | None]:
    """The signal and the state in the type of the result, in which everything is computed."""
    dtype = promote(signal.dtype, found.dtype)
    if state is None:
        return _converted(make, signal, dtype), None
    dtype = promote(dtype, state.dtype)
    return _converted(make, signal, dtype), _converted(make, state, dtype)


def _converted(make: Makers[Any], signal: Source, dtype: ScalarType) -> Any:
    if signal.dtype == dtype:
        return signal
    at = fresh_variables(signal.rank, names_in((signal,)))
    stage = make.computed((at, [span(extent, signal.sizes) for extent in signal.shape]), dtype)
    stage.defn = CastExpr(signal(*at), dtype)
    stage.text = signal.label
    return stage


def _stage(make: Makers[Any], signal: Source, time: int, found: Coefficients, state: Source | None) -> Any:
    """y(..., n, ...) from the samples of the signal and past results."""
    operands = (signal, *found.sources, *([] if state is None else [state]))
    sizes = merged_sizes(*operands)
    at = fresh_variables(signal.rank, names_in(operands))
    stage = make.computed((at, [span(extent, sizes) for extent in signal.shape]), signal.dtype)

    def value(most: int) -> Expr:
        return _sum(
            found,
            lambda j: signal(*_at(at, time, at[time] - j)),
            lambda k: stage(*_at(at, time, at[time] - k)),
            most,
        )

    entries: list[CaseEntry] = []
    for n in range(found.order):
        first = value(n) if state is None else binary("+", value(n), state(*_at(at, time, n)))
        entries.append(Case(Condition(at[time], "==", n), first))
    stage.defn = [*entries, Case(Condition(at[time], ">=", found.order), value(found.order))]
    return stage


def _cascade(
    make: Makers[Any],
    signal: Source,
    time: int,
    count: int,
    found: Coefficients,
    around: tuple[list[Variable], Sequence[Parameter], Source | None],
) -> Any:
    """w(s, ..., n, ...): the signal after s sections."""
    (s, *at), sizes, state = around
    domain = [between(Affine(), Affine((), count), sizes), *(span(extent, sizes) for extent in signal.shape)]
    stage = make.computed(([s, *at], domain), signal.dtype)

    def value(most: int) -> Expr:
        return _sum(
            found,
            lambda j: stage(s - 1, *_at(at, time, at[time] - j)),
            lambda k: stage(s, *_at(at, time, at[time] - k)),
            most,
        )

    later = Condition(s, ">=", 1)
    entries = [Case(Condition(s, "==", 0), signal(*at))]
    for n in range(found.order):
        first = value(n) if state is None else binary("+", value(n), state(s - 1, *_at(at, time, n)))
        entries.append(Case(later & Condition(at[time], "==", n), first))
    entries.append(Case(later & Condition(at[time], ">=", found.order), value(found.order)))
    stage.defn = entries
    return stage


def _computed(
    make: Makers[Any],
    source: Source,
    shape: Sequence[Affine],
    value: Callable[..., Expr | list[CaseEntry]],
) -> Any:
    at = fresh_variables(len(shape), names_in((source,)))
    stage = make.computed((at, [span(extent, source.sizes) for extent in shape]), source.dtype)
    stage.defn = value(*at)
    return stage


def _tail(make: Makers[Any], source: Source, time: int, count: int) -> Any:
    """The last samples of a signal along a dimension, the newest first; zeros before the start."""

    def value(*at: Variable) -> list[CaseEntry]:
        leaves: dict[str, Expr] = {p.name: p for p in source.sizes} | {at[time].name: at[time]}
        index = index_expression(source.shape[time] - 1 - Affine.name(at[time].name), leaves)
        inside, outside = Condition(index, ">=", 0), Condition(index, "<", 0)
        return [Case(inside, source(*_at(at, time, index))), Case(outside, 0)]

    return _computed(make, source, _with(source.shape, time, Affine((), count)), value)


def _final(
    make: Makers[Any],
    found: Coefficients,
    state: Source,
    extent: tuple[int, Affine],
    tails: Sequence[Callable[..., Expr]],
    at: Sequence[Variable],
    sizes: Sequence[Parameter],
) -> Any:
    """What a signal adds to the results after its end, as the transposed direct form keeps it.

    extent: the position in `at` of the index of the state, and the length of the signal.  tails: its last
    samples, and those of the result.  Of a signal that is shorter than the filter looks back, a part of the
    initial state is left.
    """
    (time, length), order = extent, found.order
    stage = make.computed((list(at), [span(each, sizes) for each in state.shape]), state.dtype)
    leaves: dict[str, Expr] = {p.name: p for p in sizes}
    entries: list[CaseEntry] = []
    for k in range(order):
        here, value = Condition(at[time], "==", k), _ended(found, k, tails, at, time)
        short = index_expression(length + (k - order), leaves)  # below 0 where a part of the state is left
        left = state(*_at(at, time, index_expression(length + k, leaves)))
        entries.append(Case(here & Condition(short, ">=", 0), value))
        entries.append(Case(here & Condition(short, "<", 0), binary("+", value, left)))
    stage.defn = entries
    return stage


def _ended(
    found: Coefficients, k: int, tails: Sequence[Callable[..., Expr]], at: Sequence[Variable], time: int
) -> Expr:
    """What the last samples add to result k after them."""
    samples, results = ([tail(*_at(at, time, m)) for m in range(found.order - k)] for tail in tails)
    terms = [binary("*", f, x) for f, x in zip(found.forward[k + 1 :], samples, strict=False)]
    terms += [-binary("*", g, y) for g, y in zip(found.back[k:], results, strict=False)]
    return reduce(partial(binary, "+"), terms)
