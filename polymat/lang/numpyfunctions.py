"""NumPy's own functions on whole functions and inputs: `np.exp(A)`, `np.where(A > 0, A, 0)`, `np.sum(A)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np

from polymat.errors import LangError, caller_location
from polymat.lang import later, mathfunctions
from polymat.lang.constructs import Cast
from polymat.lang.einsum import einsum
from polymat.lang.expr import Expr, binary, call
from polymat.lang.function import Source
from polymat.lang.linalg import outer
from polymat.lang.matrix import matmul, multiplied, transposed
from polymat.lang.ndarraynames import HINTS
from polymat.lang.operators import shown
from polymat.lang.padding import pad
from polymat.lang.truths import Count
from polymat.lang.types import Bool, Complex, Double, Int8, floating
from polymat.lang.ufuncs import ARITHMETIC, COMPARED, FUNCTIONS
from polymat.lang.whole import Mask, arithmetic, compared, lifted, where

_METHODS = {"sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all"}
_METHODS_OF = {"amin": "min", "amax": "max", "count_nonzero": "", **{name: name for name in _METHODS}}
_OPTIONS = {"axis", "keepdims", "ddof"}
_TYPED = {"sum", "prod", "mean"}
_REDUCES = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
_RUNS = {"add": "cumsum", "multiply": "cumprod"} | {
    name: f"{name}.accumulate" for name in ("minimum", "maximum")
}


@later.apply_to_whole.given
def apply_to_whole(ufunc: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Apply a universal function of NumPy to operands of which one is a whole array."""
    name = ufunc.__name__
    if method == "reduce" and name in _REDUCES and set(options) <= {"axis", "keepdims"}:
        return getattr(inputs[0], _REDUCES[name])(**{"axis": 0, **options})
    if method == "accumulate" and name in _RUNS and set(options) <= {"axis", "dtype"}:
        return later.running(inputs[0], _RUNS[name], options.get("axis", 0), options.get("dtype"))
    found = _function_of(name) if method == "__call__" and not options else None
    if found is None:
        raise _unknown(name if method == "__call__" else f"{name}.{method}", options)
    return found(*inputs)


def _function_of(name: str) -> Callable[..., Any] | None:
    op = ARITHMETIC.get(name)
    if op is not None:
        return lambda left, right: arithmetic(op, left, right)
    if name in COMPARED:
        return lambda left, right: compared(COMPARED[name], left, right)
    found: Callable[..., Any] | None = _SPECIAL.get(name)
    return getattr(mathfunctions, FUNCTIONS[name]) if found is None and name in FUNCTIONS else found


def _squared(x: Any) -> Any:
    """Of truth values small integers, as in NumPy."""

    def value(element: Expr) -> Expr:
        number = Cast(Int8, element) if element.dtype == Bool else element
        return binary("*", number, number)

    return lifted(value, (x,), f"{x.label}**2")


def _reciprocal(x: Any) -> Any:
    if x.dtype.kind in "iub":
        raise LangError(
            f"np.reciprocal of the {x.dtype} {x.label}: NumPy cuts its quotients off to integers",
            at=caller_location(),
            hint=f"1 / {x.label}, which is Double",
        )
    return 1 / x


def _magnitude(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise LangError(
            f"np.fabs has no meaning for complex values, got {x.label}",
            at=caller_location(),
            hint=f"pm.Abs({x.label})",
        )
    return _of_floats("abs")(x)


def _truth(x: Any) -> Any:
    return x if isinstance(x, Mask) else compared("!=", x, 0)


def _of_floats(name: str) -> Callable[[Any], Any]:
    """A function that NumPy takes of integers in floating point, unlike polymat's of that name."""

    def value(element: Expr) -> Expr:
        real = element.dtype.kind not in "fc"
        return call(name, Cast(floating(element.dtype), element) if real else element)

    return lambda x: lifted(value, (x,), f"{name}({x.label})")


def _double_power(left: Any, right: Any) -> Any:
    def wide(element: Expr) -> Expr:
        wider = Complex if element.dtype.kind == "c" else Double
        return element if element.dtype.weak else Cast(wider, element)

    text = f"float_power({shown(left)}, {shown(right)})"
    return lifted(lambda one, other: binary("**", wide(one), wide(other)), (left, right), text)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "float_power": _double_power,
    "fabs": _magnitude,
    "rint": _of_floats("round"),
    "multiply": multiplied,
    "matmul": matmul,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "square": _squared,
    "isinf": lambda x: compared("==", abs(x), np.inf),
    "isfinite": lambda x: compared("<", abs(x), np.inf),
    "reciprocal": _reciprocal,
    "invert": lambda x: ~x,
    "logical_and": lambda left, right: arithmetic("&", _truth(left), _truth(right)),
    "logical_or": lambda left, right: arithmetic("|", _truth(left), _truth(right)),
    "logical_not": lambda x: ~_truth(x),
}


@later.call_on_whole.given
def call_on_whole(function: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Apply a function of NumPy that is no ufunc to arguments of which one is a whole array."""
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    if name in _METHODS_OF:
        given = {key: value for key, value in options.items() if value is not np._NoValue}
        known = _OPTIONS | {"dtype"} if name in _TYPED else _OPTIONS
        others = {key: value for key, value in given.items() if key not in known}
        if others:
            raise _unknown(name, others)
        if name == "count_nonzero":
            return Count(*arguments, **given)
        return getattr(arguments[0], _METHODS_OF[name])(*arguments[1:], **given)
    if name not in _CALLED:
        raise _unknown(name, {})
    try:
        signature(_CALLED[name]).bind(*arguments, **options)
    except TypeError:
        raise _unknown(name, options) from None
    return _CALLED[name](*arguments, **options)


_COUNTS = "a Reduction h over i: Reduce(h(Clamp(bin_of(i), 0, bins - 1)), 1, Op.Sum)"
_JOINED = "a Function with a Case for each: Case(Condition(i, '<', M), A(i, j)), B(i - M, j) behind"
_WRITTEN = {
    "diff": "A[1:] - A[:-1]",
    "roll": "pm.pad(A, (1, 0), 'wrap')[:-1] for one place",
    "linalg.norm": "pm.Sqrt((A**2).sum())",
    "histogram": _COUNTS,
    "bincount": _COUNTS,
    "concatenate": f"pm.concatenate of signals and vectors; of others {_JOINED}",
    **dict.fromkeys(("stack", "vstack", "hstack"), _JOINED),
}
_ELSEWHERE = "write it with polymat's own functions, or index them in a definition"
_NAMESAKES = {"fft", "ifft", "rfft", "irfft", "convolve", "correlate"}


def _unknown(name: str, options: Mapping[str, Any]) -> LangError:
    given = f" with {', '.join(f'{option}=' for option in options)}" if options else ""
    own = name.rpartition(".")[2]
    other = f"pm.{own}" if own in _NAMESAKES else _ELSEWHERE
    if "dtype" in options and own in _METHODS:
        other = f"A.astype(pm.Double).{own}() converts the elements first"
    return LangError(
        f"np.{name}{given} is not defined on whole functions and inputs",
        at=caller_location(),
        hint=_WRITTEN.get(name) or HINTS.get(name, other),
    )


@later.dotted.given
def dotted(a: Any, b: Any) -> Any:
    """The product of matrices and vectors; of stacks on the right NumPy's `dot` is another one than `@`."""
    ranks = [each.rank for each in (a, b) if isinstance(each, Source)]
    if len(ranks) == 2 and ranks[0] > 1 and ranks[1] > 2:
        raise LangError(
            f"dot of {ranks[0]} and {ranks[1]} dimensions multiplies each matrix by each",
            at=caller_location(),
            hint=f"{shown(a)} @ {shown(b)} multiplies pairs of them; pm.einsum for all",
        )
    return matmul(a, b)


@later.clipped.given
def clipped(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """The elements, none below the one limit or above the other, by either of NumPy's names; None is none."""
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    found = a if low is None else mathfunctions.Max(a, low)
    return found if high is None else mathfunctions.Min(found, high)


@later.rounded.given
def rounded(a: Any, decimals: Any = 0) -> Any:
    """The nearest integers; other places than that of ones are refused."""
    if decimals not in (0, None) or isinstance(decimals, bool):
        raise LangError(
            f"{a.label} rounded to {decimals!r:.40} places: polymat rounds to integers",
            at=caller_location(),
            hint=f"Round({a.label} * 100) / 100 for two places",
        )
    return mathfunctions.Round(a)


_CALLED: dict[str, Callable[..., Any]] = {
    "where": where,
    "transpose": transposed,
    "clip": clipped,
    "dot": dotted,
    "outer": outer,
    "einsum": einsum,
    "pad": pad,
    "round": rounded,
    "around": rounded,
    "cumsum": lambda a, axis=None, dtype=None: later.running(a, "cumsum", axis, dtype),
    "cumprod": lambda a, axis=None, dtype=None: later.running(a, "cumprod", axis, dtype),
    "real": mathfunctions.Real,
    "imag": mathfunctions.Imag,
}
