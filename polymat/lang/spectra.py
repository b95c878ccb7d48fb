"""Fourier transforms, convolution and recursive filters of signals, as functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from polymat.errors import DtypeError, LangError, ShapeError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    check_plain,
    described,
    merged_sizes,
    pointwise,
    read,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Variable
from polymat.lang.firfilters import taps_count
from polymat.lang.fouriertransforms import fitted, inverse, real_inverse, spectrum
from polymat.lang.function import Case, CaseEntry, Source
from polymat.lang.indices import as_affine
from polymat.lang.interval import size_parameters
from polymat.lang.lengths import not_negative
from polymat.lang.makers import index_expression
from polymat.lang.mathfunctions import Conj
from polymat.lang.operators import is_number, shown
from polymat.lang.recursivefilters import direct_form, sections
from polymat.lang.signal import MAKERS, SignalAlgebra, SignalResult, positive_factor, samples_of, strided
from polymat.lang.slicing import SliceStride
from polymat.lang.types import Double, computed_with, real_part
from polymat.lang.windows import firwin


def fft(x: Source) -> SignalResult:
    """The spectrum X[j] = sum over k of x[k] exp(-2 pi i j k / N), complex, of length N.

    Of channels each has its own, as the rows of a matrix or of a function have.
    """
    source = _channels(x, "fft")
    stage: SignalResult = spectrum(MAKERS, source, -1, source.shape[-1], f"fft({source.label})")
    return stage


def rfft(x: Source) -> SignalResult:
    """The first N // 2 + 1 values of the spectrum of a real signal; the others are their conjugates."""
    source = _channels(x, "rfft")
    if source.dtype.kind == "c":
        raise DtypeError(
            f"rfft: {source.label} is {source.dtype}, not real",
            at=caller_location(),
            hint=f"fft({source.label})",
        )
    outputs = source.shape[-1].floordiv(2) + 1
    stage: SignalResult = spectrum(MAKERS, source, -1, outputs, f"rfft({source.label})")
    return stage


def ifft(x: Source) -> SignalResult:
    """The signal of a spectrum: x[k] = 1 / N sum over j of X[j] exp(2 pi i j k / N)."""
    source = _channels(x, "ifft")
    stage: SignalResult = inverse(MAKERS, source, f"ifft({source.label})")
    return stage


def irfft(x: Source, n: Any = None) -> SignalResult:
    """The real signal of n samples from the first n // 2 + 1 values of its spectrum; default 2 (M - 1).

    Of another number of values the last are left out, or zeros added, as in NumPy.
    """
    source = _channels(x, "irfft")
    length = (source.shape[-1] - 1).scale(2) if n is None else as_affine(n, caller_location())
    if length.is_constant and length.const < 1:
        raise ShapeError(f"irfft: {counted(length, 'sample')} of {described(source)}", at=caller_location())
    if source.dtype.kind != "c":
        raise DtypeError(
            f"irfft: {source.label} is {source.dtype}, a spectrum is complex",
            at=caller_location(),
            hint=f"rfft({source.label}) is a spectrum",
        )
    sizes = size_parameters(n)
    half = fitted(MAKERS, source, length.floordiv(2) + 1, sizes)
    stage: SignalResult = real_inverse(MAKERS, half, length, f"irfft({source.label}, {length})", sizes)
    return stage


def upfirdn(taps: Any, x: SignalAlgebra, up: int = 1, down: int = 1) -> SignalResult:
    """Zeros put between samples, filtered, every `down`th kept, as `scipy.signal.upfirdn`.

    The length is ((N - 1) up + T - 1) // down + 1; no zero is multiplied, and only what is kept is computed.
    """
    signal = _signal(x, "upfirdn")
    up, down = positive_factor("upfirdn", up, "up"), positive_factor("upfirdn", down, "down")
    whole = signal.up(up).fir(taps, mode="full")
    # The zeros behind the last sample are not part of the convolution.
    length = (whole.shape[-1] - (up - 1) + (down - 1)).floordiv(down)
    return strided(whole, SliceStride(Affine(), down, length), f"upfirdn({signal.label}, {up}, {down})")


def resample_poly(x: SignalAlgebra, up: int, down: int) -> SignalResult:
    """The sample rate times up / down by a polyphase filter, as `scipy.signal.resample_poly`.

    The length is N up / down, rounded up.
    """
    signal = _signal(x, "resample_poly")
    up, down = positive_factor("resample_poly", up, "up"), positive_factor("resample_poly", down, "down")
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == down:
        return signal[:]
    largest = max(up, down)
    taps = up * firwin(20 * largest + 1, 1.0 / largest, window=("kaiser", 5.0))
    part = computed_with(real_part(signal.dtype))
    whole = signal.up(up).fir(taps.astype((part if part.kind == "f" else Double).dtype), mode="full")
    length = (signal.shape[-1].scale(up) + (down - 1)).floordiv(down)
    text = f"resample_poly({signal.label}, {up}, {down})"
    return strided(whole, SliceStride(Affine((), 10 * largest), down, length), text)


def concatenate(signals: Sequence[Any]) -> SignalResult:
    """Signals one behind the other, as `numpy.concatenate`: the state of a filter and a block, say.

    A call is refused where one would have a negative length, the valid part of a filter say.
    """
    if not isinstance(signals, list | tuple) or not signals:
        raise LangError(
            f"concatenate: the signals are a list of at least one, got {shown(signals)}", at=caller_location()
        )
    sources = [_signal(each, "concatenate") for each in signals]
    for source in sources[1:]:
        if source.shape[:-1] != sources[0].shape[:-1]:
            one, other = described(sources[0]), described(source)
            raise ShapeError(f"concatenate: {one} and {other} have other channels", at=caller_location())
    sizes = merged_sizes(*sources)
    leaves: dict[str, Expr] = {p.name: p for p in sizes}
    ends = list(accumulate((source.shape[-1] for source in sources), initial=Affine()))

    def value(*at: Variable) -> list[CaseEntry]:
        *before, i = at
        entries: list[CaseEntry] = []
        for n, source in enumerate(sources):
            inside = Condition(i, "<", index_expression(ends[n + 1], leaves))
            if n:
                inside = Condition(i, ">=", index_expression(ends[n], leaves)) & inside
            entries.append(Case(inside, read(source, Affine.name(i.name) - ends[n], sizes, before)))
        return entries

    text = f"concatenate({', '.join(source.label for source in sources)})"
    stage = pointwise(SignalResult, sources, (*sources[0].shape[:-1], ends[-1]), value, text)
    stage.requires = not_negative((source.shape[-1] for source in sources), sizes)
    return stage


def convolve(x: SignalAlgebra, h: Any, mode: str = "full") -> SignalResult:
    """y[n] = sum over k of h[k] x[n - k], as `scipy.signal.convolve` where h is not the longer one."""
    return _signal(x, "convolve").fir(h, mode=mode)


def correlate(x: SignalAlgebra, h: Any, mode: str = "full") -> SignalResult:
    """y[n] = sum over k of conj(h[k]) x[n - T + 1 + k], as `scipy.signal.correlate` where h is not longer."""
    signal = _signal(x, "correlate")
    if not isinstance(h, Source):
        taps_count(h)
        if not all(map(is_number, h)):
            raise LangError(
                f"correlate: the taps are a Vector, a Signal or a sequence of numbers, got {shown(h)}",
                at=caller_location(),
            )
        turned = np.conj(np.asarray(h))[::-1]
        return signal.fir(turned if isinstance(h, np.ndarray) else turned.tolist(), mode=mode)
    taps = _rank_one(h, "correlate")
    (count,) = taps.shape

    def value(k: Variable) -> Expr:
        tap = read(taps, count - 1 - Affine.name(k.name), taps.sizes)
        return Conj(tap) if taps.dtype.kind == "c" else tap

    turned = pointwise(SignalResult, (taps,), (count,), value, f"{taps.label}[::-1]", taps.dtype)
    return signal.fir(turned, mode=mode)


def lfilter(b: Any, a: Any, x: SignalAlgebra, zi: Any = None, *, axis: int = -1) -> Any:
    """A recursive filter: a[0] y[n] = sum over k of b[k] x[n - k] - sum over k > 0 of a[k] y[n - k].

    b, a: at most 64 numbers each, as of `scipy.signal.lfilter`, or vectors of as many.  Those in a list take
    the signal's type.  axis: 0 where the channels are the columns of the signal.  What is before the start is
    zero; with `zi`, an array of one state per channel, of K = max(len(a), len(b)) - 1 elements along `axis`,
    the filter begins in that state of the transposed direct form, and (y, zf) is returned: with the final
    state as the next one's `zi`, blocks that follow each other give the same results as the whole.
    """
    return direct_form(MAKERS, b, a, _signal(x, "lfilter"), zi, axis)


def sosfilt(sos: Any, x: SignalAlgebra, zi: Any = None, *, axis: int = -1) -> Any:
    """Recursive filters of second order in a row, as of `scipy.signal.sosfilt`: rows b0 b1 b2 a0 a1 a2.

    sos: S rows of numbers, or a Matrix (S x 6).  Those in a list take the signal's type, those in an
    array of NumPy's keep theirs: float64 makes a Float signal's result Double, as in SciPy.  axis: 0 where
    the channels are the columns of the signal.  zi: the initial state, S x 2 for one channel, S x C x 2 for C
    of them (S x 2 x C along axis 0); with it (y, zf) is returned, the final state second.
    """
    return sections(MAKERS, sos, _signal(x, "sosfilt"), zi, axis)


def _channels(x: Any, function: str) -> Source:
    """A signal of any number of channels, a vector, or rows that are transformed one by one."""
    if isinstance(x, SignalAlgebra):
        samples_of(x, function)
        return x
    return _plain(x, function) if isinstance(x, Source) and x.rank == 2 else _rank_one(x, function)


def _rank_one(x: Any, function: str) -> Source:
    if not isinstance(x, Source) or x.rank != 1:
        what = described(x) if isinstance(x, Source) else shown(x)
        channels = isinstance(x, Source) and x.rank == 2 and function != "correlate"
        hint = "the rows of a Signal are channels: Signal(Double, 'x', [2, N])" if channels else ""
        if function == "concatenate" and isinstance(x, Source):
            hint = "a Function with a Case for each: Case(Condition(i, '<', M), A(i, j)), B(i - M, j) behind"
        raise ShapeError(f"{function}: {what} is no Signal or Vector", at=caller_location(), hint=hint)
    return _plain(x, function)


def _plain(x: Source, function: str) -> Source:
    if x.algebra == "":
        check_plain(x, function)
    return x


def _signal(x: Any, function: str) -> SignalAlgebra:
    if isinstance(x, SignalAlgebra):
        samples_of(x, function)
        return x
    source = _rank_one(x, function)
    return pointwise(SignalResult, (source,), source.shape, lambda i: source(i), source.label)
