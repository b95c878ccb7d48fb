"""trmm and trmv: a product with a triangular array, whose diagonal is its own or ones."""

from __future__ import annotations

from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.call import Cut, Idiom, LibraryCall
from polymat.idiom.layout import Extents
from polymat.idiom.operands import fills_box, same_scale
from polymat.idiom.sided import Sided, placed, sided
from polymat.idiom.triangulardomain import Half, flipped, half_of, stored
from polymat.lang.affine import Affine


def match_trmm(product: Product, extents: Extents) -> Idiom | None:
    """A sum over k up to the diagonal (from the diagonal on), or before it with the other array added.

    sum over k <= i of L(i, k) B(k, j) is trmm; B(i, j) + sum over k < i of L(i, k) B(k, j) is trmm with ones
    on the diagonal.
    """
    if len(product.terms) != 1 or len(product.addends) > 1 or product.is_recurrence:
        return None
    (term,) = product.terms
    if not term.is_plain:
        return None
    for square in (0, 1):
        found = sided(term, product, square, extents)
        if found is None:
            continue
        half = half_of(term, found.index, found.summed, product.context)
        if half is None or half.strict != bool(product.addends):
            continue
        if half.strict and not _is_diagonal(product.addends[0], found, term, product):
            continue
        call = triangular_call("trmm", found, half, term, product, extents)
        if call is not None:
            return Idiom(product, (call,))
    return None


def _is_diagonal(addend: Term, found: Sided, term: Term, product: Product) -> bool:
    """Whether an addend is what ones on the diagonal give, everywhere."""
    other = found.other.at({found.summed: Affine.name(found.index)})
    same = addend.factors == (other,) and addend.is_plain and same_scale(addend, term)
    return same and addend.domain.assume(product.context).equals(product.domain.assume(product.context))


def triangular_call(
    routine: str, found: Sided, half: Half, term: Term, product: Product, extents: Extents
) -> LibraryCall | None:
    """The call of trmm or trsm, or for a vector trmv or trsv; a strict half means ones on the diagonal.

    It writes the whole square's result and nothing else, so that must be all there is.
    """
    if (half.low, half.high) != product.box[product.dims.index(found.index)] or not fills_box(product):
        return None
    place = placed(found, term, product, extents, half, copied=True)
    if place is None:
        return None
    left = found.side == "left"
    triangle = stored(half.triangle if left else flipped(half.triangle), place.square)
    multiplies = routine == "trmm"
    operands = (place.square, place.other)
    if not found.across:
        return LibraryCall(
            "trmv" if multiplies else "trsv", product.dtype, place.result, operands, place.axes, term.scale,
            place.batch, None, triangle, half.strict, (Cut("m", "triangle"),) if multiplies else (),
        )  # fmt: skip
    along, around = (Cut("n"), Cut("m", "triangle")) if left else (Cut("m"), Cut("n", "triangle"))
    cuts = (along, around) if multiplies else (along,)
    return LibraryCall(
        "trmm" if multiplies else "trsm", product.dtype, place.result, operands, place.axes, term.scale,
        place.batch, found.side, triangle, half.strict, cuts,
    )  # fmt: skip
