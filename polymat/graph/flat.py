"""A sum of products as one stage, whatever stages it was written in."""

from __future__ import annotations

from functools import reduce

from polymat.graph.monomials import Factor
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import Product, Term
from polymat.graph.stage import Accumulation, Part, Ref, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load, binary, call
from polymat.lang.reduction import Op
from polymat.lang.types import ScalarType


def flat_stage(product: Product, pipeline: Pipeline) -> Stage:
    """The product as a reduction that starts from its addends and accumulates its terms.

    before:  P(i, j) = sum over k of A(i, k) * B(k, j);  C(i, j) = alpha * P(i, j) + beta * D(i, j)
    after:   C(i, j) starts as beta * D(i, j);  C(i, j) += alpha * A(i, k) * B(k, j)
    """
    result = pipeline.stage(product.name)
    inputs = {array.name for array in pipeline.inputs}
    addends = [_expr(term, inputs, product.dtype) for term in product.addends]
    start = _sum(addends, product.dtype)
    targets = tuple(Affine.name(dim) for dim in product.dims)
    return Stage(
        name=result.name,
        dtype=result.dtype,
        dims=result.dims,
        bounds=result.bounds,
        domain=result.domain,
        parts=(Part(product.domain, None, start, result.at), *product.others),
        op=Op.Sum,
        accumulations=tuple(
            Accumulation(
                dims=term.dims,
                bounds=term.box,
                domain=term.domain,
                condition=None,
                target=targets,
                expr=_expr(term, inputs, product.dtype),
                at=result.at,
            )
            for term in product.terms
        ),
        at=result.at,
    )


def _sum(values: list[Expr], dtype: ScalarType) -> Expr:
    return reduce(lambda one, other: binary("+", one, other), values) if values else Const(0, dtype)


def _expr(term: Term, inputs: set[str], dtype: ScalarType) -> Expr:
    """The product that a term adds at one point."""
    values = [] if term.scale is None else [term.scale]
    values += [*term.weights, *(_load(factor, inputs) for factor in term.factors)]
    value = reduce(lambda one, other: binary("*", one, other), values) if values else Const(1, dtype)
    for factor in term.divisors:
        value = binary("/", value, _load(factor, inputs))
    return value


def _load(factor: Factor, inputs: set[str]) -> Expr:
    load = Load(Ref(factor.source, factor.dtype, factor.source in inputs), factor.indices, factor.dtype)
    return call("conj", load) if factor.conjugated else load
