"""Stages as contractions: sums of products of two arrays, some over a triangle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.graph.product import Product, product_of
from polymat.graph.stage import Stage
from polymat.graph.term import Term, is_box
from polymat.lang.affine import Affine
from polymat.lang.expr import Const
from polymat.lang.expressiontext import structure
from polymat.lang.traverse import has_loads
from polymat.lang.types import ALL_TYPES
from polymat.model.estimates import once_a_stage
from polymat.poly.domain import Domain
from polymat.product.contraction import Contraction
from polymat.product.grouping import grouped, is_linear
from polymat.product.triangle import Triangle, triangle_of

_FLOATING = tuple(dtype for dtype in ALL_TYPES if dtype.kind in "fc")


def contraction_of(stage: Stage, context: Domain, estimates: Mapping[str, int]) -> Contraction | None:
    """A stage as a contraction; None when it is none that register blocks are for.

    Of several dimensions that could be rows or depth, the longest is; the estimates decide no more than that.
    """
    return _contraction_of(stage, estimates, context)


@once_a_stage
def _contraction_of(stage: Stage, estimates: Mapping[str, int], context: Domain) -> Contraction | None:
    if stage.dtype not in _FLOATING or not stage.is_reduction or len(stage.dims) < 2:
        return None
    product = product_of(stage, context)
    starts = product is None
    if product is None:  # the sums may start from anything
        product = product_of(_from_zero(stage), context)
    if product is None or product.is_recurrence:
        return None
    if not all(_is_product(term) for term in product.terms):
        return None
    found = _symmetric(stage, product, estimates) or _added_up(stage, product, estimates)
    return replace(found, starts=True, start=None) if found is not None and starts else found


def _symmetric(stage: Stage, product: Product, estimates: Mapping[str, int]) -> Contraction | None:
    """Two sums on either side of a diagonal that are one with a symmetric matrix."""
    if len(product.terms) != 2 or is_box(product.terms[0], product.context):
        return None
    found = grouped(stage, product, product.terms[0], estimates)
    found = None if found is None else _triangular(found, product)
    return found if found is not None and found.mirror is not None else None


def _added_up(stage: Stage, product: Product, estimates: Mapping[str, int]) -> Contraction | None:
    """Every term as a product of its own, the further ones added to what is there."""
    products: list[Contraction] = []
    for term in product.terms:
        found = grouped(stage, product, term, estimates)
        if found is not None and not is_box(term, product.context):
            found = _triangular(found, replace(product, terms=(term,)))
        elif product.others:
            return None
        if found is None:
            return None
        products.append(found if not products else replace(found, start=None, starts=True, others=False))
    return replace(products[0], more=tuple(products[1:])) if products else None


def _is_product(term: Term) -> bool:
    """Whether a term is summed over two array elements that each dimension moves along with a stride."""
    if not term.is_plain or len(term.factors) != 2 or not term.reduced:
        return False
    if not all(is_linear(factor, term.dims) for factor in term.factors):
        return False
    return term.scale is None or not has_loads(term.scale)


def _triangular(found: Contraction, product: Product) -> Contraction | None:
    """A contraction with a triangle; None where it is none.

    Each of its dimensions is one segment: where one operand alone has further ones, loops around the product
    run over these.
    """
    if found.sums:
        return None
    outer = (*found.outer, *found.more_rows, *found.more_columns)
    found = replace(found, outer=outer, more_rows=(), more_columns=())
    groups = (found.rows, found.columns, found.depth)
    term, context = product.terms[0], product.context
    for model in product.terms:
        box = Domain.box(term.domain.params, term.dims, model.box)
        triangle = triangle_of(term, box.assume(context), context, *groups)
        if triangle is None:
            continue
        found = replace(found, triangle=triangle, bounds=dict(zip(term.dims, model.box, strict=True)))
        if triangle.place == "result":
            return _in_result(found, triangle, product)
        whole = Domain.box(product.domain.params, product.dims, product.box).assume(context)
        if product.others or not product.domain.assume(context).equals(whole):
            return None
        return found if len(product.terms) == 1 else _mirrored(found, triangle, product, box)
    return None


def _in_result(found: Contraction, triangle: Triangle, product: Product) -> Contraction | None:
    """A triangle of the result; where that is not all of the product, loops compute the start values."""
    whole = Domain.box(product.domain.params, product.dims, product.box).at_least_zero([triangle.condition])
    if product.domain.assume(product.context).equals(whole.assume(product.context)):
        return replace(found, others=bool(product.others))
    return replace(found, start=None, starts=True)


def _mirrored(found: Contraction, triangle: Triangle, product: Product, box: Domain) -> Contraction | None:
    """Two sums on either side of a diagonal, with the same array as the other factor of both."""
    first, second = product.terms
    if len(second.reduced) != 1 or not second.domain.assume(product.context).equals(
        box.at_least_zero([triangle.rest.condition]).assume(product.context)
    ):
        return None
    scales = [None if term.scale is None else structure(term.scale) for term in (first, second)]
    values = {second.reduced[0]: Affine.name(found.depth)}
    factors = [factor.at(values) for factor in second.factors]
    same = found.right if triangle.place == "left" else found.left
    if scales[0] != scales[1] or same not in factors:
        return None
    factors.remove(same)
    names = {found.rows if triangle.place == "left" else found.columns, found.depth}
    mirror = factors[0]
    return replace(found, mirror=mirror) if mirror.names() & {*found.bounds} >= names else None


def _from_zero(stage: Stage) -> Stage:
    """The stage with sums that start from zero."""
    zero = Const(0, stage.dtype)
    return replace(stage, parts=tuple(replace(part, expr=zero) for part in stage.parts))
