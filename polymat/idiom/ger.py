"""ger: result(m, n) += alpha x(m) y(n); gerc with y's conjugate."""

from __future__ import annotations

from polymat.graph.product import Product, Term, is_box
from polymat.idiom.call import Cut, LibraryCall
from polymat.idiom.layout import Extents, axis, matrix, merged, vector, view
from polymat.idiom.operands import columns_last, is_pair, result_view, sharing


def match_ger(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A product of two vectors with different indices, added once."""
    if not is_pair(term, product) or term.reduced:
        return None
    term = columns_last(term, product)
    shared = sharing(term, product)
    if shared is None or shared.both or not shared.left or product.dims[-1] not in shared.right:
        return None
    result = result_view(product, extents)
    x, y = (view(factor, extents) for factor in term.factors)
    m, n = merged(shared.left, (result, x), term), merged(shared.right, (result, y), term)
    if m is None or n is None or x.factor.conjugated or not is_box(term, product.context):
        return None
    operands = (vector(x, "m", m), vector(y, "n", n))
    to = matrix(result, ("m", m), ("n", n))
    if operands[0] is None or operands[1] is None or to is None or to.transposed:
        return None
    return LibraryCall(
        "gerc" if y.factor.conjugated else "ger",
        product.dtype,
        to,
        (operands[0], operands[1]),
        (("m", axis(m, term)), ("n", axis(n, term))),
        term.scale,
        cuts=(Cut("m"), Cut("n")),
    )
