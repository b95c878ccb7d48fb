"""Why a recurrence is not the solution of a triangular system, in words."""

from __future__ import annotations

from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.layout import Extents
from polymat.idiom.sided import Sided, sided
from polymat.idiom.triangulardomain import half_of
from polymat.idiom.trsm import covers, divides_by_diagonal, is_minus_one, reads_solution


def reason_against_system(product: Product, extents: Extents) -> str:
    """The reason why a recurrence, for which no routine was found, is none of trsm's or trsv's."""
    if len(product.terms) != 1 or len(product.addends) != 1:
        parts = f"{len(product.terms)} sums and {len(product.addends)} right-hand sides"
        return f"a recurrence of {parts}, and a triangular system has one each"
    (term,), (start,) = product.terms, product.addends
    if term.weights or start.weights or len(start.factors) != 1 or len(term.factors) != 2:
        return "a recurrence that is no array element less a sum of products of two"
    if not is_minus_one(term.scale):
        return "a recurrence whose sum is not subtracted from the right-hand side, as in a triangular system"
    if term.divisors != start.divisors:
        quotients = " and ".join(map(_divided, (start, term)))
        return f"{quotients} are not divided by the same, as in a triangular system"
    square = next((n for n, factor in enumerate(term.factors) if factor.source != product.name), 0)
    found = sided(term, product, square, extents)
    if found is None or found.other.source != product.name or not reads_solution(found, product):
        read = " and ".join(str(factor) for factor in term.factors if factor.source == product.name)
        return f"{read} is not {product.name} at its own indices with the summed one for the triangle's"
    return _against_triangle(found, term, start, product)


def _against_triangle(found: Sided, term: Term, start: Term, product: Product) -> str:
    half = half_of(term, found.index, found.summed, product.context)
    if half is None or not half.strict:
        return f"its sum is not over all indices on one side of the diagonal: {term.domain}"
    if not divides_by_diagonal(term, found):
        return f"it is divided by {term.divisors[0]}, which is not the diagonal of {found.square}"
    if not covers(start, product):
        return f"its right-hand side {start.factors[0]} is not everywhere"
    return "no routine solves a triangular system with these strides"


def _divided(term: Term) -> str:
    return " / ".join(map(str, (*term.factors[:1], *term.divisors)))
