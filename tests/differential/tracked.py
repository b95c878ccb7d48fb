"""NumPy values that know how wrong they may be: the arithmetic of the oracle.

A `Tracked` holds an array (or a Python number, which NumPy then takes for a weak literal) and for every
element a bound of its absolute error: 0 where every correct implementation gives the same value, infinity
where two correct ones may differ arbitrarily, because a rounding error decides a comparison, say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.tolerance import unit_roundoff

Array = npt.NDArray[Any]

_LIBRARY_ROUNDINGS = 8  # of a sine, an exponential, a power
_COMPLEX_ROUNDINGS = 8
_MAY_BE_EXACT = ("+", "-", "*")
_INEXACT_DIVISIONS = ("//", "%")
BINARY: dict[str, Any] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": np.power,
    "min": np.minimum,
    "max": np.maximum,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
}
FUNCTIONS: dict[str, Any] = {
    "Sin": np.sin,
    "Cos": np.cos,
    "Tanh": np.tanh,
    "Atan": np.arctan,
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Abs": np.abs,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Sign": np.sign,
    "Conj": np.conj,
    "Real": np.real,
    "Imag": np.imag,
}
_STEPS = ("Floor", "Ceil", "Sign")
_EXACT = ("Abs", "Conj", "Real", "Imag")


@dataclass(frozen=True)
class Tracked:
    """Values and the bounds of their errors."""

    value: Any
    error: Any

    @property
    def known(self) -> Array:
        """Where a correct implementation must come near the value."""
        return np.asarray(np.isfinite(self.error))

    def at(self, chosen: Array) -> Tracked:
        """Some of the elements."""
        if np.ndim(self.value) == 0:
            return self
        return Tracked(self.value[chosen], self.error[chosen])


def exact(value: Any) -> Tracked:
    """A value without error."""
    return Tracked(value, np.zeros(np.shape(value)))


def _size(value: Any) -> Array:
    return np.asarray(np.abs(np.asarray(value)).astype(np.float64))


def _rounded(value: Array, error: Array, roundings: Any, certain: Array) -> Tracked:
    """Add rounding errors to a propagated one; `certain` says where a NaN or infinity is beyond doubt."""
    value = np.asarray(value)
    if value.dtype.kind in "iu":
        return Tracked(value, np.where(error == 0, 0.0, np.inf))
    if value.dtype.kind == "c":
        roundings, certain = roundings + _COMPLEX_ROUNDINGS, np.zeros_like(certain)
    size = _size(value)
    with np.errstate(invalid="ignore"):
        error = error + roundings * unit_roundoff(value.dtype) * size
    close_to_overflow = (size > float(np.finfo(value.dtype).max) / 4) & (error > 0)
    error = np.where(np.isnan(error) | close_to_overflow, np.inf, error)
    return Tracked(value, np.where(np.isfinite(value), error, np.where(certain, 0.0, np.inf)))


def binary(op: str, left: Tracked, right: Tracked) -> Tracked:
    """A binary operation with NumPy's promotion."""
    a, b = beside(left.value, right.value), beside(right.value, left.value)
    ea, eb = left.error, right.error
    with np.errstate(all="ignore"):
        value = np.asarray(BINARY[op](a, b))
        size_a, size_b, size = _size(a), _size(b), _size(value)
        roundings: Any = 1
        if op in _MAY_BE_EXACT and value.dtype.kind == "f":
            roundings = 1 * (BINARY[op](np.asarray(a, np.longdouble), np.asarray(b, np.longdouble)) != value)
        if op in ("+", "-"):
            error = ea + eb
        elif op == "*":
            error = size_a * eb + size_b * ea + ea * eb
        elif op == "/":
            error = np.where(ea + eb == 0, 0.0, (ea + size * eb) / np.maximum(size_b - eb, 0.0))
        elif op in _INEXACT_DIVISIONS:
            error = _division_error(op, left, right)
        elif op == "**":
            error, roundings = _power_error(left, right), _LIBRARY_ROUNDINGS
        else:
            error, roundings = _extreme_error(op, left, right), 0
    certain = ((ea == 0) & (eb == 0)) | ((op in "+-") & ~(np.isfinite(a) & np.isfinite(b)))
    return _as_weak(
        _rounded(value, np.asarray(error), roundings, np.asarray(certain)), left.value, right.value
    )


class Scalar(int):
    """An integer parameter: beside integers as one of 64 bits, beside others as weak as Python's numbers."""


WEAK = (bool, int, float, complex, Scalar)


def beside(value: Any, other: Any) -> Any:
    """A value as it counts in an operation with another one."""
    if type(value) is not Scalar:
        return value
    return np.int64(value) if type(other) not in WEAK and np.asarray(other).dtype.kind in "iu" else int(value)


def _as_weak(result: Tracked, *operands: Any) -> Tracked:
    """What weak numbers make is weak, too."""
    if any(type(value) not in WEAK for value in operands):
        return result
    made = result.value.item()
    scalar = type(made) is int and any(type(value) is Scalar for value in operands)
    return Tracked(Scalar(made) if scalar else made, result.error)


def _extreme_error(op: str, left: Tracked, right: Tracked) -> Array:
    """Of a minimum or maximum: the chosen operand's, where there is no doubt which it is."""
    a, b, ea, eb = left.value, right.value, left.error, right.error
    apart = np.abs(np.asarray(a, np.float64) - b) > ea + eb
    chosen = np.where((np.asarray(a) < b) == (op == "min"), ea, eb)
    return np.asarray(np.where(apart, chosen, np.maximum(ea, eb)))


def _power_error(left: Tracked, right: Tracked) -> Array:
    """Of a power with an exact exponent: the larger change towards either end of the base's interval."""
    exponent, base, error = _size(right.value), _size(left.value), np.asarray(left.error)
    ends = (np.maximum(base - error, 0.0), base + error)
    changes = [np.abs(np.power(end, exponent) - np.power(base, exponent)) for end in ends]
    unsure = (np.asarray(right.error) > 0) | ((np.asarray(right.value) < 0) & (error > 0))
    return np.where(unsure, np.inf, np.where(error == 0, 0.0, np.maximum(*changes)))


def _division_error(op: str, left: Tracked, right: Tracked) -> Array:
    """Of a floor division or its remainder: unknown where the errors reach the next integer."""
    a, b, ea, eb = left.value, right.value, left.error, right.error
    if not np.any(ea) and not np.any(eb):
        return np.zeros(np.broadcast(a, b).shape)
    quotient = np.asarray(a) / np.asarray(b)
    slack = (ea + np.abs(quotient) * eb) / np.maximum(_size(b) - eb, 0.0) + 1e-6 * (1 + np.abs(quotient))
    sure = np.floor(quotient - slack) == np.floor(quotient + slack)
    kept = np.zeros_like(slack) if op == "//" else ea + np.abs(np.floor(quotient)) * eb
    return np.where((ea == 0) & (eb == 0), 0.0, np.where(sure, kept, np.inf))


def negative(operand: Tracked) -> Tracked:
    """The negated value."""
    return _as_weak(Tracked(np.negative(operand.value), operand.error), operand.value)


def inverted(operand: Tracked) -> Tracked:
    """Every bit the other way."""
    return _as_weak(Tracked(np.invert(operand.value), operand.error), operand.value)


def function(name: str, operand: Tracked) -> Tracked:
    """A mathematical function; 8-bit integers are computed in float32."""
    a, ea = np.asarray(operand.value), operand.error
    if a.dtype.kind in "iu" and name in _STEPS[:2]:
        return operand
    if a.dtype.kind in "iu" and a.dtype.itemsize <= 2 and name not in (*_EXACT, *_STEPS):
        a = a.astype(np.float32)
    with np.errstate(all="ignore"):
        value = np.asarray(FUNCTIONS[name](a))
        if name in _STEPS:
            step = FUNCTIONS[name]
            sure = (ea == 0) | (step(a - ea) == step(a + ea))
            return _as_weak(Tracked(value, np.where(sure, 0.0, np.inf)), operand.value)
        error, size = np.asarray(ea), _size(value)
        if name == "Exp":
            error = size * np.expm1(ea)
        elif name == "Log":
            error = np.where(ea == 0, 0.0, ea / np.maximum(a - ea, 0.0))
        elif name == "Sqrt":
            error = np.where(ea == 0, 0.0, ea / np.sqrt(np.maximum(a - ea, 0.0)))
    is_exact = name in _EXACT and not (name == "Abs" and a.dtype.kind == "c")
    found = _rounded(value, error, 0 if is_exact else _LIBRARY_ROUNDINGS, ea == 0)
    return _as_weak(found, operand.value)


def computed_with(values: Any) -> Any:
    """Values as they are computed with: those of half precision, which is for storage, as single ones."""
    return values.astype(np.float32) if np.asarray(values).dtype == np.float16 else values


def cast(operand: Tracked, dtype: npt.DTypeLike) -> Tracked:
    """The value in another type; unknown where C leaves the conversion undefined."""
    a, target = np.asarray(operand.value), np.dtype(dtype)
    ea = np.broadcast_to(operand.error, a.shape)
    if target == np.float16 and a.dtype != np.float32:
        single = cast(operand, np.float32)
        return cast(single, target)
    with np.errstate(all="ignore"):
        value = a.astype(target)
        if a.dtype.kind == "f" and target.kind in "iu":
            limits = np.iinfo(target)
            inside = (np.trunc(a) >= limits.min) & (np.trunc(a) < float(limits.max))
            sure = inside & ((ea == 0) | (np.trunc(a - ea) == np.trunc(a + ea)))
            return Tracked(value, np.where(sure, 0.0, np.inf))
        narrower = target.kind in "fc" and unit_roundoff(target) > unit_roundoff(a.dtype)
        if not narrower:
            return Tracked(value, ea)
        least = np.where(ea == 0, 0.0, float(np.finfo(target).smallest_subnormal))
        return _rounded(value, ea + least, 1, (ea == 0) | ~np.isfinite(a))


COMPARED: dict[str, Any] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def compare(op: str, left: Tracked, right: Tracked) -> tuple[Array, Array]:
    """Where the comparison holds, and where the errors leave no doubt about it."""
    error = np.asarray(left.error + right.error)
    with np.errstate(all="ignore"):
        apart = np.abs(np.asarray(left.value) * 1.0 - np.asarray(right.value) * 1.0) > error
    sure = (error == 0) | (apart & np.isfinite(error))
    return np.asarray(COMPARED[op](left.value, right.value)), np.asarray(sure)
