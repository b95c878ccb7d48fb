"""Filters of signals with zeros between the samples: a sum for each phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    check_mode,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    read,
    span,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Const, Expr, Parameter, Variable, binary
from polymat.lang.firfilters import (
    MODES,
    REAL,
    Strided,
    are_written,
    filtered_sum,
    taps_count,
    taps_label,
    taps_source,
    window,
    written_out,
    written_taps,
)
from polymat.lang.function import Case, CaseEntry, Source
from polymat.lang.makers import Makers, index_expression
from polymat.lang.reduction import Op, Reduce
from polymat.lang.types import WEAK_INT

MAX_PHASES = 8  # stages that a filter of a signal with zeros between its samples is split into


def polyphase(make: Makers[Any], signal: Source, up: int, taps: Any, mode: Any) -> Any:
    """A filter of a signal with `up` - 1 zeros after each sample, which are left out of the sums.

    before:  y(n) = sum over k of h(k) s(n - k), s(n) = x(n / up) or 0
    after:   y(n) = z_p(q) with n = up q + p, z_p(q) = sum over j of h(up j + p) x(q - j)
    """
    check_mode("fir", mode, MODES)
    count = taps_count(taps)
    start, length = window(signal, signal.shape[-1].scale(up), count, mode)
    if up > MAX_PHASES or signal.rank > 1 or (signal.dtype in REAL and not are_written(signal, taps)):
        stage = _phases_together(make, signal, up, taps_source(make, taps, signal.dtype), start, length)
    else:
        last = (start + length - 1).floordiv(up)
        phases = [_phase(make, signal, taps, up, p, last + 1) for p in range(up)]
        sizes = merged_sizes(signal, *([taps] if isinstance(taps, Source) else []))
        stage = _interleaved(make, phases, start, length, sizes)
    stage.text = f"{signal.label}.up({up}).fir({taps_label(taps)}, {mode!r})"
    return stage


def _phase(make: Makers[Any], signal: Source, taps: Any, up: int, phase: int, length: Affine) -> Any:
    """z_p(q) = sum over j of h(up j + p) x(q - j), for the first `length` of q."""
    if are_written(signal, taps):
        chosen = written_taps(taps[phase::up]) or [Const(0, WEAK_INT)]
        return written_out(make, signal, chosen, 0, length)
    source = taps_source(make, taps, signal.dtype)
    count = (source.shape[0] + (up - 1 - phase)).floordiv(up)
    return filtered_sum(make, signal, Strided(source, phase, up, count), Affine(), length)


def _interleaved(
    make: Makers[Any],
    phases: Sequence[Source],
    start: Affine,
    length: Affine,
    sizes: Sequence[Parameter],
) -> Any:
    """y(i) = z_p(q) where start + i = number of phases * q + p.

    sizes: those of the signal and of the taps, which `start` may use where no phase does.
    """
    leaves: dict[str, Expr] = {p.name: p for p in sizes}
    number = len(phases)

    def value(i: Variable) -> list[CaseEntry]:
        position = Affine.name(i.name) + start
        index = index_expression(position, leaves | {i.name: i})
        chosen = [Condition(index % number, "==", p) for p in range(number)]
        ahead: list[CaseEntry] = []
        if not start.is_constant:  # of no taps it lies before the first result, where the sum is empty
            chosen = [Condition(index, ">=", 0) & condition for condition in chosen]
            ahead = [Case(Condition(index, "<", 0), 0)]
        results = (read(phase, position.floordiv(number), sizes) for phase in phases)
        return [Case(*entry) for entry in zip(chosen, results, strict=True)] + ahead

    return pointwise(make.computed, (*phases, *sizes), (length,), value, "")


def _phases_together(
    make: Makers[Any], signal: Source, up: int, taps: Source, start: Affine, length: Affine
) -> Any:
    """The phases as one sum, each result choosing its taps, of every channel."""
    sizes = merged_sizes(signal, taps)
    *before, i, k = fresh_variables(signal.rank + 1, names_in((signal, taps)))
    position = Affine.name(i.name) + start
    newest = position.floordiv(up)
    tap = position - newest.scale(up) + Affine.name(k.name).scale(up)
    index = newest - Affine.name(k.name)
    value = binary("*", read(signal, index, sizes, before), read(taps, tap, sizes))
    outer = [*(span(each, sizes) for each in signal.shape[:-1]), span(length, sizes)]
    inner = ([*before, i, k], [*outer, span((taps.shape[0] + (up - 1)).floordiv(up), sizes)])
    stage = make.accumulated(([*before, i], outer), inner, value.dtype)
    leaves: dict[str, Expr] = {p.name: p for p in sizes} | {i.name: i, k.name: k}
    at = index_expression(index, leaves)
    condition = Condition(index_expression(tap, leaves), "<", index_expression(taps.shape[0], leaves))
    condition = condition & Condition(at, ">=", 0)
    condition = condition & Condition(at, "<", index_expression(signal.shape[-1], leaves))
    stage.defn = [Case(condition, Reduce(stage(*before, i), value, Op.Sum))]
    return stage
