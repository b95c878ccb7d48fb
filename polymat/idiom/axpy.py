"""axpy and scal: a scaled vector, added to something or alone."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.call import Cut, Idiom, LibraryCall
from polymat.idiom.layout import Extents, axis, merged, vector, view
from polymat.idiom.operands import is_real_or_complex, result_view


def match_axpy(product: Product, extents: Extents) -> Idiom | None:
    """alpha x(i) + beta y(i): the first scaled term is axpy's, the other what it is added to."""
    if len(product.terms) != 2 or product.addends or not _are_vectors(product):
        return None
    scaled = next((n for n, term in enumerate(product.terms) if term.scale is not None), 0)
    added, start = product.terms[scaled], product.terms[1 - scaled]
    call = _call("axpy", added, product, extents)
    if call is None:
        return None
    return Idiom(replace(product, terms=(added,), addends=(start,)), (call,), (start,))


def match_scal(product: Product, extents: Extents) -> Idiom | None:
    """alpha x(i), alpha not 1."""
    if len(product.terms) != 1 or product.addends or not _are_vectors(product):
        return None
    call = _call("scal", product.terms[0], product, extents) if product.terms[0].scale is not None else None
    return None if call is None else Idiom(product, (call,))


def _are_vectors(product: Product) -> bool:
    """Whether every term is one array element over the whole domain, without a sum."""
    return bool(product.dims) and all(
        len(term.factors) == 1
        and term.is_plain
        and not term.reduced
        and term.factors[0].names() >= set(product.dims)
        and not term.factors[0].conjugated
        and is_real_or_complex(term, product)
        and is_box(term, product.context)
        for term in product.terms
    )


def _call(routine: str, term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    x, result = view(term.factors[0], extents), result_view(product, extents)
    m = merged(product.dims, (result, x), term)
    if m is None:
        return None
    operand, to = vector(x, "m", m), vector(result, "m", m)
    if operand is None or to is None:
        return None
    return LibraryCall(
        routine, product.dtype, to, (operand,), (("m", axis(m, term)),), term.scale, cuts=(Cut("m"),)
    )
