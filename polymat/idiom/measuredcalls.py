"""The time of library calls from what was measured of the library."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TypeVar

from polymat.idiom.call import LibraryCall, Role
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.routines import timed_as

T = TypeVar("T")


def measured_seconds(
    call: LibraryCall, model: LibraryModel, sizes: Mapping[str, int], threads: int
) -> float | None:
    """Seconds of a call with its batch on so many threads; None when the routine was not measured.

    A batch is shared out; otherwise the longest axis of the result is, in blocks as long as each other.
    """
    extents = {role: axis.length(sizes) for role, axis in call.axes}
    batch = prod((axis.length(sizes) for axis in call.batch), start=1.0)
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
    matrices = [operand.transposed for operand in call.operands if len(operand.roles) > 1]
    timed = timed_as(call.routine, transposed=matrices[-1:] == [True] and not any(matrices[:-1]))
    roles = {"m": "n", "n": "m"} if call.side == "right" else {}
    lengths = {str(role): extent for role, extent in extents.items()}
    found = tuple(lengths.get(roles.get(role, role), one) for role in timed.roles)
    return timed.name, call.dtype.dtype, found
