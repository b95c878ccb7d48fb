"""Transforms by numpy.fft and filters tap by tap, from what their descriptions say."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polymat.graph.evaluate import Evaluator
from polymat.graph.monomials import Factor
from polymat.idiom.call import Axis
from polymat.idiom.transform import Filter, Transform
from polymat.lang.expr import Expr
from tests.graph.products import points_of, value_of

Values = np.ndarray[Any, Any]


def transform(found: Transform, arrays: Mapping[str, Values], params: Mapping[str, Any]) -> Values:
    """The result's array by numpy.fft."""
    result = _started(found, arrays, params)
    inputs = [range(int(each.length.evaluate(params))) for each in found.axes]
    for point in _points(found.batch, params):
        grid = np.meshgrid(*inputs, indexing="ij") if all(map(len, inputs)) else None
        if grid is None:
            continue
        names = dict(zip([each.input for each in found.axes], grid, strict=True))
        values = _element(found.source, arrays, {**params, **point, **names})
        spectrum: Values = np.fft.fftn(values) if found.sign < 0 else np.fft.ifftn(values) * values.size
        spectrum = {"cosine": spectrum.real, "sine": spectrum.imag}.get(found.kind, spectrum)
        number = found.number if np.iscomplexobj(result) else found.number.real
        where = tuple(
            point[d] if d in point else slice(0, result.shape[n]) for n, d in enumerate(found.product.dims)
        )
        pairs = zip(found.axes, inputs, strict=True)
        kept = tuple(slice(0, len(each) // 2 + 1 if axis.half else None) for axis, each in pairs)
        result[where] += number * _scale(found.scale, arrays, params) * spectrum[kept]
    return result


def filtered(found: Filter, arrays: Mapping[str, Values], params: Mapping[str, Any]) -> Values:
    """The result's array, one product of a tap and a sample at a time."""
    result = _started(found, arrays, params)
    outputs = [axis for axis, _ in found.ranges]
    taps = [axis for _, axis in found.ranges]
    for point in _points([*found.batch, *outputs], params):
        for tap in _points(taps, params):
            known = {**params, **point, **tap}
            index = [form.evaluate(known) for form in found.signal.indices]
            shape = arrays[found.signal.source].shape
            if any(not 0 <= n < extent for n, extent in zip(index, shape, strict=True)):
                assert found.edges == "zero"
                continue
            product = _element(found.taps, arrays, known) * _element(found.signal, arrays, known)
            result[tuple(point[d] for d in found.product.dims)] += product * _scale(
                found.scale, arrays, params
            )
    return result


def _started(found: Transform | Filter, arrays: Mapping[str, Values], params: Mapping[str, Any]) -> Values:
    product = found.product
    shape = [max(int((high + 1).evaluate(params)), 0) for _, high in product.box]
    result = np.zeros(shape, product.dtype.dtype)
    for term in found.start:
        points = points_of(term.domain, {n: int(params[n]) for n in term.domain.params})
        count = len(next(iter(points.values()), np.zeros(1)))
        np.add.at(result, tuple(points.values()), value_of(term, points, count, arrays, params))
    return result


def _points(axes: Sequence[Axis], params: Mapping[str, Any]) -> list[dict[str, int]]:
    names = [dim for axis in axes for dim in axis.dims]
    ranges = [
        range(int(low.evaluate(params)), int((low + extent).evaluate(params)))
        for axis in axes
        for low, extent in zip(axis.low, axis.extents, strict=True)
    ]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*ranges)]


def _scale(scale: Expr | None, arrays: Mapping[str, Values], params: Mapping[str, Any]) -> Any:
    return 1 if scale is None else Evaluator(dict(arrays), {}, params).value(scale, {}, 1)[0]


def _element(factor: Factor, arrays: Mapping[str, Values], known: Mapping[str, Any]) -> Values:
    index = tuple(form.evaluate(known) for form in factor.indices)
    element = np.asarray(arrays[factor.source][index])
    return np.conj(element) if factor.conjugated else element
