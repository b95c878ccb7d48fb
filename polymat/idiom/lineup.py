"""Sums whose index runs another way, or from elsewhere, than the array elements in them do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from polymat.graph.monomials import Monomial
from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.lang.affine import Affine
from polymat.poly.access import Access


def lined_up(product: Product) -> Product:
    """The product with summed indices such as the elements have them; itself where they do.

    before:  sum over k of A(i, K - 1 - k) * B(K - 1 - k, j);  sum over 1 <= k <= i of T(i, k - 1) * x(k - 1)
    after:   sum over k of A(i, k) * B(k, j);  sum over 0 <= k < i of T(i, k) * x(k)
    """
    terms = tuple(map(_lined_up, product.terms))
    same = all(new is old for new, old in zip(terms, product.terms, strict=True))
    return product if same else replace(product, terms=terms)


def _lined_up(term: Term) -> Term:
    for dim in term.reduced:
        form = _form_of(term, dim)
        if form is not None:
            term = _with_index(term, dim, form)
    return term


def _form_of(term: Term, dim: str) -> Affine | None:
    """The one form in which an index occurs, if it is the index turned or moved by what the sizes say."""
    if term.weights:
        return None
    factors = (*term.factors, *term.divisors)
    forms = {form for factor in factors for form in factor.indices if dim in form.names()}
    if len(forms) != 1 or forms == {Affine.name(dim)}:
        return None
    (form,) = forms
    plain = form.is_linear_in([dim]) and abs(form.coefficient(dim)) == 1
    return form if plain and not {*form.names()} & {*term.dims} - {dim} else None


def _with_index(term: Term, dim: str, form: Affine) -> Term:
    """The term over the values of the form in place of the index."""
    sign = form.coefficient(dim)
    rest = form - Affine.name(dim).scale(sign)
    values = {dim: (Affine.name(dim) - rest).scale(sign)}
    moved = [form if name == dim else Affine.name(name) for name in term.dims]
    first, last = (end.scale(sign) + rest for end in term.range_of(dim))
    ranges = dict(zip(term.dims, term.box, strict=True))
    ranges[dim] = (first, last) if sign > 0 else (last, first)
    return replace(
        term,
        domain=Access.of(term.domain, moved).elements(term.dims),
        box=tuple(ranges[name] for name in term.dims),
        factors=tuple(factor.at(values) for factor in term.factors),
        divisors=tuple(factor.at(values) for factor in term.divisors),
    )


def from_zero(term: Term, backwards: Collection[str] = ()) -> Term:
    """The term with its summed indices moved so that they begin at 0, in its weights too.

    backwards: indices that are counted down from their last value.

    before:  sum over 1 <= k <= N of x(k - 1) * w(k - 1)
    after:   sum over 0 <= k <= N - 1 of x(k) * w(k)
    """
    ranges = {dim: term.range_of(dim) for dim in term.reduced}
    moved = {dim: ends for dim, ends in ranges.items() if ends[0] != Affine() or dim in backwards}
    if not moved:
        return term
    order, values = [Affine.name(dim) for dim in term.dims], {}
    for dim, (low, high) in moved.items():
        index = Affine.name(dim)
        values[dim] = high - index if dim in backwards else index + low
        order[term.dims.index(dim)] = high - index if dim in backwards else index - low
    parts = Monomial(term.scale, term.factors, term.divisors, term.weights).at(values)
    box = zip(term.dims, term.box, strict=True)
    return replace(
        term,
        domain=Access.of(term.domain, order).elements(term.dims),
        box=tuple((Affine(), high - low) if dim in moved else (low, high) for dim, (low, high) in box),
        factors=parts.factors,
        divisors=parts.divisors,
        weights=parts.weights,
    )
