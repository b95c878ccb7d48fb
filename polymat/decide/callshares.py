"""Which dimensions of library calls threads share: each calls the library for its part."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from polymat.idiom.call import Axis, Idiom, LibraryCall
from polymat.idiom.callcosts import SKEW
from polymat.idiom.libraryroutines import triangle_can_be_cut
from polymat.model.extents import extent
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan


def parallel_of(idiom: Idiom, loops: LoopPlan, sizes: Mapping[str, int], threads: int) -> str | None:
    """The dimension whose range threads share: of the batch, or the longer of those that may be cut.

    The loops, which do what no call does, must be such that it may be cut in them, too.
    """
    cuts = [_cuts(call) for call in idiom.calls]
    common = {dim: even for dim, even in cuts[0].items() if all(dim in other for other in cuts)}
    if loops.recurrence is not None:
        flags = zip(idiom.product.dims, loops.recurrence.independent, strict=False)
        independent = {dim for dim, flag in flags if flag}
        common = {dim: even for dim, even in common.items() if dim in independent}
    batch = [dim for axis in idiom.calls[0].batch for dim in axis.dims if dim in common]
    if batch and _length(idiom, batch[0], sizes) >= threads:
        return batch[0]
    even = [dim for dim, flag in common.items() if flag]
    choice = even or list(common)
    if not choice:
        return None
    lengths = {dim: _length(idiom, dim, sizes) for dim in choice}
    first, longest = choice[0], max(choice, key=lambda dim: lengths[dim])
    return longest if lengths[longest] > SKEW * lengths[first] else first


def across_of(idiom: Idiom, kernel: KernelPlan, parallel: str | None) -> str | None:
    """The dimension that threads share beside the parallel one: where calls may be cut along both."""
    if parallel is None or kernel.parallel != parallel or kernel.across is None:
        return None
    cuts = [_cuts(call) for call in idiom.calls]
    cut_alike = (each.get(dim, False) for each in cuts for dim in (parallel, kernel.across))
    return kernel.across if all(cut_alike) else None


def _cuts(call: LibraryCall) -> dict[str, bool]:
    """Dimensions that may be cut, and whether the pieces are alike; outermost of an axis only."""
    found = {axis.dims[0]: True for axis in call.batch if axis.dims}
    for cut in call.cuts:
        axis = call.axis(cut.role)
        if axis.dims and (cut.pieces == "same" or triangle_can_be_cut(call.routine)):
            found[axis.dims[0]] = cut.pieces == "same"
    return found


def _length(idiom: Idiom, dim: str, sizes: Mapping[str, int]) -> float:
    axes: list[Axis] = [*idiom.calls[0].batch, *(axis for _, axis in idiom.calls[0].axes)]
    axis = next(axis for axis in axes if dim in axis.dims)
    return prod(extent(form, sizes) for form in axis.extents[axis.dims.index(dim) :])
