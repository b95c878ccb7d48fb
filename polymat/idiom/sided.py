"""A square array times another one: on which side it stands, and between which indices its diagonal lies."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.call import Axis, Operand, Role, Side
from polymat.idiom.layout import Extents, View, axis, matrix, merged, vector, view
from polymat.idiom.operands import is_real_or_complex, result_view
from polymat.idiom.triangulardomain import Half


@dataclass(frozen=True, slots=True)
class Sided:
    """result(.., index, ..) += square(index, summed) other(summed, ..), or with the square at the right.

    index: the result's index of the square; summed: the reduced one.
    across: the result's indices in the other array alone, as one axis; () is a vector.
    batch: the result's remaining indices.
    """

    square: Factor
    other: Factor
    side: Side
    index: str
    summed: str
    across: tuple[str, ...]
    batch: tuple[str, ...]


def sided(term: Term, product: Product, square: int, extents: Extents) -> Sided | None:
    """The term with the factor of that number as the square array; None when it is no such product."""
    if len(term.factors) != 2 or len(term.reduced) != 1 or not is_real_or_complex(term, product):
        return None
    one, other = term.factors[square], term.factors[1 - square]
    if any(factor.conjugated for factor in (one, other)):
        return None
    (summed,) = term.reduced
    left, right = one.names(), other.names()
    own = [d for d in product.dims if d in left and d not in right]
    if len(own) != 1 or summed not in left or summed not in right:
        return None
    if any(d not in left | right for d in product.dims):
        return None
    free = [d for d in product.dims if d in right and d not in left]
    across = _across(free, view(other, extents), result_view(product, extents), term)
    if across is None:
        return None
    side: Side = "right" if across and own[0] == product.dims[-1] else "left"
    batch = tuple(d for d in product.dims if d not in across and d != own[0])
    return Sided(one, other, side, own[0], summed, across, batch)


def _across(free: list[str], other: View, result: View, term: Term) -> tuple[str, ...] | None:
    if not free:
        return ()
    return merged(free, (result, other), term)


@dataclass(frozen=True, slots=True)
class Placed:
    """The operands and axes of a sided product: the square array, the other one, the result."""

    square: Operand
    other: Operand
    result: Operand
    axes: tuple[tuple[Role, Axis], ...]
    batch: tuple[Axis, ...]


def placed(
    found: Sided, term: Term, product: Product, extents: Extents, half: Half, *, copied: bool
) -> Placed | None:
    """The operands with their strides; None where libraries cannot take them.

    copied: the other array is only read to be copied into the result.
    """
    roles: tuple[Role, Role] = ("m", "n") if found.side == "left" else ("n", "m")
    index, summed, across = (roles[0], (found.index,)), ("k", (found.summed,)), (roles[1], found.across)
    whole, other = view(found.square, extents), view(found.other, extents)
    result = result_view(product, extents)
    side = (half.low,), (half.high - half.low + 1,)
    axes: dict[Role, Axis] = {roles[0]: Axis((found.index,), *side), "k": Axis((found.summed,), *side)}
    operands: tuple[Operand | None, ...]
    if not across[1]:
        operands = (
            matrix(whole, index, _k(summed)),
            vector(other, "k", summed[1]),
            vector(result, roles[0], index[1]),
        )
    elif found.side == "left":
        axes["n"] = axis(found.across, term)
        operands = (
            matrix(whole, index, _k(summed)),
            matrix(other, _k(summed), across, copied=copied),
            matrix(result, index, across),
        )
    else:
        axes["m"] = axis(found.across, term)
        operands = (
            matrix(whole, _k(summed), index),
            matrix(other, across, _k(summed), copied=copied),
            matrix(result, across, index),
        )
    square, second, to = operands
    if square is None or second is None or to is None or to.transposed:
        return None
    order: tuple[Role, ...] = ("m", "n", "k")
    batch = tuple(axis((d,), term) for d in found.batch)
    return Placed(square, second, to, tuple((r, axes[r]) for r in order if r in axes), batch)


def _k(summed: tuple[str, tuple[str, ...]]) -> tuple[Role, tuple[str, ...]]:
    return ("k", summed[1])
