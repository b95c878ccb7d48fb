"""gemv: result(m) += alpha A(m, k) x(k)."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.call import Cut, LibraryCall
from polymat.idiom.gemm import runs
from polymat.idiom.layout import Extents, axis, matrix, merged, vector, view
from polymat.idiom.operands import Sharing, is_pair, result_view, sharing


def match_gemv(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A sum over the product of a matrix and a vector, one for each point of a batch."""
    if not is_pair(term, product) or not term.reduced:
        return None
    shared = sharing(term, product)
    if shared is not None and shared.right:
        term = replace(term, factors=term.factors[::-1])
        shared = sharing(term, product)
    if shared is None or shared.right or not shared.left or term.factors[1].conjugated:
        return None
    return _call(term, product, shared, extents) if is_box(term, product.context) else None


def _call(term: Term, product: Product, shared: Sharing, extents: Extents) -> LibraryCall | None:
    A, x = (view(factor, extents) for factor in term.factors)
    result = result_view(product, extents)
    k = merged(shared.summed, (A, x), term)
    if k is None:
        return None
    for m in runs(shared.left, (result, A), term, suffix=False):
        operands = (matrix(A, ("m", m), ("k", k)), vector(x, "k", k))
        to = vector(result, "m", m)
        if operands[0] is None or operands[1] is None or to is None:
            continue
        if operands[0].is_conjugate_alone:
            continue
        batch = tuple(axis((d,), term) for d in product.dims if d not in m)
        return LibraryCall(
            "gemv",
            product.dtype,
            to,
            (operands[0], operands[1]),
            (("m", axis(m, term)), ("k", axis(k, term))),
            term.scale,
            batch,
            cuts=(Cut("m"),),
        )
    return None
