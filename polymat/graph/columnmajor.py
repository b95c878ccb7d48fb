"""Inputs that lie column by column (Fortran order), read as they lie."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from polymat.errors import LangError, caller_location
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import map_expressions
from polymat.lang.expr import Expr, Load
from polymat.lang.function import Input
from polymat.lang.traverse import rebuild


def turn_inputs(pipeline: Pipeline, fortran: Sequence[Input]) -> Pipeline:
    """Take arrays that lie column by column for the row-major arrays that their memory is.

    before:  c(i, j) += A(i, k) * B(k, j), A of M x K by columns
    after:   c(i, j) += A(k, i) * B(k, j), A of K x M by rows
    """
    names = {array.name for array in fortran}
    known = [array.name for array in pipeline.inputs]
    for array in fortran:
        if array.name not in known:
            raise LangError(
                f"fortran= lists {array.name}, which the outputs do not read", at=caller_location()
            )
    turned = {array.name for array in pipeline.inputs if array.name in names and len(array.extents) > 1}
    if not turned:
        return pipeline
    inputs = tuple(
        replace(array, extents=array.extents[::-1], turned=True) if array.name in turned else array
        for array in pipeline.inputs
    )
    stages = tuple(map_expressions(stage, lambda expr: _turned(expr, turned)) for stage in pipeline.stages)
    notes = tuple(f"{name} is read column by column, as it lies" for name in known if name in turned)
    return replace(pipeline, inputs=inputs, stages=stages, notes=(*pipeline.notes, *notes))


def _turned(expr: Expr, names: Collection[str]) -> Expr:
    def leaf(node: Expr) -> Expr:
        if isinstance(node, Load) and node.source.name in names:
            return Load(node.source, node.indices[::-1], node.dtype, node.at)
        return node

    return rebuild(expr, leaf)
