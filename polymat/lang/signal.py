"""Signals: sequences of samples with element-wise operators, slices, filters and resampling.

A signal may have several channels, one row each; whatever goes along the samples is done in every channel.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from polymat.errors import LangError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    check_plain,
    check_same_shape,
    described,
    merged_sizes,
    pointwise,
    read,
    scalar,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Variable, binary
from polymat.lang.firfilters import fir
from polymat.lang.fouriertransforms import grows, resampled
from polymat.lang.function import Case, CaseEntry, Input, Source
from polymat.lang.indices import as_affine
from polymat.lang.interval import Domain, size_parameters
from polymat.lang.makers import Makers, index_expression
from polymat.lang.operators import shown
from polymat.lang.polyphase import polyphase
from polymat.lang.reduction import Reduction
from polymat.lang.slicing import SliceStride, stride_of
from polymat.lang.subscripts import slice_text
from polymat.lang.types import ScalarType
from polymat.lang.whole import lifted


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
        text = f"{self.label}[{slice_text(index)}]"
        return strided(self, stride_of(self, index, samples_of(self, text)), text)

    def down(self, factor: SupportsIndex) -> SignalResult:
        """Every `factor`-th sample: x[0], x[d], x[2 d], ..., of length ceil(N / d)."""
        d = positive_factor("down", factor)
        length = (samples_of(self, "down") + (d - 1)).floordiv(d)
        return strided(self, SliceStride(Affine(), d, length), f"{self.label}.down({d})")

    def up(self, factor: SupportsIndex) -> SignalResult:
        """The samples with `factor` - 1 zeros after each, of length N * u."""
        u, length = positive_factor("up", factor), samples_of(self, "up")

        def value(*at: Variable) -> list[CaseEntry]:
            *before, i = at
            return [Case(Condition(i % u, "==", 0), self(*before, i // u)), Case(Condition(i % u, ">", 0), 0)]

        text = f"{self.label}.up({u})"
        if u == 1:
            return strided(self, SliceStride(Affine(), 1, length), text)
        stage = pointwise(Stuffed, (self,), (*self.shape[:-1], length.scale(u)), value, text)
        stage.origin, stage.factor = self, u
        return stage

    def _length(self, method: str) -> Affine:
        """The number of samples of a single channel."""
        if self.rank > 1:
            raise ShapeError(
                f"{method}: {described(self)} has several channels",
                at=caller_location(),
                hint="one channel is a Signal of a length alone",
            )
        return samples_of(self, method)

    def fir(self, taps: Any, mode: str = "valid") -> SignalResult:
        """Filter with T taps h: a Vector, a Signal, or numbers in a list or an array.

        valid:   y[n] = sum over k of h[k] x[n + T - 1 - k], of length N - T + 1 (no delay, no edges)
        causal:  y[n] = sum over k <= n of h[k] x[n - k], of length N (zero before the start)
        full:    the same for all n of 0 .. N + T - 2 (zero outside)
        same:    the N samples of full from (T - 1) // 2 on

        Up to 64 taps that are numbers are written out as constants.
        """
        samples_of(self, "fir")
        stage: SignalResult = fir(MAKERS, self, taps, mode)
        return stage

    def interp_fft(self, factor: SupportsIndex) -> SignalResult:
        """Band-limited interpolation to N * u samples, as `scipy.signal.resample(x, N * u)`."""
        u = positive_factor("interp_fft", factor)
        length, text = self._length("interp_fft").scale(u), f"{self.label}.interp_fft({u})"
        stage: SignalResult = resampled(MAKERS, self, length, (), text, True)
        return stage

    def resample(self, length: Any) -> SignalResult:
        """So many samples by Fourier interpolation, as `scipy.signal.resample`; x counts as periodic.

        length: an integer, or affine in the sizes; which of the lengths is larger must not depend on these.
        """
        before = self._length("resample")
        wanted = as_affine(length, caller_location())
        if wanted.is_constant and wanted.const < 1:
            raise ShapeError(
                f"resample: the length is positive, got {wanted}, of {described(self)}", at=caller_location()
            )
        if before == Affine():
            raise ShapeError(f"resample: {described(self)} has no samples", at=caller_location())
        parameters = size_parameters(length)
        text, more = f"{self.label}.resample({wanted})", grows(before, wanted)
        stage: SignalResult = resampled(MAKERS, self, wanted, parameters, text, more)
        grown = not before.is_constant and wanted.evaluate(dict.fromkeys(wanted.names(), 0)) > 0
        if more and grown:  # from no samples at all
            leaves: dict[str, Expr] = {p.name: p for p in merged_sizes(self)}
            stage.requires = (Condition(index_expression(before, leaves), ">=", 1),)
        return stage


class Signal(SignalAlgebra, Input):
    """An input of N samples, `Signal(Double, "x", N)`, or of M channels, `Signal(Double, "x", [M, N])`."""

    def __init__(self, dtype: ScalarType, name: str, length: Any) -> None:
        lengths = length if isinstance(length, list | tuple) else [length]
        super().__init__(dtype, name, lengths, "Signal")
        if self.rank not in (1, 2):
            raise ShapeError(
                f"the Signal {self.name} has a length, or channels and a length; got {self.rank} extents",
                at=self.at,
            )


class SignalResult(SignalAlgebra, Result):
    """A signal that is computed sample by sample."""

    def __init__(self, domain: Domain, dtype: ScalarType) -> None:
        super().__init__(domain, dtype, None, what="Signal")


class Stuffed(SignalResult):
    """A signal with zeros after each sample of another: its filters leave the zeros out."""

    _settable = frozenset({"origin", "factor"})
    origin: SignalAlgebra
    factor: int

    def fir(self, taps: Any, mode: str = "valid") -> SignalResult:
        """Filter with taps, as any signal."""
        stage: SignalResult = polyphase(MAKERS, self.origin, self.factor, taps, mode)
        return stage


class SignalReduction(SignalAlgebra, Result, Reduction):
    """A signal that is accumulated."""

    def __init__(
        self, domain: Domain, reduction_domain: Domain, dtype: ScalarType, init: Expr | None = None
    ) -> None:
        Reduction.__init__(self, domain, reduction_domain, dtype, None, init, what="Signal")


MAKERS: Makers[Any] = Makers(SignalResult, SignalReduction)
SignalAlgebra.makers = MAKERS


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
    if source.rank != 1 and source.algebra != "signal":
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
    made: SignalResult = lifted(lambda a, b: binary(op, a, b), (one, other), f"({text})")
    return made


def samples_of(source: Source, operation: str) -> Affine:
    """The number of samples of a signal; refuses a single number, as `x.max()` is one."""
    if source.rank:
        return source.shape[-1]
    raise ShapeError(
        f"{operation}: {source.label} is a single number and has no samples", at=caller_location()
    )


def positive_factor(method: str, value: Any, what: str = "the factor") -> int:
    """The factor of a sample rate as an integer of 1 to 2**31 - 1; refuses all else."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and 0 < value < 2**31:
        return int(value)
    raise LangError(
        f"{method}: {what} is a positive integer, got {shown(value)}",
        at=caller_location(),
        hint="below 2**31" if whole and value > 0 else "",
    )


def strided(source: Source, stride: SliceStride, text: str) -> SignalResult:
    """The samples that a stride selects, of every channel, as a signal."""
    sizes = merged_sizes(source, *stride.parameters)

    def value(*at: Variable) -> Expr:
        *before, i = at
        return read(source, Affine.name(i.name).scale(stride.step) + stride.start, sizes, before)

    shape = (*source.shape[:-1], stride.length)
    return pointwise(SignalResult, (source, *stride.parameters), shape, value, text, source.dtype)
