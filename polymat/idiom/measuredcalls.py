"""The time of library calls from what was measured of the library."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt
from typing import TypeVar

from polymat.idiom.call import LibraryCall, Role
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.libraryroutines import triangle_can_be_cut
from polymat.idiom.routines import timed_as

T = TypeVar("T")


def measured_seconds(
    call: LibraryCall, model: LibraryModel, sizes: Mapping[str, int], threads: int
) -> float | None:
    """Seconds of a call with its batch on so many threads; None when the routine was not measured.

    A batch is shared out; otherwise the longest axis of the result is, in blocks as long as each other, or
    that of its triangle, in strips of the same area.
    """
    extents = {role: axis.length(sizes) for role, axis in call.axes}
    batch = prod((axis.length(sizes) for axis in call.batch), start=1.0)
    waves = batch
    if batch >= threads:
        waves = batch / threads
    elif even := [cut.role for cut in call.cuts if cut.pieces == "same"]:
        longest = max(even, key=lambda role: extents[role])
        extents[longest] = max(extents[longest] / threads, 1.0)
    elif threads > 1 and call.cuts and triangle_can_be_cut(call.routine):
        strips = _strips(call, model, extents, threads)
        return None if strips is None else waves * strips
    one = model.seconds(*asked(call, extents, 1.0))
    return None if one is None else waves * one


def _strips(
    call: LibraryCall, model: LibraryModel, extents: Mapping[Role, float], threads: int
) -> float | None:
    """Seconds of the slowest strip of rows of a triangle: a smaller triangle, and what is beside that."""
    role, slowest = call.cuts[0].role, 0.0
    length, products = extents[role], call.row.products
    for number in range(threads):
        begin, end = (length * sqrt(place / threads) for place in (number, number + 1))
        seconds = model.seconds(*asked(call, {**extents, role: max(end - begin, 1.0)}, 1.0))
        beside = model.seconds("gemm", call.dtype.dtype, (end - begin, max(begin, 1.0), extents["k"]))
        if seconds is None or (beside is None and number > 0):
            return None
        slowest = max(slowest, seconds + (products * beside if number > 0 and beside is not None else 0.0))
    return slowest


def asked(call: LibraryCall, extents: Mapping[Role, T], one: T) -> tuple[str, str, tuple[T, ...]]:
    """Routine, dtype and extents as the model has them; one: the extent of an axis that is not there."""
    matrices = [operand.transposed for operand in call.operands if len(operand.roles) > 1]
    timed = timed_as(call.routine, transposed=matrices[-1:] == [True] and not any(matrices[:-1]))
    roles = {"m": "n", "n": "m"} if call.side == "right" else {}
    lengths = {str(role): extent for role, extent in extents.items()}
    found = tuple(lengths.get(roles.get(role, role), one) for role in timed.roles)
    return timed.name, call.dtype.dtype, found
