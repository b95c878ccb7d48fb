"""What the tests of matchers share: find the idiom of outputs, and compare it with the interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Variable,
)
from polymat.graph.build import build
from polymat.graph.inline import inline_pointwise
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import share_common_stages
from polymat.graph.verifypipeline import verify
from polymat.idiom.call import Idiom
from polymat.idiom.find import Found, idiom_of
from polymat.lang.function import CaseEntry
from tests.idiom.carry_out import carry_out
from tests.tolerance import assert_close

M, N, K, L = (Parameter(Int, name) for name in "MNKL")
alpha, beta = Parameter(Double, "alpha"), Parameter(Double, "beta")
i, j, k, l = (Variable(Int, name) for name in "ijkl")  # noqa: E741 (the field's name)
SCALARS = {"alpha": 1.5, "beta": -0.7}
ODD_SIZES = ((0, 0, 0, 0), (1, 1, 1, 1), (3, 0, 2, 1), (2, 5, 3, 4), (7, 3, 5, 2))


def upto(extent: Any) -> Interval:
    return Interval(Int, 0, extent - 1)


def total(
    name: str,
    result: Sequence[tuple[Variable, Interval]],
    summed: Sequence[tuple[Variable, Interval]],
    value: Any,
    *,
    dtype: Any = Double,
    op: Op = Op.Sum,
    init: Any = None,
) -> Reduction:
    """`name(result) = init + sum over summed of value`; `value` may be a list of Case entries."""
    outer, inner = tuple(zip(*result, strict=True)) or ((), ()), [*result, *summed]
    dims, spans = tuple(zip(*inner, strict=True))
    r = Reduction(([*outer[0]], [*outer[1]]), ([*dims], [*spans]), dtype, name, init=init)
    at = r(*outer[0])
    cases = value if isinstance(value, list) else [value]
    r.defn = [
        Case(each.condition, Reduce(at, each.value, op))
        if isinstance(each, CaseEntry)
        else Reduce(at, each, op)
        for each in cases
    ]
    return r


def point(
    name: str, result: Sequence[tuple[Variable, Interval]], value: Any, dtype: Any = Double
) -> Function:
    """`name(result) = value`; `value` may be a list of Case entries."""
    dims, spans = tuple(zip(*result, strict=True)) or ((), ())
    f = Function(([*dims], [*spans]), dtype, name)
    f.defn = value if isinstance(value, list) else [value]
    return f


def pipeline(*outputs: Function, constraints: Iterable[Condition] = (), inline: bool = True) -> Pipeline:
    built = share_common_stages(verify(build(outputs, constraints=list(constraints))))
    return inline_pointwise(built) if inline else built


def recognised(*outputs: Function, constraints: Iterable[Condition] = ()) -> Found:
    """What all stages of a pipeline together are."""
    built = pipeline(*outputs, constraints=constraints)
    return idiom_of([stage.name for stage in built.stages], built)


def routines(*outputs: Function) -> list[str]:
    """The routines of the calls that all stages together are; empty when they are none."""
    idiom = recognised(*outputs).idiom
    return [] if idiom is None else [call.routine for call in idiom.calls]


def check(
    *outputs: Function,
    sizes: Iterable[Sequence[int]] = ODD_SIZES,
    constraints: Iterable[Condition] = (),
    cuts: Iterable[int] = (0, 1, 2),
) -> Idiom:
    """Recognise, and compare the calls with the interpreter at sizes M, N, K, L."""
    built = pipeline(*outputs, constraints=constraints)
    found = idiom_of([stage.name for stage in built.stages], built)
    assert found.idiom is not None, found.reason
    for extents in sizes:
        params = dict(zip("MNKL", extents, strict=False)) | SCALARS
        values = values_of(built, params)
        for cut in cuts:
            expected = values[found.idiom.product.name]
            actual = carry_out(found.idiom, built, values, params, cut)
            magnitude = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            assert_close(actual, expected, roundings=400, magnitude=100 * magnitude)
    return found.idiom


def values_of(built: Pipeline, params: Mapping[str, Any]) -> dict[str, Any]:
    """Random inputs, and every stage's array by the interpreter; diagonals are away from zero."""
    rng = np.random.default_rng(7)
    arrays: dict[str, Any] = {}
    for array in built.inputs:
        shape = [int(extent.evaluate(params)) for extent in array.extents]
        value = rng.uniform(-1, 1, shape)
        if array.dtype.kind == "c":
            value = value + 1j * rng.uniform(-1, 1, shape)
        if len(shape) == 2 and shape[0] == shape[1]:
            value = value + 3 * np.eye(shape[0])
        arrays[array.name] = value.astype(array.dtype.dtype)
    return interpret(built, arrays, params)
