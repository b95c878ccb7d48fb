"""What library calls take as a function of the sizes, for the choice that is made at each call."""

from __future__ import annotations

import math
from functools import partial, reduce

from polymat.dataclass import dataclass
from polymat.idiom.call import Idiom, LibraryCall
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.measuredcalls import asked
from polymat.lang.affine import Affine
from polymat.machine.grid import Grid

# Of the time of register blocks that calls must take to be preferred: between the sizes that were measured,
# libraries take up to a fourth longer than is read from the grid.
CLEARLY = 0.85
# The same where whole products were timed in both ways, by turns, and say what those between them take: what
# repeated measurements differ by.
AS_MEASURED = 0.97
# The same of a machine on which nothing was measured: a library was tuned on such a one, and no price was.
UNMEASURED = 4 / 3
# Times longer than the rows the columns of a result must be for threads to share them in their place.
SKEW = 4
Extents = tuple[Affine, ...]
"""A length that is the product of forms over the sizes; 1 without any."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredCall:
    """One call as it was measured: the routine, its type, seconds over a grid of extents, and the extents.

    batch: how many times it is made.
    """

    routine: str
    dtype: str
    grid: Grid
    extents: tuple[Extents, ...]
    batch: Extents


@dataclass(frozen=True, slots=True, eq=False)
class CallChoice:
    """Calls are made where their predicted seconds on one thread are fewer than those of the own code.

    calls: what was measured of them.  flops: operations a second of the processor at its peak, by which the
    time of register blocks is known.  each: seconds of a multiplication in loops.
    share: of the time of register blocks that calls must take to be preferred.
    ratio: by what whole products by register blocks took longer than predicted, over the same of calls, where
    both were timed.
    """

    calls: tuple[MeasuredCall, ...]
    flops: float
    each: float
    share: float = CLEARLY
    ratio: Grid | None = None


def choice_of(
    idiom: Idiom,
    model: LibraryModel | None,
    flops: float,
    each: float,
    *,
    share: float,
    ratio: Grid | None = None,
) -> CallChoice | None:
    """The choice for some calls; None where one of them was not measured."""
    if model is None:
        return None
    calls = [_measured(call, model) for call in idiom.calls]
    found = tuple(call for call in calls if call is not None)
    return CallChoice(found, flops, each, share, ratio) if len(found) == len(calls) else None


def share_of(ratio: Grid | None, *, measured: bool = True) -> float:
    """Of the time of register blocks that calls must take to be preferred.

    ratio: where both were timed; the less it follows from size to size, the clearer has to be what is read
    between these.  measured: whether anything was on the machine.
    """
    if not measured:
        return UNMEASURED
    return CLEARLY if ratio is None else min(max(math.exp(-ratio.bend()), CLEARLY), AS_MEASURED)


def _measured(call: LibraryCall, model: LibraryModel) -> MeasuredCall | None:
    lengths = {role: axis.extents for role, axis in call.axes}
    routine, dtype, extents = asked(call, lengths, ())
    grid = model.grid(routine, dtype)
    batch: Extents = reduce(partial(tuple.__add__), (axis.extents for axis in call.batch), ())
    return None if grid is None else MeasuredCall(routine, dtype, grid, extents, batch)
