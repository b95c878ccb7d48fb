"""A sum of products as one stage, whatever stages it was written in."""

from __future__ import annotations

from functools import partial, reduce

from polymat.graph.pipeline import Pipeline
from polymat.graph.product import Product
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, binary
from polymat.lang.reduction import Op


def flat_stage(product: Product, pipeline: Pipeline) -> Stage:
    """The product as a reduction that starts from its addends and accumulates its terms.

    before:  P(i, j) = sum over k of A(i, k) * B(k, j);  C(i, j) = alpha * P(i, j) + beta * D(i, j)
    after:   C(i, j) starts as beta * D(i, j);  C(i, j) += alpha * A(i, k) * B(k, j)
    """
    result = pipeline.stage(product.name)
    addends = [term.expr for term in product.addends]
    start = reduce(partial(binary, "+"), addends) if addends else _nothing(product)
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
                expr=term.expr,
                at=result.at,
            )
            for term in product.terms
        ),
        at=result.at,
    )


def _nothing(product: Product) -> Const:
    """What changes no term when it is added: for a single product -0.0, so that -0.0 stays what it is."""
    if any(term.reduced for term in product.terms) or product.dtype.kind not in "fc":
        return Const(0, product.dtype)
    return Const(-0.0 if product.dtype.kind == "f" else complex(-0.0, -0.0), product.dtype)
