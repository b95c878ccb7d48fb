"""syr2k: one triangle of result(m, n) += alpha (A(m, k) B(n, k) + B(m, k) A(n, k))."""

from __future__ import annotations

from polymat.graph.product import Product
from polymat.idiom.call import Idiom, LibraryCall
from polymat.idiom.layout import Extents
from polymat.idiom.operands import columns_last, same_names, same_scale
from polymat.idiom.syrk import rank_update
from polymat.lang.affine import Affine


def match_syr2k(product: Product, extents: Extents) -> Idiom | None:
    """Two products in the same triangle, each the transpose of the other."""
    if len(product.terms) != 2 or product.is_recurrence:
        return None
    first, second = product.terms
    update = rank_update(first, product, extents)
    if update is None or not same_scale(first, second) or not first.domain.equals(second.domain):
        return None
    call, A, B = update
    renamed = same_names(second, first)
    if renamed is None or len(renamed.factors) != 2 or not renamed.is_plain:
        return None
    row, column = call.axis("m").dims[0], call.axis("n").dims[0]
    swap = {row: Affine.name(column), column: Affine.name(row)}
    transposed = [factor.at(swap) for factor in columns_last(first, product).factors]
    if any(factor.conjugated for factor in (*transposed, *renamed.factors)):
        return None
    if list(columns_last(renamed, product).factors) != transposed[::-1] or A.transposed != B.transposed:
        return None
    found = LibraryCall(
        "syr2k", call.dtype, call.result, (A, B), call.axes, first.scale, call.batch, None, call.triangle,
        cuts=call.cuts,
    )  # fmt: skip
    return Idiom(product, (found,), product.addends)
