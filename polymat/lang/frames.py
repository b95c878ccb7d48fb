"""Frames of a signal, which may overlap, and the sum of such frames."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from polymat.errors import LangError, ShapeError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    described,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    read,
    span,
)
from polymat.lang.condition import Condition
from polymat.lang.constructs import Select
from polymat.lang.expr import Const, Expr, Variable, binary
from polymat.lang.firfilters import constant
from polymat.lang.function import Source
from polymat.lang.operators import shown
from polymat.lang.reduction import Op, Reduce
from polymat.lang.signal import MAKERS, SignalAlgebra, SignalReduction, SignalResult
from polymat.lang.spectra import irfft, rfft
from polymat.lang.types import computed_with

LEAST_WEIGHT = 1e-10  # of squares of windows that a sample is divided by


def frames(x: SignalAlgebra, length: SupportsIndex, hop: SupportsIndex, window: Any = None) -> SignalResult:
    """Every `hop`-th stretch of `length` samples as a channel: f[m, n] = w[n] x[hop m + n], as many as fit.

    window: w, `length` numbers or a vector of them; default ones.
    """
    signal, count, step = _single(x, "frames"), _positive("frames", length), _positive("frames", hop)
    weights = None if window is None else _window(window, count, signal, "frames")
    sizes = merged_sizes(signal, *([] if weights is None else [weights]))
    number = (signal.shape[0] - count).floordiv(step) + 1
    if number.is_constant and number.const < 1:
        raise ShapeError(f"frames: {described(signal)} is shorter than {count}", at=caller_location())

    def value(m: Variable, n: Variable) -> Expr:
        sample = read(signal, Affine.name(m.name).scale(step) + Affine.name(n.name), sizes)
        return sample if weights is None else binary("*", sample, weights(n))

    operands = (signal,) if weights is None else (signal, weights)
    shape = (number, Affine((), count))
    text = f"frames({signal.label}, {count}, {step})"
    return pointwise(SignalResult, operands, shape, value, text, signal.dtype if weights is None else None)


def overlap_add(parts: Any, hop: SupportsIndex) -> SignalReduction:
    """The sum of channels, each `hop` samples behind the one before: y[n] = sum over m of f[m, n - hop m].

    Of M channels of N samples come hop (M - 1) + N.
    """
    if not isinstance(parts, SignalAlgebra) or parts.rank != 2:
        what = described(parts) if isinstance(parts, Source) else shown(parts)
        raise ShapeError(f"overlap_add: {what} is no Signal of several channels", at=caller_location())
    step = _positive("overlap_add", hop)
    number, length = parts.shape
    i, m, n = fresh_variables(3, names_in((parts,)))
    outer = span((number - 1).scale(step) + length, parts.sizes)
    inner = [span(extent, parts.sizes) for extent in parts.shape]
    stage = SignalReduction(([i], [outer]), ([m, n], inner), computed_with(parts.dtype))
    stage.defn = [Reduce(stage(step * m + n), parts(m, n), Op.Sum)]
    stage.text = f"overlap_add({parts.label}, {step})"
    return stage


def stft(x: SignalAlgebra, window: Any, hop: SupportsIndex) -> Any:
    """The spectra of windowed frames: S[m, j] = sum over n of w[n] x[hop m + n] exp(-2 pi i j n / L).

    window: L numbers, or a vector of so many; j runs from 0 to L // 2.  Frames lie within the signal; whoever
    wants them to begin before it puts zeros there (`concatenate`).
    """
    return rfft(frames(x, _length(window, "stft"), hop, window))


def istft(spectra: Any, window: Any, hop: SupportsIndex) -> SignalResult:
    """The signal whose frames have these spectra, as near as can be: the inverse of `stft`.

    y[n] = sum over m of w[n - hop m] f[m, n - hop m], f the inverse transforms of L samples, over the sum of
    the squares of the same w (Griffin and Lim 1984, equation 6).  Samples where these add up to 1e-10 at most
    are not divided, as in `scipy.signal.istft`.  Of M frames come hop (M - 1) + L samples.
    """
    count = _length(window, "istft")
    if not isinstance(spectra, SignalAlgebra) or spectra.rank != 2 or spectra.dtype.kind != "c":
        what = described(spectra) if isinstance(spectra, Source) else shown(spectra)
        raise ShapeError(f"istft: {what} is no complex Signal of several channels", at=caller_location())
    if spectra.shape[-1] != Affine((), count // 2 + 1):
        raise ShapeError(
            f"istft: {described(spectra)} has {counted(spectra.shape[-1], 'value')} a frame, "
            f"{count // 2 + 1} are needed for a window of {count}",
            at=caller_location(),
        )
    parts = irfft(spectra, count)
    weights = _window(window, count, parts, "istft")
    sizes = merged_sizes(parts, weights)

    def weighted(m: Variable, n: Variable) -> Expr:
        return binary("*", read(parts, Affine.name(n.name), sizes, [m]), weights(n))

    def squared(m: Variable, n: Variable) -> Expr:
        return binary("*", weights(n), weights(n))

    above, below = (
        overlap_add(pointwise(SignalResult, (parts, weights), parts.shape, value, ""), hop)
        for value in (weighted, squared)
    )

    def value(i: Variable) -> Expr:
        covered = Condition(below(i), ">", Const(LEAST_WEIGHT, below.dtype))
        return Select(covered, binary("/", above(i), below(i)), above(i))

    return pointwise(SignalResult, (above, below), above.shape, value, f"istft({spectra.label}, {hop})")


def _length(window: Any, function: str) -> int:
    """How many elements a window has."""
    _check_window(window, function)
    if not isinstance(window, Source):
        return len(window)
    (extent,) = window.shape
    if not extent.is_constant:
        raise ShapeError(f"{function}: the length of {described(window)} is not known", at=caller_location())
    return extent.const


def _check_window(window: Any, function: str) -> None:
    """Refuse what is no sequence of numbers and no vector; a name is for `get_window`."""
    if isinstance(window, Source):
        if window.rank != 1:
            raise ShapeError(
                f"{function}: the window {described(window)} has {window.rank} dimensions, not one",
                at=caller_location(),
            )
    elif not isinstance(window, list | tuple | np.ndarray) or _named(window) or np.ndim(window) != 1:
        raise LangError(
            f"{function}: the window is a Vector, a Signal or a sequence of numbers, got {shown(window)}",
            at=caller_location(),
            hint=f"get_window({window!r}, length)" if _named(window) else "",
        )


def _named(window: Any) -> bool:
    """Whether a window is given as SciPy's functions take it: by its name, or name and parameters."""
    first = window[0] if isinstance(window, tuple) and window else window
    return isinstance(first, str)


def _window(window: Any, count: int, signal: SignalAlgebra, function: str) -> Source:
    _check_window(window, function)
    source = window if isinstance(window, Source) else constant(MAKERS, window, function, signal.dtype)
    if source.shape != (Affine((), count),):
        raise ShapeError(
            f"{function}: the window {described(source)} does not have {counted(count, 'element')}",
            at=caller_location(),
        )
    found: Source = source
    return found


def _single(x: Any, function: str) -> SignalAlgebra:
    if isinstance(x, SignalAlgebra) and x.rank == 1:
        return x
    what = described(x) if isinstance(x, Source) else shown(x)
    raise ShapeError(f"{function}: {what} is no Signal of one channel", at=caller_location())


def _positive(function: str, value: Any) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 < value < 2**31:
        return int(value)
    raise LangError(f"{function}: lengths are positive integers, got {shown(value)}", at=caller_location())
