"""A pipeline and its stages as text, complete: a difference of two texts shows what a rewrite did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from polymat.graph.stage import Bounds, InputArray, Part, Stage
from polymat.lang.expr import Expr
from polymat.lang.expressiontext import whole_lines

if TYPE_CHECKING:
    from polymat.graph.pipeline import Pipeline

INDENT = "    "


def pipeline_lines(pipeline: Pipeline) -> Iterator[str]:
    """A pipeline as lines: its inputs, its stages with their definitions, and the notes of rewriting."""
    yield f"inputs   {', '.join(map(_input, pipeline.inputs)) or '-'}"
    for word, items in (("sizes", pipeline.sizes), ("scalars", pipeline.scalars)):
        if items:
            yield f"{word:<8} {', '.join(f'{item.name}: {item.dtype}' for item in items)}"
    yield f"outputs  {', '.join(pipeline.outputs)}{', trimmed' if pipeline.trim else ''}"
    yield f"order    {', '.join(pipeline.order) or '-'}"
    yield f"context  {pipeline.context}"
    for form, words in pipeline.constraints:
        yield f"requires {words}: {form} >= 0"
    if pipeline.followed:
        yield f"follow   {', '.join(pipeline.followed)}"
    for group in pipeline.sliced:
        yield f"slices   {', '.join(f'{name} along dimension {place}' for name, place in group)}"
    for pair in pipeline.positions:
        yield f"position {pair}"
    if pipeline.alone:
        yield "threads  have such pipelines each of its own"
    if pipeline.apart:
        yield "loops    of each stage are its own"
    for name, extents in pipeline.channels.items():
        yield f"channels {name}: the last dimension holds also {' x '.join(map(str, extents))}"
    for stage in pipeline.stages:
        yield ""
        formula = pipeline.formulas.get(stage.name)
        yield from stage_lines(stage, stage.name in pipeline.outputs, formula or "")
    if pipeline.notes:
        yield ""
    for note in pipeline.notes:
        yield f"note     {note}"


def stage_lines(stage: Stage, is_output: bool = False, formula: str = "") -> Iterator[str]:
    """A stage: its kind, type and domain, and every part and sum of its definition with where it holds."""
    kind = f"reduction {stage.op.name}" if stage.op else "function"
    mark = " -> output" if is_output else ""
    source = f"  # {formula}" if formula else ""
    yield f"{kind} {stage.name}: {stage.dtype} on {stage.domain}{mark}{source}"
    yield from _intervals(stage.dims, stage.bounds)
    target = f"{stage.name}({', '.join(stage.dims)})"
    for part in stage.parts:
        yield from _definition(f"{target} = ", part.expr, _where(part, alone=len(stage.parts) == 1))
    for item in stage.accumulations:
        indices = ", ".join(map(str, item.target))
        start = f"{stage.name}({indices}) {_accumulates(stage)} "
        yield from _definition(start, item.expr, f"over {item.domain}")
        yield from _intervals(item.dims, item.bounds)


def _input(array: InputArray) -> str:
    note = " by columns" if array.turned else ""
    if any(array.pitches):
        note = f" of [{', '.join(map(str, array.shape))}] in it"
    return f"{array.name}[{', '.join(map(str, array.extents))}]: {array.dtype}{note}"


def _intervals(dims: Sequence[str], bounds: Bounds) -> Iterator[str]:
    """The intervals as they were given; the domain is the exact set of what they and conditions leave."""
    sides = (f"{dim} in {low} .. {high}" for dim, (low, high) in zip(dims, bounds, strict=True))
    yield from [INDENT + ", ".join(sides)] if dims else []


def _accumulates(stage: Stage) -> str:
    return {"Sum": "+=", "Mul": "*="}.get(stage.operation.name, f"{stage.operation.name}=")


def _where(part: Part, *, alone: bool) -> str:
    if part.fills:
        return f"elsewhere, {part.domain}"
    if part.condition is None:
        return "" if alone else f"where {part.domain}"
    return f"where {part.condition}, {part.domain}"


def _definition(start: str, expr: Expr, where: str) -> Iterator[str]:
    """`f(i) = value  where ...`, behind the lines that the value needs."""
    *named, value = whole_lines(expr)
    yield from (INDENT + line for line in named)
    yield f"{INDENT}{start}{value}{f'  {where}' if where else ''}"
