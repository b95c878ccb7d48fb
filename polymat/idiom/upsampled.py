"""Filters of signals with zeros between their samples, which are left out of the sums (polyphase)."""

from __future__ import annotations

from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.layout import Extents, axis, view
from polymat.idiom.operands import holds_where, is_pair
from polymat.idiom.transform import Filter, FilterAxis
from polymat.lang.affine import Affine, FloorDiv


def match_upsampled(product: Product, extents: Extents) -> Filter | None:
    """y(n) = sum over k of h(p % u + u k) x(p // u - k), p = d n + s, for all such taps and samples.

    That is x with u - 1 zeros after each sample, filtered with h, of which every d-th result is kept from the
    one at s on.
    """
    if len(product.terms) != 1 or product.is_recurrence:
        return None
    (term,) = product.terms
    if not is_pair(term, product) or len(term.reduced) != 1:
        return None
    for taps, signal in (term.factors, term.factors[::-1]):
        found = _filter(taps, signal, term, product, extents)
        if found is not None:
            return found
    return None


def _filter(taps: Factor, signal: Factor, term: Term, product: Product, extents: Extents) -> Filter | None:
    along = _axis(taps, signal, term, product)
    if along is None:
        return None
    batch = [d for d in product.dims if d != along.output]
    if any(d not in signal.names() for d in batch):
        return None
    sample, tap = signal.indices[-1], taps.indices[-1]
    last, most = view(signal, extents).extents[-1] - 1, view(taps, extents).extents[-1] - 1
    if term.range_of(along.tap) != (Affine(), (most + along.up).floordiv(along.up) - 1):
        return None
    if not holds_where(term, [sample, last - sample, most - tap], product.context):
        return None
    return Filter(
        product,
        (along,),
        taps,
        signal,
        "zero",
        ((axis((along.output,), term), axis((along.tap,), term)),),
        term.scale,
        tuple(axis((d,), term) for d in batch),
        product.addends,
    )


def _axis(taps: Factor, signal: Factor, term: Term, product: Product) -> FilterAxis | None:
    """How the last index of both moves with the reduced index and with one of the result's."""
    if not taps.indices or not signal.indices:
        return None
    (k,), dims = term.reduced, set(product.dims)
    sample, tap = signal.indices[-1], taps.indices[-1]
    inner = [
        atom for atom, _ in sample.terms if isinstance(atom, FloorDiv) and dims & set(atom.numerator.names())
    ]
    others = (*signal.indices[:-1], *taps.indices[:-1])
    if len(inner) != 1 or any(k in form.names() or not form.is_linear_in(dims) for form in others):
        return None
    up, position = inner[0].divisor, inner[0].numerator
    newest = Affine(((inner[0], 1),))
    if sample != newest - Affine.name(k) or tap != position - newest.scale(up) + Affine.name(k).scale(up):
        return None
    outputs = [d for d in product.dims if position.coefficient(d) > 0]
    if len(outputs) != 1 or any(
        outputs[0] in form.names() for form in (*signal.indices[:-1], *taps.indices[:-1])
    ):
        return None
    step = position.coefficient(outputs[0])
    shift = position - Affine.name(outputs[0]).scale(step)
    if dims & set(shift.names()):
        return None
    return FilterAxis(outputs[0], k, step, False, up, shift)
