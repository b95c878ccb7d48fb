"""dot: result += alpha x(k) y(k); dotc with x's conjugate."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.call import LibraryCall, Operand
from polymat.idiom.layout import Extents, axis, merged, vector, view
from polymat.idiom.operands import is_pair, sharing
from polymat.lang.affine import Affine


def match_dot(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A sum over the product of two vectors, one for each point of a batch."""
    if not is_pair(term, product) or not term.reduced:
        return None
    if term.factors[1].conjugated:
        term = replace(term, factors=term.factors[::-1])
    shared = sharing(term, product)
    if shared is None or shared.left or shared.right or term.factors[1].conjugated:
        return None
    x, y = (view(factor, extents) for factor in term.factors)
    k = merged(shared.summed, (x, y), term)
    if k is None or not is_box(term, product.context):
        return None
    operands = (vector(x, "k", k), vector(y, "k", k))
    if operands[0] is None or operands[1] is None:
        return None
    return LibraryCall(
        "dotc" if x.factor.conjugated else "dot",
        product.dtype,
        Operand(product.name, tuple(map(Affine.name, product.dims)), (), ()),
        (operands[0], operands[1]),
        (("k", axis(k, term)),),
        term.scale,
        tuple(axis((d,), term) for d in product.dims),
    )
