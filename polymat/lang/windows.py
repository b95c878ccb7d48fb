"""Windows and windowed-sinc filters: by SciPy where all numbers are known, inside the pipeline elsewhere.

The formulas of the pipeline's are SciPy's: Kaiser's window and his estimate of beta, and the ideal band-pass
response cut off by a window and scaled to unit gain in the first pass band.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from polymat.errors import LangError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import fresh_variables, names_in, pointwise, scalar, span
from polymat.lang.condition import Condition
from polymat.lang.constructs import Select
from polymat.lang.expr import Const, Expr, Variable, binary
from polymat.lang.firfilters import constant
from polymat.lang.mathfunctions import I0, Cos, Sin, Sqrt
from polymat.lang.operators import is_number, shown
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.signal import MAKERS, SignalAlgebra, SignalResult
from polymat.lang.types import Double

# For how many cut-offs a kind of filter is, and whether it passes frequency 0.
_PASS_ZERO: dict[Any, tuple[int, bool] | None] = {
    True: None,
    False: None,
    "lowpass": (1, True),
    "bandstop": (2, True),
    "highpass": (1, False),
    "bandpass": (2, False),
}


def kaiser_beta(attenuation: Any) -> Any:
    """Kaiser's beta for a stop band of so many decibels: a number, or an expression of one."""
    if not isinstance(attenuation, Expr):
        return float(_by_scipy("kaiser_beta", _number("kaiser_beta", "the attenuation", attenuation)))
    a = attenuation
    middle = 0.5842 * Select(Condition(a, ">", 21), a - 21, 0.0) ** 0.4 + 0.07886 * (a - 21)
    least = Select(Condition(a, ">", 21), middle, 0.0)
    return Select(Condition(a, ">", 50), 0.1102 * (a - 8.7), least)


def kaiser(length: int, beta: Any) -> Any:
    """Kaiser's window: an array, or a signal where beta is an expression of parameters."""
    if isinstance(beta, Expr):
        count = _count("kaiser", length)
        return _signal(count, lambda k: _kaiser_at(k, count, beta), "kaiser", beta)
    return _by_scipy("windows.kaiser", _count("kaiser", length, 0), _number("kaiser", "beta", beta))


def get_window(window: Any, length: int, fftbins: bool = True) -> Any:
    """A window by its name, or name and parameters, as in SciPy; periodic unless `fftbins` is False.

    An array; a signal where the parameter of ("kaiser", beta) is an expression.
    """
    if isinstance(window, tuple) and any(isinstance(part, Expr) for part in window):
        beta = _beta(window)
        count = _count("get_window", length)
        points = count + 1 if fftbins else count
        return _signal(count, lambda k: _kaiser_at(k, points, beta), "get_window", beta)
    _check_window("get_window", window)
    return _by_scipy("get_window", window, _count("get_window", length, 0), fftbins=fftbins)


def firwin(
    taps: int,
    cutoff: Any,
    *,
    width: float | None = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: Any = None,
) -> Any:
    """Taps of a filter with the given cut-off frequencies, by the window method, as `scipy.signal.firwin`.

    cutoff: one, or rising ones, relative to half of the sample rate `fs` (default 2).  Where they, the sample
    rate or the window's parameter are expressions of parameters, the taps are computed inside the pipeline.
    The result is an array, or a signal inside the pipeline.
    """
    _check_window("firwin", window)
    cutoff = cutoff.tolist() if isinstance(cutoff, np.ndarray) else cutoff
    cutoffs = list(cutoff) if isinstance(cutoff, Sequence) else [cutoff]
    for value in cutoffs:
        if value is None or (is_number(value) and value != value):
            raise LangError(f"firwin: a cut-off is {value}, not a frequency", at=caller_location())
    beta = _beta(window) if isinstance(window, tuple) and isinstance(window[-1], Expr) else None
    if not any(isinstance(value, Expr) for value in (*cutoffs, fs, beta)):
        rate = {} if fs is None else {"fs": fs}
        settings = {"width": width, "window": window, "pass_zero": pass_zero, "scale": scale, **rate}
        return _by_scipy("firwin", _count("firwin", taps), cutoff, **settings)
    if width is not None:
        raise LangError(
            "firwin: a width is for cut-offs that are numbers",
            at=caller_location(),
            hint='window=("kaiser", beta)',
        )
    return _designed(_count("firwin", taps), cutoffs, window, pass_zero, fs, scale=scale)


def _designed(
    count: int, cutoffs: Sequence[Any], window: Any, pass_zero: Any, fs: Any, *, scale: bool
) -> Any:
    """The taps of `firwin` as a signal inside the pipeline."""
    edges = _bands(count, [_fraction(value, fs) for value in cutoffs], pass_zero)
    used = [edge for band in edges for edge in band]
    ideal = _signal(count, lambda k: _response(k, count, edges), "ideal response", *used)
    shape = get_window(window, count, fftbins=False)
    shape = shape if isinstance(shape, SignalAlgebra) else constant(MAKERS, shape, "firwin")
    found = ideal * shape
    return _scaled(found, count, edges[0]) if scale else found


def _scipy() -> Any:
    return importlib.import_module("scipy.signal")


def _by_scipy(function: str, *values: Any, **named: Any) -> Any:
    """What SciPy's function of that name gives; where it refuses, its words, at the user's line."""
    try:
        return attrgetter(function)(_scipy())(*values, **named)
    except (TypeError, ValueError) as refusal:
        name = function.rpartition(".")[2]
        raise LangError(f"{name}: {refusal}", at=caller_location()) from refusal


def _number(function: str, what: str, value: Any) -> Any:
    if is_number(value):
        return value
    raise LangError(f"{function}: {what} is a number, got {shown(value)}", at=caller_location())


def _count(function: str, value: Any, least: int = 1) -> int:
    """A length of at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and least <= value < 2**31:
        return int(value)
    raise LangError(
        f"{function}: the length is a {'positive' if least else 'non-negative'} integer, got {shown(value)}",
        at=caller_location(),
        hint="below 2**31" if whole and value > 0 else "",
    )


def _check_window(function: str, window: Any) -> None:
    if isinstance(window, tuple) and not window:
        raise LangError(
            f"{function}: the window () has no name", at=caller_location(), hint='("kaiser", 8.0), say'
        )


def _beta(window: Any) -> Expr:
    beta = scalar(window[1], "window") if len(window) == 2 and window[0] == "kaiser" else None
    if beta is None:
        raise LangError(
            f"the window {shown(window[0])} takes numbers",
            at=caller_location(),
            hint='of windows, ("kaiser", beta) alone is computed inside a pipeline',
        )
    return beta


def _fraction(cutoff: Any, fs: Any) -> Any:
    """A cut-off relative to half of the sample rate; Double, since 1 / fs of a float32 is not enough."""
    if fs is None:
        return cutoff
    return cutoff / (fs / 2.0)


def _bands(count: int, cutoffs: list[Any], pass_zero: Any) -> list[tuple[Any, Any]]:
    """The pass bands: pairs of lower and upper edge."""
    known = isinstance(pass_zero, bool | str) and pass_zero in _PASS_ZERO
    if not known:
        names = ", ".join(repr(name) for name in _PASS_ZERO)
        raise LangError(f"firwin: pass_zero is one of {names}, got {pass_zero!r:.40}", at=caller_location())
    wanted = _PASS_ZERO[pass_zero]
    if wanted is not None and (wanted[0] == 1) != (len(cutoffs) == 1):
        raise LangError(
            f"firwin: {pass_zero!r} does not go with {counted(len(cutoffs), 'cut-off')}", at=caller_location()
        )
    zero = pass_zero if wanted is None else wanted[1]
    nyquist = len(cutoffs) % 2 == (0 if zero else 1)
    if nyquist and count % 2 == 0:
        raise LangError(
            f"firwin: {count} taps cannot pass the highest frequency",
            at=caller_location(),
            hint=f"an odd number of them, {count + 1}",
        )
    edges = [*([0.0] if zero else []), *cutoffs, *([1.0] if nyquist else [])]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _signal(count: int, value: Any, text: str, *numbers: Any) -> SignalResult:
    """A signal of Double; `numbers` are those that its values use."""
    used = [number for number in numbers if isinstance(number, Expr)]
    return pointwise(SignalResult, used, (Affine((), count),), lambda k: _double(value(k)), text)


def _double(value: Any) -> Expr:
    return binary("*", Const(1.0, Double), value)


def _kaiser_at(k: Variable, points: int, beta: Expr) -> Any:
    """I0(beta sqrt(1 - ((k - alpha) / alpha)^2)) / I0(beta)."""
    if points == 1:
        return 1.0
    alpha = (points - 1) / 2.0
    offset = (k - alpha) / alpha
    return I0(beta * Sqrt((1.0 - offset) * (1.0 + offset))) / I0(beta)


def _response(k: Variable, count: int, edges: list[tuple[Any, Any]]) -> Any:
    """The ideal response: right sinc(right m) - left sinc(left m), m from the centre, of every band."""
    centre = (count - 1) / 2.0
    total: Any = 0.0
    for left, right in edges:
        for edge, sign in ((right, 1.0), (left, -1.0)):
            if not isinstance(edge, Expr) and edge == 0:
                continue
            phase = math.pi * (k - centre)
            value = Sin(edge * phase) / phase
            if count % 2:
                value = Select(Condition(2 * k, "==", count - 1), edge, value)
            total = total + sign * value
    return total


def _scaled(found: Any, count: int, band: tuple[Any, Any]) -> SignalResult:
    """Divided by the response at the middle of the first band."""
    left, right = band
    if not isinstance(left, Expr) and left == 0:
        middle: Any = 0.0
    elif not isinstance(right, Expr) and right == 1:
        middle = 1.0
    else:
        middle = 0.5 * (left + right)
    used = [middle] if isinstance(middle, Expr) else []
    (k,) = fresh_variables(1, names_in(used))
    gain = Reduction(([], []), ([k], [span(Affine((), count), ())]), Double, None)
    centred = k - (count - 1) / 2.0
    gain.defn = [Reduce(gain(), found(k) * Cos(math.pi * middle * centred), Op.Sum)]
    return pointwise(SignalResult, used, (Affine((), count),), lambda i: found(i) / gain(), "firwin")
