"""The sum of a contraction as register blocks see it: its dimensions, and what is a neighbour in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.product.modelblocks import RegisterShape, SumShape, register_shapes
from polymat.product.modelled import ArrayAccess, Modelled
from polymat.product.schemefit import dims_of

CLEARLY = 0.95  # of the arithmetic's seconds, for which sums do not run along neighbours in memory


def quickest_shape(of: Modelled, shape: SumShape) -> tuple[SumShape, list[tuple[float, RegisterShape]]]:
    """The sum with its quickest blocks and their seconds.

    Its longest dimension is innermost where the loop over another one would end too often: three channels,
    say, beside seven taps.
    """
    found = register_shapes(shape, of.machine, of.lanes, unrolls=of.unrolls)
    longest = max(reversed(shape.summed), key=of.extents.__getitem__, default="")
    order = (*(dim for dim in shape.summed if dim != longest), longest)
    if order[-1] == shape.summed[-1]:
        return shape, found
    other = replace(shape, summed=order)
    seconds, block = found[0]
    if CLEARLY * seconds < block.all_seconds(other, of.machine):
        return shape, found
    return other, register_shapes(other, of.machine, of.lanes, unrolls=of.unrolls)


def sum_shape(of: Modelled, copied: Sequence[bool]) -> SumShape:
    """The sum as register blocks see it, with these of its operands copied."""
    dims, along = [], []
    for (factor, access), is_copied in zip(of.factors, copied, strict=True):
        dims.append(frozenset(dims_of(factor, of.found)))
        along.append(dims[-1] if is_copied else frozenset(neighbours(access)))
    stored = next(iter(neighbours(of.result)), "")
    return SumShape(of.extents, of.found.result, _summed(of, copied), tuple(dims), tuple(along), stored)


def neighbours(access: ArrayAccess) -> list[str]:
    """The dimensions along which an array's elements are neighbours."""
    return [dim for dim, step in access.steps.items() if step == access.reference.element_bytes]


def _summed(of: Modelled, copied: Sequence[bool]) -> tuple[str, ...]:
    """The summed dimensions, the one innermost that an operand has as neighbours, of those in place first."""
    factors = sorted(zip(copied, of.factors, strict=True), key=lambda each: each[0])
    order = list(of.found.summed)
    for _, (_, access) in reversed(factors):
        order.sort(key=lambda dim: -access.steps.get(dim, 0))
    return tuple(order)
