"""Scalars and sizes of a call, checked as the launcher does, with words for what is wrong."""

from __future__ import annotations

import math
import operator
from typing import NoReturn, SupportsIndex, cast

import numpy as np

from polymat.codegen.c.abi import Scalar
from polymat.errors import ArgumentError

Number = int | float | complex

_LARGEST_INTEGER = 2**63 - 1  # an integer scalar is an int64 in expressions, whatever type its argument has
_LARGEST_SINGLE = float(np.finfo(np.float32).max)


def check_scalar(call: str, scalar: Scalar, value: object) -> Number:
    """The value as a Python number that `scalar.dtype` holds; ArgumentError when there is none."""
    kind = np.dtype(scalar.dtype).kind
    if kind in "iu":
        return check_integer(call, scalar.name, value, scalar.dtype)
    if kind == "c" and isinstance(value, (complex, np.complexfloating)):
        return _check_complex(call, scalar, value)
    return _check_real(call, scalar, value)


def check_integer(call: str, name: str, value: object, dtype: str) -> int:
    """The value as an int in the range of `dtype`."""
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentError(
            f"{call} argument {name} is {value}: expected an integer ({dtype}), not a truth value"
        )
    try:
        number = operator.index(cast(SupportsIndex, value))
    except TypeError:
        is_finite = isinstance(value, (float, np.floating)) and math.isfinite(value)
        raise ArgumentError(
            f"{call} argument {name} is {_show(value)}: expected an integer ({dtype})",
            hint=f"int({name})" if is_finite else "",
        ) from None
    bits = 8 * np.dtype(dtype).itemsize
    low, high = (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not low <= number <= high:
        raise ArgumentError(f"{call} argument {name} is {number}: expected {dtype}, from {low} to {high}")
    if number > _LARGEST_INTEGER:
        raise ArgumentError(
            f"{call} argument {name} is {number}: scalars count as int64, up to {_LARGEST_INTEGER}",
            hint="a vector of one element of UInt64 holds it",
        )
    return number


def _check_real(call: str, scalar: Scalar, value: object) -> float:
    if isinstance(value, (bool, np.bool_, np.longdouble, np.timedelta64)):
        _refuse(call, scalar, value)
    if isinstance(value, (int, np.integer)):
        return _exact(call, scalar, int(value))
    if not isinstance(value, (float, np.floating)):
        _refuse(call, scalar, value)
    return _in_range(call, scalar, float(value))


def _exact(call: str, scalar: Scalar, value: int) -> float:
    try:
        real = float(value)
    except OverflowError:
        real = math.inf
    part = "float32" if _is_single(scalar) else "float64"
    if math.isinf(real) or np.dtype(part).type(_in_range(call, scalar, real)).item() != value:
        raise ArgumentError(
            f"{call} argument {scalar.name} is the integer {value}, which no {part} is exactly",
            hint=f"float({scalar.name}) to have it rounded",
        )
    return real


def _check_complex(call: str, scalar: Scalar, value: complex | np.complexfloating) -> complex:
    if isinstance(value, np.clongdouble):
        _refuse(call, scalar, value)
    number = complex(value)
    return complex(_in_range(call, scalar, number.real), _in_range(call, scalar, number.imag))


def _in_range(call: str, scalar: Scalar, value: float) -> float:
    if _is_single(scalar) and math.isfinite(value) and abs(value) > _LARGEST_SINGLE:
        with np.errstate(over="ignore"):
            overflows = not np.isfinite(np.float32(value))
        if overflows:
            raise ArgumentError(f"{call} argument {scalar.name} is {value}: too large for {scalar.dtype}")
    return value


def _is_single(scalar: Scalar) -> bool:
    return scalar.dtype in ("float32", "complex64")


def _refuse(call: str, scalar: Scalar, value: object) -> NoReturn:
    kind, convert = ("complex", "complex") if scalar.dtype.startswith("complex") else ("real", "float")
    hint = f"{convert}({scalar.name})"
    if kind == "real" and isinstance(value, (complex, np.complexfloating)):
        hint = f"{scalar.name}.real or abs({scalar.name})"
    raise ArgumentError(
        f"{call} argument {scalar.name} is {_show(value)}: expected a {kind} number ({scalar.dtype})",
        hint="" if value is None else hint,
    )


def _show(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    text = repr(value)
    shown = text if len(text) <= 40 else text[:37] + "..."
    return f"{shown}, a {type(value).__name__}"
