"""Filters: convolutions and correlations written as sums over i - k or i + k."""

from __future__ import annotations

from typing import Literal

from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.layout import Extents, axis, view
from polymat.idiom.operands import holds_where, is_pair, is_strided
from polymat.idiom.transform import Filter, FilterAxis
from polymat.lang.affine import Affine


def match_fir(product: Product, extents: Extents) -> Filter | None:
    """One or several dimensions filtered with taps of as many, for each point of a batch.

    y(n) = sum over k of h(k) x(n - k) is a convolution, with x(n + k) a correlation, with x(2 n - k) one of
    which every second value is kept.
    """
    if len(product.terms) != 1 or product.is_recurrence:
        return None
    (term,) = product.terms
    if not is_pair(term, product) or not term.reduced:
        return None
    for taps, signal in (term.factors, term.factors[::-1]):
        found = _filter(taps, signal, term, product, extents)
        if found is not None:
            return found
    return None


def _filter(taps: Factor, signal: Factor, term: Term, product: Product, extents: Extents) -> Filter | None:
    """The filter whose taps one factor is: it moves with the reduced indices alone (and the batch)."""
    if not (is_strided(taps, term) and is_strided(signal, term)):
        return None
    axes = [_axis(tap, taps, signal, term, product) for tap in term.reduced]
    found = tuple(each for each in axes if each is not None)
    outputs = {each.output for each in found}
    if len(found) < len(axes) or len(outputs) < len(found) or outputs & taps.names():
        return None
    batch = [d for d in product.dims if d not in outputs]
    if any(d not in signal.names() for d in batch) or not _are_separate(signal, found):
        return None
    edges = _edges(signal, found, term, product, extents)
    if edges is None:
        return None
    return Filter(
        product,
        found,
        taps,
        signal,
        edges,
        tuple((axis((each.output,), term), axis((each.tap,), term)) for each in found),
        term.scale,
        tuple(axis((d,), term) for d in batch),
        product.addends,
    )


def _axis(tap: str, taps: Factor, signal: Factor, term: Term, product: Product) -> FilterAxis | None:
    """How signal and taps move with one reduced index: the signal by one, each along one dimension."""
    moving = [form for form in signal.indices if tap in form.names()]
    weights = [form for form in taps.indices if tap in form.names()]
    if len(moving) != 1 or len(weights) != 1:
        return None
    outputs = [d for d in product.dims if moving[0].coefficient(d) > 0]
    sign, direction = moving[0].coefficient(tap), weights[0].coefficient(tap)
    alone = weights[0] - Affine.name(tap).scale(direction)
    if len(outputs) != 1 or abs(sign) != 1 or direction == 0 or set(alone.names()) & set(term.dims):
        return None
    rest = moving[0] - Affine.name(tap).scale(sign)
    rest = rest - Affine.name(outputs[0]).scale(rest.coefficient(outputs[0]))
    if set(rest.names()) & set(term.dims):
        return None
    return FilterAxis(outputs[0], tap, moving[0].coefficient(outputs[0]), sign * direction > 0)


def _are_separate(signal: Factor, axes: tuple[FilterAxis, ...]) -> bool:
    """Whether each output moves the signal along one dimension only, its own."""
    return all(sum(each.output in form.names() for form in signal.indices) == 1 for each in axes)


def _edges(
    signal: Factor, axes: tuple[FilterAxis, ...], term: Term, product: Product, extents: Extents
) -> Literal["valid", "zero"] | None:
    """Whether the sum is over all taps, or over those that meet the signal; None for any other domain."""
    if is_box(term, product.context):
        return "valid"
    each = view(signal, extents)
    inside = []
    for one in axes:
        position = next(n for n, form in enumerate(signal.indices) if one.tap in form.names())
        form = signal.indices[position]
        inside += [form, each.extents[position] - 1 - form]
    return "zero" if holds_where(term, inside, product.context) else None
