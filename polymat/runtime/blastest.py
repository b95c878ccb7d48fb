"""Small calls of single BLAS routines, in the ways in which generated code calls them, with known results.

Operands are small integers, so that any order of additions gives the very numbers.  What a routine may not
read is not a number, and what it may not write is looked at after the call: another triangle, the ends of
rows, the elements between those of a vector, and a row more than there is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from polymat.codegen.routines.cblas import (
    ROW_MAJOR,
    cblas_routine,
)
from polymat.runtime.blascases import CASES, Array, Numbers

Find: TypeAlias = Callable[[str], int | None]
"""Where a routine is, by its name; None where the library does not have it."""

ROUNDINGS = 4096


def wrong_routine(find: Find, name: str) -> str:
    """Try a routine of CBLAS out and say what is wrong with it, as the end of a sentence.

    Empty when all is right, where the library does not have it, and for what generated code never calls.
    """
    address, base = find(name), name.removeprefix("cblas_")[1:]
    if address is None or base not in CASES:
        return ""
    routine = cblas_routine(name)
    form, numbers = routine.form, Numbers(routine.letter)
    for arguments, result, expected in CASES[base](numbers):
        returned = _call(address, form.parameters, numbers, arguments, returns=form.returns)
        if returned is not None:
            result[...] = returned
        if not is_same(result, expected, ROUNDINGS if routine.row.rounds else 0):
            return f"gives wrong results: {name}"
    return ""


def _call(address: int, layout: str, numbers: Numbers, arguments: Sequence[Any], *, returns: bool) -> Any:
    """Call a routine whose arguments are as the parameters of a `Form` say."""
    single = numbers.letter in "sc"
    real, kept = ctypes.c_float if single else ctypes.c_double, []
    values: list[Any] = [ROW_MAJOR] if layout[0] == "o" else []
    types: list[Any] = [ctypes.c_int] * len(values)
    for kind, value in zip(layout.removeprefix("o"), arguments, strict=True):
        if kind == "s" and numbers.is_complex:
            kept.append(np.array([value], numbers.dtype))
            value = kept[-1]
        is_array = isinstance(value, np.ndarray)
        values.append(value.ctypes.data if is_array else value)
        types.append(ctypes.c_void_p if is_array else real if kind in "sr" else ctypes.c_int)
    return ctypes.CFUNCTYPE(real if returns else None, *types)(address)(*values)


def is_same(found: Array, expected: Array, roundings: int) -> bool:
    """Whether memory holds what it must, within some roundings of small numbers."""
    if np.array_equal(found, expected):
        return True
    bound = roundings * np.finfo(found.dtype).eps
    return bool(roundings and np.all(np.abs(found - expected) <= bound))


"""The calls of each routine that generated code may call, by its name without the type's letter."""
