"""Why a sum of products that slides along an array is no filter, in words."""

from __future__ import annotations

from collections.abc import Collection

from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.stage import Accumulation, Stage
from polymat.graph.term import Term
from polymat.idiom.operands import is_strided
from polymat.idiom.reasons import reason_against_factors
from polymat.idiom.unlike import reason_against_products
from polymat.lang.expr import Binary, Expr
from polymat.lang.reduction import Op
from polymat.lang.traverse import loads_in, walk


def is_sliding(stage: Stage) -> bool:
    """Whether it sums products with an element at the sum of an index of the result and a summed one."""
    if not stage.is_reduction or stage.operation is not Op.Sum or stage.reads_itself:
        return False
    return any(map(_slides, stage.accumulations))


def reason_against_filter(stage: Stage, product: Product | None) -> str:
    """The reason why a sum along a signal, for which nothing was found, is no filter."""
    if product is None:
        return reason_against_products(stage)
    if len(product.terms) != 1:
        return f"{len(product.terms)} products are added up in it, and a filter is the sum of one"
    (term,) = product.terms
    found = reason_against_factors(term, product)
    if found:
        return found
    for factor in term.factors:
        if not is_strided(factor, term):
            return f"the elements of {factor} are not a constant distance apart"
    sliding = [factor for factor in term.factors if _is_signal(factor, term, product)]
    if len(sliding) != 1:
        return f"both {' and '.join(map(str, term.factors))} slide, and taps stay"
    (signal,) = sliding
    (taps,) = (factor for factor in term.factors if factor is not signal)
    return _against_signal(signal, taps, term, product)


def _against_signal(signal: Factor, taps: Factor, term: Term, product: Product) -> str:
    """What of a sliding array and the other one is not as a filter has it."""
    outputs: set[str] = set()
    for tap in term.reduced:
        forms = [form for form in signal.indices if tap in form.names()]
        if len(forms) != 1 or tap not in taps.names():
            return (
                f"{tap} is in {len(forms)} indices of {signal}"
                if len(forms) != 1
                else (f"{taps} does not depend on {tap}, which is summed over")
            )
        if abs(forms[0].coefficient(tap)) != 1:
            return f"{tap} moves {signal} by {abs(forms[0].coefficient(tap))} elements, and taps by one"
        here = [dim for dim in product.dims if dim in forms[0].names()]
        if len(here) != 1:
            return f"{tap} moves {signal} along no index of the result, or along several"
        outputs.update(here)
    if outputs & taps.names():
        return f"the taps {taps} change along {', '.join(sorted(outputs & taps.names()))}"
    missing = [dim for dim in product.dims if dim not in outputs | signal.names()]
    if missing:
        return f"{signal} does not depend on {', '.join(missing)}"
    return f"it is summed neither over all taps nor over those that meet the signal: {term.domain}"


def _is_signal(factor: Factor, term: Term, product: Product) -> bool:
    names = (set(form.names()) for form in factor.indices)
    return any(not each.isdisjoint(term.reduced) and not each.isdisjoint(product.dims) for each in names)


def _slides(item: Accumulation) -> bool:
    results = {name for form in item.target for name in form.names()}
    summed = {*item.reduced_dims}
    products = [node for node in walk(item.expr) if isinstance(node, Binary) and node.op == "*"]
    if not any(_moves(node.left, summed) and _moves(node.right, summed) for node in products):
        return False
    loads = loads_in(item.expr)
    forms = (set(form.names()) for load in loads for form in load.indices)
    return any(not names.isdisjoint(results) and not names.isdisjoint(summed) for names in forms)


def _moves(expr: Expr, dims: Collection[str]) -> bool:
    loads = loads_in(expr)
    return any(name in dims for load in loads for form in load.indices for name in form.names())
