"""Inputs that are parts of larger arrays, read as they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.errors import LangError, caller_location
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import over_sizes
from polymat.graph.stage import InputArray, ScalarInput
from polymat.lang.affine import Affine
from polymat.lang.function import Input
from polymat.lang.types import Long


def pitch_inputs(pipeline: Pipeline, strided: Sequence[Input]) -> Pipeline:
    """Take arrays whose rows lie apart for the larger arrays that these are rows of.

    before:  c(i) += A(i, k) * x(k), A of M x K
    after:   c(i) += A(i, k) * x(k), A of M x P, of which K columns are read; P >= K comes from A's strides
    """
    _check(pipeline, strided)
    names = {array.name for array in strided}
    inputs = tuple(_pitched(array) if array.name in names else array for array in pipeline.inputs)
    added = [name for array in inputs for name in array.pitches if name]
    if not added:
        return pipeline
    sizes = (*pipeline.sizes, *(ScalarInput(name, Long) for name in added))
    params = tuple(size.name for size in sizes)
    room = [
        Affine.name(name) - extent
        for array in inputs
        for name, extent in zip(array.pitches, array.shape[1:], strict=False)
        if name
    ]
    notes = [
        f"{array.name} is read as it lies where its rows lie apart" for array in inputs if any(array.pitches)
    ]
    return replace(
        pipeline,
        inputs=inputs,
        sizes=sizes,
        stages=tuple(over_sizes(stage, params) for stage in pipeline.stages),
        context=pipeline.context.over(params).at_least_zero(room),
        notes=(*pipeline.notes, *notes),
    )


def _check(pipeline: Pipeline, strided: Sequence[Input]) -> None:
    """Refuse what the pipeline does not read, and arrays whose elements are checked one after the other."""
    known = {array.name: array for array in pipeline.inputs}
    for array in strided:
        if array.name not in known:
            raise LangError(
                f"strided= lists {array.name}, which the outputs do not read", at=caller_location()
            )
        if known[array.name].values is not None and len(known[array.name].extents) > 1:
            raise LangError(
                f"strided= lists {array.name}, whose values are declared: each call checks a whole array",
                at=caller_location(),
            )


def _pitched(array: InputArray) -> InputArray:
    """An input whose dimensions but for the first are as long as its strides say; constant ones stay."""
    if len(array.extents) < 2:
        return array
    pitches = tuple(
        "" if extent.is_constant else f"_pm_pitch{dim}_{array.name}"
        for dim, extent in enumerate(array.extents[1:], 1)
    )
    longer = [
        Affine.name(name) if name else extent for name, extent in zip(pitches, array.extents[1:], strict=True)
    ]
    return replace(array, extents=(array.extents[0], *longer), pitches=pitches, shape=array.extents)
