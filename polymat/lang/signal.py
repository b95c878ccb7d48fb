"""Signals: one-dimensional sequences with element-wise operators, slices, filters and resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from polymat.errors import LangError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    broadcast,
    check_plain,
    check_same_shape,
    described,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    read,
    scalar,
    span,
)
from polymat.lang.expr import Condition, Expr, Variable, binary
from polymat.lang.function import Case, CaseEntry, Domain, Input, Source
from polymat.lang.operators import shown
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.slicing import Stride, stride_of
from polymat.lang.types import ScalarType

MAX_WRITTEN_TAPS = 64


class SignalAlgebra(Source):
    """The operators and methods of signals; all operators are element-wise, a scalar goes to every sample."""

    algebra = "signal"

    def __add__(self, other: Any) -> SignalResult:
        return _elementwise("+", self, other)

    def __radd__(self, other: Any) -> SignalResult:
        return _elementwise("+", other, self)

    def __sub__(self, other: Any) -> SignalResult:
        return _elementwise("-", self, other)

    def __rsub__(self, other: Any) -> SignalResult:
        return _elementwise("-", other, self)

    def __mul__(self, other: Any) -> SignalResult:
        return _elementwise("*", self, other)

    def __rmul__(self, other: Any) -> SignalResult:
        return _elementwise("*", other, self)

    def __truediv__(self, other: Any) -> SignalResult:
        return _elementwise("/", self, other)

    def __rtruediv__(self, other: Any) -> SignalResult:
        return _elementwise("/", other, self)

    def __neg__(self) -> SignalResult:
        return pointwise(SignalResult, (self,), self.shape, lambda i: -self(i), f"(-{self.label})")

    def __pos__(self) -> SignalAlgebra:
        return self

    def __getitem__(self, index: object) -> SignalResult:
        """The samples x[start:stop:step].

        Bounds are integers, negative ones counted from the end, or affine in sizes.  Only where the bounds
        and the length are all known are they clamped, as Python does; others must lie within the length.
        """
        if not isinstance(index, slice):
            raise LangError(
                f"{self.label}[{shown(index)}] is a single sample",
                at=caller_location(),
                hint=f"{self.label}({shown(index)}) in a definition; a slice {self.label}[a:b] is a signal",
            )
        return _strided(self, stride_of(self, index), f"{self.label}[{_slice_text(index)}]")

    def down(self, factor: SupportsIndex) -> SignalResult:
        """Every `factor`-th sample: x[0], x[d], x[2 d], ..., of length ceil(N / d)."""
        d = _factor("down", factor)
        length = (self.shape[0] + (d - 1)).floordiv(d)
        return _strided(self, Stride(Affine(), d, length), f"{self.label}.down({d})")

    def up(self, factor: SupportsIndex) -> SignalResult:
        """The samples with `factor` - 1 zeros after each, of length N * u."""
        u = _factor("up", factor)

        def value(i: Variable) -> list[CaseEntry]:
            return [Case(Condition(i % u, "==", 0), self(i // u)), Case(Condition(i % u, ">", 0), 0)]

        text = f"{self.label}.up({u})"
        if u == 1:
            return _strided(self, Stride(Affine(), 1, self.shape[0]), text)
        return pointwise(SignalResult, (self,), (self.shape[0].scale(u),), value, text)

    def fir(self, taps: Any, mode: str = "valid") -> SignalResult | SignalReduction:
        """Filter with T taps h, a Vector or Signal.

        valid:   y[n] = sum over k of h[k] x[n + T - 1 - k], of length N - T + 1 (no delay, no edges)
        causal:  y[n] = sum over k <= n of h[k] x[n - k], of length N (zero before the start)

        Up to 64 taps may be given as numbers, a list or an array: they are written out as constants.
        """
        _check_mode(mode)
        if isinstance(taps, Source):
            return _filtered(self, _taps_source(taps), mode)
        return _written_out(self, _constants(taps), mode)


class Signal(SignalAlgebra, Input):
    """A one-dimensional input of N samples: `Signal(Double, "x", N)`."""

    def __init__(self, dtype: ScalarType, name: str, length: Any) -> None:
        lengths = length if isinstance(length, list | tuple) else [length]
        super().__init__(dtype, name, lengths, "Signal")
        if self.rank != 1:
            raise ShapeError(f"the Signal {self.name} has one length, got {self.rank}", at=self.at)


class SignalResult(SignalAlgebra, Result):
    """A signal that is computed sample by sample."""

    def __init__(self, domain: Domain, dtype: ScalarType) -> None:
        super().__init__(domain, dtype, None, what="Signal")


class SignalReduction(SignalAlgebra, Result, Reduction):
    """A signal that is accumulated."""

    def __init__(self, domain: Domain, reduction_domain: Domain, dtype: ScalarType) -> None:
        Reduction.__init__(self, domain, reduction_domain, dtype, None, what="Signal")


def _operand(value: Any, operation: str) -> Source | Expr:
    factor = scalar(value, operation)
    if factor is not None:
        return factor
    source: Source = value
    if source.algebra == "matrix":
        raise LangError(
            f"{operation}: {source.label} is a {source.what}, not a Signal",
            at=caller_location(),
            hint="a signal is not a matrix: declare both alike, or index both in a definition",
        )
    if source.rank != 1:
        raise ShapeError(
            f"{operation}: {source.label} has {source.rank} dimensions, a signal has one",
            at=caller_location(),
        )
    if source.algebra == "":
        check_plain(source, operation)
    return source


def _elementwise(op: str, left: Any, right: Any) -> SignalResult:
    text = f"{shown(left)} {op} {shown(right)}"
    one, other = _operand(left, text), _operand(right, text)
    if isinstance(one, Source) and isinstance(other, Source):
        check_same_shape(text, one, other)
    return broadcast(SignalResult, op, one, other, f"({text})")


def _factor(method: str, value: Any) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and 0 < value < 2**31:
        return int(value)
    raise LangError(
        f"{method}: the factor is a positive integer, got {shown(value)}",
        at=caller_location(),
        hint="below 2**31" if whole and value > 0 else "",
    )


def _strided(source: Source, stride: Stride, text: str) -> SignalResult:
    sizes = merged_sizes(source, *stride.parameters)

    def value(i: Variable) -> Expr:
        return read(source, Affine.name(i.name).scale(stride.step) + stride.start, sizes)

    return pointwise(SignalResult, (source, *stride.parameters), (stride.length,), value, text)


def _slice_text(index: slice) -> str:
    parts = ["" if part is None else shown(part) for part in (index.start, index.stop)]
    return ":".join(parts if index.step is None else [*parts, shown(index.step)])


def _check_mode(mode: object) -> None:
    if not isinstance(mode, str) or mode not in ("valid", "causal"):
        raise LangError(f"fir: mode is 'valid' or 'causal', got {mode!r:.40}", at=caller_location())


def _taps_source(taps: Source) -> Source:
    if taps.rank != 1:
        raise ShapeError(
            f"fir: the taps {described(taps)} have {taps.rank} dimensions, not one", at=caller_location()
        )
    if taps.algebra == "":
        check_plain(taps, "fir")
    return taps


def _filtered(signal: Source, taps: Source, mode: str) -> SignalReduction:
    (length,), (count,) = signal.shape, taps.shape
    if mode == "valid":
        length = _valid_length(signal, length, count)
    sizes = merged_sizes(signal, taps)
    i, k = fresh_variables(2, names_in((signal, taps)))
    index = Affine.name(i.name) - Affine.name(k.name)
    if mode == "valid":
        index = index + count - 1
    value = binary("*", read(signal, index, sizes), taps(k))
    outer = span(length, sizes)
    stage = SignalReduction(([i], [outer]), ([i, k], [outer, span(count, sizes)]), value.dtype)
    entry = Reduce(stage(i), value, Op.Sum)
    stage.defn = [entry if mode == "valid" else Case(Condition(k, "<=", i), entry)]
    stage.text = f"{signal.label}.fir({taps.label}, {mode!r})"
    return stage


def _valid_length(signal: Source, length: Affine, count: Affine) -> Affine:
    result = length - count + 1
    if result.is_constant and result.const < 1:
        raise ShapeError(
            f"fir: {described(signal)} is shorter than its {count} taps",
            at=caller_location(),
            hint="mode='causal' keeps the length",
        )
    return result


def _constants(taps: Any) -> list[Expr]:
    if not isinstance(taps, list | tuple | np.ndarray) or (isinstance(taps, np.ndarray) and taps.ndim != 1):
        raise LangError(
            f"fir: the taps are a Vector, a Signal or a sequence of numbers, got {shown(taps)}",
            at=caller_location(),
        )
    if len(taps) > MAX_WRITTEN_TAPS:
        raise LangError(
            f"fir: {len(taps)} taps are too many to write out, at most {MAX_WRITTEN_TAPS}",
            at=caller_location(),
            hint='declare them as an input: h = Vector(Double, "h", [T])',
        )
    if len(taps) == 0:
        raise ShapeError("fir: there are no taps", at=caller_location())
    return [_constant(tap) for tap in taps]


def _constant(tap: Any) -> Expr:
    factor = scalar(tap, "fir")
    if factor is None:
        raise LangError(f"fir: a tap is a number, got {described(tap)}", at=caller_location())
    return factor


def _written_out(signal: SignalAlgebra, taps: Sequence[Expr], mode: str) -> SignalResult:
    count = len(taps)
    (length,) = signal.shape
    source: Source = signal
    if mode == "causal":
        source = _delayed(signal, count - 1)
    else:
        length = _valid_length(signal, length, Affine((), count))

    def value(i: Variable) -> Expr:
        position = Affine.name(i.name) + (count - 1)
        terms = [binary("*", tap, source(position - k)) for k, tap in enumerate(taps)]
        total = terms[0]
        for term in terms[1:]:
            total = binary("+", total, term)
        return total

    text = f"{signal.label}.fir({count} taps, {mode!r})"
    return pointwise(SignalResult, (signal, *taps), (length,), value, text)


def _delayed(signal: Source, delay: int) -> Source:
    """The signal after `delay` zeros."""
    if delay == 0:
        return signal

    def value(i: Variable) -> list[CaseEntry]:
        later = Case(Condition(i, ">=", delay), signal(i - delay))
        return [Case(Condition(i, "<", delay), 0), later]

    text = f"({signal.label} after {delay} zeros)"
    return pointwise(SignalResult, (signal,), (signal.shape[0] + delay,), value, text)
