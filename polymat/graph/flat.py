"""A sum of products as one stage, whatever stages it was written in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from polymat.errors import Location
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import Product
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.graph.term import Term
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, binary
from polymat.lang.reduction import Op
from polymat.memo import remembered
from polymat.poly.domain import Domain

MOST_STARTS = 8  # parts of a domain in which different addends are added


@remembered
def flat_stage(product: Product, pipeline: Pipeline) -> Stage | None:
    """The product as a reduction that starts from its addends and accumulates its terms.

    before:  P(i, j) = sum over k of A(i, k) * B(k, j);  C(i, j) = alpha * P(i, j) + beta * D(i, j)
    after:   C(i, j) starts as beta * D(i, j);  C(i, j) += alpha * A(i, k) * B(k, j)

    Where an addend is part of some elements only, as on one side of a diagonal, the parts of the domain start
    differently; None where these are many.
    """
    result = pipeline.stage(product.name)
    starts = started(product)
    if starts is None:
        return None
    begun = (
        Part(domain, None, _nothing(product) if value is None else value, result.at)
        for domain, value in starts
    )
    return Stage(
        name=result.name,
        dtype=result.dtype,
        dims=result.dims,
        bounds=result.bounds,
        domain=result.domain,
        parts=(*begun, *product.others),
        op=Op.Sum,
        accumulations=tuple(_accumulation(product, term, result.at) for term in product.terms),
        at=result.at,
    )


def _accumulation(product: Product, term: Term, at: Location | None) -> Accumulation:
    """A term as it is added to the elements of the result."""
    targets = tuple(Affine.name(dim) for dim in product.dims)
    return Accumulation(
        dims=term.dims,
        bounds=term.box,
        domain=term.domain,
        condition=None,
        target=targets,
        expr=term.expr,
        at=at,
    )


def started(product: Product) -> list[tuple[Domain, Expr | None]] | None:
    """The parts of the domain with the sum of what is added there once, None for nothing.

    None altogether where there are many parts.
    """
    pieces = _starts(product)
    if len(pieces) > MOST_STARTS:
        return None
    return [(domain, _sum(addends) if addends else None) for domain, addends in pieces]


def _starts(product: Product) -> list[tuple[Domain, tuple[Term, ...]]]:
    """The parts of the domain with the addends that are added there; not to the end where they are many."""
    pieces: list[tuple[Domain, tuple[Term, ...]]] = [(product.domain, ())]
    for addend in product.addends:
        found: list[tuple[Domain, tuple[Term, ...]]] = []
        for domain, addends in pieces:
            within, beyond = domain.intersect(addend.domain), domain.subtract(addend.domain)
            if beyond.assume(product.context).is_empty():
                found.append((domain, (*addends, addend)))
            elif within.assume(product.context).is_empty():
                found.append((domain, addends))
            else:
                found += [(within, (*addends, addend)), (beyond, addends)]
        pieces = found
        if len(pieces) > MOST_STARTS:
            break
    return pieces


def _sum(addends: Sequence[Term]) -> Expr:
    return reduce(partial(binary, "+"), [term.expr for term in addends])


def _nothing(product: Product) -> Const:
    """What changes no term when it is added: for a single product -0.0, so that -0.0 stays what it is."""
    if any(term.reduced for term in product.terms) or product.dtype.kind not in "fc":
        return Const(0, product.dtype)
    return Const(-0.0 if product.dtype.kind == "f" else complex(-0.0, -0.0), product.dtype)
