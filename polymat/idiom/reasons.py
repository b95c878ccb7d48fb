"""Why a product is no library call, in words."""

from __future__ import annotations

from polymat.graph.product import Product, Term, is_box
from polymat.idiom.operands import sharing


def reason_against(product: Product) -> str:
    """What keeps a product, for which nothing was found, from being a library call."""
    if product.is_recurrence:
        return "a recurrence that is not the solution of a triangular system"
    if product.dtype.kind not in "fc":
        return f"libraries do not multiply {product.dtype}"
    reasons = [_against(term, product) for term in product.terms]
    return next((reason for reason in reasons if reason), "no routine adds these terms")


def _against(term: Term, product: Product) -> str:
    if not term.is_plain:
        return "a factor depends on the indices alone, or a value is divided by"
    if len(term.factors) > 2:
        return f"a product of {len(term.factors)} arrays: {', '.join(map(str, term.factors))}"
    if not all(factor.dtype == product.dtype for factor in term.factors):
        return f"real and complex values are multiplied: {_factors(term)}"
    if len(term.factors) < 2:
        return "a sum of one array's elements" if term.reduced else ""
    if sharing(term, product) is None:
        return f"an index is in one of {_factors(term)} only, or in none"
    if not is_box(term, product.context):
        return f"no routine has this domain: {term.domain}"
    if any(factor.conjugated for factor in term.factors):
        return f"no routine has these strides and conjugates: {_factors(term)}"
    return f"no routine has these strides: {_factors(term)}"


def _factors(term: Term) -> str:
    return " and ".join(map(str, term.factors))
