"""symm and symv: a product with a symmetric array of which one triangle is stored."""

from __future__ import annotations

from collections.abc import Iterator

from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.call import Cut, Idiom, LibraryCall
from polymat.idiom.layout import Extents
from polymat.idiom.operands import same_names, same_scale
from polymat.idiom.sided import Sided, placed, sided
from polymat.idiom.triangulardomain import Half, flipped, half_of, stored
from polymat.lang.affine import Affine


def match_symm(product: Product, extents: Extents) -> Idiom | None:
    """Two terms that read one array on either side of a diagonal, always in the same triangle.

    S(i, k) is A(i, k) for k <= i and A(k, i) for k > i: then sum of S(i, k) B(k, j) is symm, and of
    S(i, k) x(k) symv.  The diagonal may be on either side.
    """
    if len(product.terms) != 2 or product.is_recurrence or not all(t.is_plain for t in product.terms):
        return None
    first, second = product.terms
    renamed = same_names(second, first)
    if renamed is None or not same_scale(first, second):
        return None
    for found in _symmetric(first, renamed, product, extents):
        half = _halves(first, second, found, product)
        call = None if half is None else _call(found, half, first, product, extents)
        if call is not None:
            return Idiom(product, (call,), product.addends)
    return None


def _symmetric(first: Term, second: Term, product: Product, extents: Extents) -> Iterator[Sided]:
    """The ways to see two terms as the two halves of a product with a symmetric array."""
    if len(first.factors) != 2 or len(second.factors) != 2:
        return
    for square in (0, 1):
        found = sided(first, product, square, extents)
        if found is None:
            continue
        swap = {found.index: Affine.name(found.summed), found.summed: Affine.name(found.index)}
        mirrored = {found.square.at(swap), found.other}
        if set(second.factors) == mirrored and len(mirrored) == 2:
            yield found


def _halves(first: Term, second: Term, found: Sided, product: Product) -> Half | None:
    """The half of the first term, when the second term's is the rest of the same square."""
    summed = second.reduced[0]
    one = half_of(first, found.index, found.summed, product.context)
    other = half_of(second, found.index, summed, product.context)
    if one is None or other is None:
        return None
    same = (one.low, one.high) == (other.low, other.high)
    return one if same and one.triangle != other.triangle and one.strict != other.strict else None


def _call(found: Sided, half: Half, term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    place = placed(found, term, product, extents, half, copied=False)
    if place is None or place.other.transposed:
        return None
    left = found.side == "left"
    # `half` has the result's index as row: on the right the array's rows are the summed index.
    triangle = stored(half.triangle if left else flipped(half.triangle), place.square)
    operands = (place.square, place.other) if left else (place.other, place.square)
    if not found.across:
        return LibraryCall(
            "symv", product.dtype, place.result, operands, place.axes, term.scale, place.batch,
            triangle=triangle,
        )  # fmt: skip
    cut = Cut("n") if left else Cut("m")
    return LibraryCall(
        "symm", product.dtype, place.result, operands, place.axes, term.scale, place.batch, found.side,
        triangle, cuts=(cut,),
    )  # fmt: skip
