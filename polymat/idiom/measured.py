"""The time of library calls from what was measured of the library."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TypeVar

from polymat.idiom.call import Axis, LibraryCall, Role
from polymat.machine.librarymodel import LibraryModel

T = TypeVar("T")
_ROLES: tuple[Role, ...] = ("m", "n", "k")
# Routines that do the work of a measured one.
_SAME = {"herk": "syrk", "gerc": "ger", "dotc": "dot"}


def measured_seconds(
    call: LibraryCall, model: LibraryModel, sizes: Mapping[str, int], threads: int
) -> float | None:
    """Seconds of a call with its batch on so many threads; None when the routine was not measured.

    A batch is shared out; otherwise the longest axis of the result is, in blocks as long as each other.
    """
    extents = {role: _length(axis, sizes) for role, axis in call.axes}
    batch = prod((_length(axis, sizes) for axis in call.batch), start=1.0)
    waves = batch
    if batch >= threads:
        waves = batch / threads
    elif call.cuts:
        longest = max((cut.role for cut in call.cuts), key=lambda role: extents[role])
        extents[longest] = max(extents[longest] / threads, 1.0)
    one = model.seconds(*asked(call, extents, 1.0))
    return None if one is None else waves * one


def asked(call: LibraryCall, extents: Mapping[Role, T], one: T) -> tuple[str, str, tuple[T, ...]]:
    """Routine, dtype and extents as the model has them; one: the extent of an axis that is not there."""
    routine, dtype = _SAME.get(call.routine, call.routine), call.dtype.dtype
    m, n, k = (extents.get(role, one) for role in _ROLES)
    match routine:
        case "gemm":
            left, right = call.operands[:2]
            return "gemm_t" if right.transposed > left.transposed else routine, dtype, (m, n, k)
        case "syrk" | "syr2k":
            return routine, dtype, (m, k)
        case "symm" | "trmm" | "trsm":
            return routine, dtype, (m, n) if call.side == "left" else (n, m)
        case "gemv":
            return ("gemv_t", dtype, (k, m)) if call.operands[0].transposed else (routine, dtype, (m, k))
        case "ger":
            return routine, dtype, (m, n)
        case "dot" | "nrm2":
            return routine, dtype, (k,)
    return routine, dtype, (m,)


def _length(axis: Axis, sizes: Mapping[str, int]) -> float:
    return prod(
        (
            max(float(form.evaluate({name: sizes[name] for name in form.names()})), 0.0)
            for form in axis.extents
        ),
        start=1.0,
    )
