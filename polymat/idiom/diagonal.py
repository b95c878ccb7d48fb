"""Sums whose diagonal is written apart, put together."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.operands import same_scale
from polymat.idiom.triangulardomain import half_of, whole_half
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain


def with_diagonal(product: Product) -> Product:
    """The product with each addend that is the diagonal of a term's triangle put into that term.

    before:  T(i, i) * B(i, j) + sum over k < i of T(i, k) * B(k, j)
    after:   sum over k <= i of T(i, k) * B(k, j)
    """
    for addend in product.addends:
        for position, term in enumerate(product.terms):
            joined = _joined(term, addend, product)
            if joined is not None:
                terms = (*product.terms[:position], joined, *product.terms[position + 1 :])
                rest = tuple(each for each in product.addends if each is not addend)
                return with_diagonal(replace(product, terms=terms, addends=rest))
    return product


def _joined(term: Term, addend: Term, product: Product) -> Term | None:
    """The term over its triangle with the diagonal, when an addend is what it would be there."""
    alike = len(addend.factors) == len(term.factors) and term.is_plain and addend.is_plain
    if not alike or len(term.reduced) != 1 or not same_scale(term, addend):
        return None
    (summed,) = term.reduced
    for index in product.dims:
        there = [factor.at({summed: Affine.name(index)}) for factor in term.factors]
        if addend.factors not in (tuple(there), tuple(there[::-1])):
            continue
        half = half_of(term, index, summed, product.context)
        if half is None or not half.strict:
            continue
        joined = whole_half(term, index, summed, replace(half, strict=False))
        # Of the box only the reduced index, which comes last, is left out: there it is the result's.
        diagonal = Domain.box(addend.domain.params, addend.dims, joined.box[: len(addend.dims)])
        if addend.domain.assume(product.context).equals(diagonal.assume(product.context)):
            return joined
    return None
