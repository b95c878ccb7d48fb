"""Products carried out term by term and point by point, to compare them with what they were made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import islpy as isl
import numpy as np

from polymat.graph.evaluate import Evaluator
from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.poly.domain import Domain
from tests.poly.nests import fix

Values = np.ndarray[Any, Any]


def points_of(domain: Domain, sizes: Mapping[str, int]) -> dict[str, Values]:
    """All points of a domain at given sizes, one array a dimension."""
    whole = fix(domain, sizes).set
    for position in reversed(range(whole.dim(isl.dim_type.param))):
        whole = whole.project_out(isl.dim_type.param, position, 1)
    rows: list[list[int]] = []
    count = len(domain.dims)
    whole.foreach_point(
        lambda point: rows.append(
            [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count)]
        )
    )
    columns = np.array(sorted(rows), dtype=np.int64).reshape(len(rows), count).T
    return dict(zip(domain.dims, columns, strict=True))


def evaluate(
    product: Product, arrays: Mapping[str, Values], params: Mapping[str, Any]
) -> tuple[Values, Values]:
    """The result's array, zero where the product says nothing, and where it says something."""
    shape = [max(int((high + 1).evaluate(params)), 0) for _, high in product.box]
    total = np.zeros(shape, product.dtype.dtype)
    here = np.zeros(shape, bool)
    here[tuple(points_of(product.domain, _sizes(product, params)).values())] = True
    for term in (*product.terms, *product.addends):
        points = points_of(term.domain, _sizes(product, params))
        count = len(next(iter(points.values()), np.zeros(1)))
        value = value_of(term, points, count, arrays, params)
        np.add.at(total, tuple(points[d] for d in product.dims), value if product.dims else value.sum())
    return total, here


def _sizes(product: Product, params: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(params[name]) for name in product.domain.params}


def value_of(
    term: Term, points: Mapping[str, Values], count: int, arrays: Mapping[str, Values], params: Any
) -> Values:
    """A term's value at points of its domain."""
    evaluator = Evaluator(dict(arrays), {name: (0,) * a.ndim for name, a in arrays.items()}, params)
    value: Values = np.ones(count)
    for expr in (term.scale, *term.weights):
        if expr is not None:
            value = value * evaluator.value(expr, points, count)
    for factor in term.factors:
        value = value * _element(factor, arrays, {**params, **points})
    for factor in term.divisors:
        value = value / _element(factor, arrays, {**params, **points})
    return value


def _element(factor: Factor, arrays: Mapping[str, Values], known: Mapping[str, Any]) -> Values:
    index = tuple(form.evaluate(known) for form in factor.indices)
    element = np.asarray(arrays[factor.source][index])
    return np.conj(element) if factor.conjugated else element
