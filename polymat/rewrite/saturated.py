"""Tables that are the same from some place on: the elements alone that differ, and look-ups within these.

A curve of tones is declared for every value that a pixel can have, and is black below and white above the
range of a sensor.  What is left fits a few vectors, which processors permute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from polymat.graph.evaluate import Evaluator
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import map_expressions
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine, Computed, computed_in, without_computed
from polymat.lang.computed import computed
from polymat.lang.expr import Const, Expr, Load, Parameter, Variable, binary
from polymat.lang.indices import index_variable
from polymat.lang.traverse import children, postorder, rebuild, walk
from polymat.lang.types import Long
from polymat.lang.valueranges import ranges_of
from polymat.poly.domain import Domain

MOST = 1 << 16  # elements of a table that is looked through
LEAST = 2  # times as many elements as are left, or the table stays

Ends = tuple[int, int]


def narrow_tables(pipeline: Pipeline) -> Pipeline:
    """Keep of tables that are looked up at computed places only the elements up to which they differ.

    What an element depends on is computed here, of its index and constants: where that is the same for the
    first indices of all, so is the element, whatever it is made of besides.

    before:  t(v) = Pow(Clamp(v, 0, 255), g), v = -32768 .. 32767;  y(i) = t(x(i))
    after:   t(v) = Pow(Clamp(v, 0, 255), g), v = 0 .. 255;  y(i) = t(Clamp(x(i), 0, 255))
    """
    for name in [stage.name for stage in pipeline.stages if stage.name not in pipeline.outputs]:
        table = pipeline.stage(name)
        ends = _ends(table)
        if ends is not None and _is_looked_up(table, pipeline, ends):
            pipeline = _narrowed(pipeline, table, ends)
    return pipeline


def _ends(stage: Stage) -> Ends | None:
    """The first and the last index of a stage that are needed; None where it is no table, or most are."""
    if len(stage.dims) != 1 or stage.is_reduction or stage.reads_itself or len(stage.parts) != 1:
        return None
    ((low, high),) = stage.box
    if not (low.is_constant and high.is_constant and 1 < high.const - low.const + 1 <= MOST):
        return None
    (part,) = stage.parts
    if not part.domain.equals(Domain.box(stage.domain.params, stage.dims, stage.box)):
        return None
    count = high.const - low.const + 1
    before, behind = count - 1, count - 1
    points = {stage.dims[0]: np.arange(low.const, high.const + 1)}
    for node in _of_index_alone(part.expr, stage.dims[0]):
        with np.errstate(all="ignore"):
            values = Evaluator({}, {}, {}).value(node, points, count)
        before, behind = min(before, _alike(values)), min(behind, _alike(values[::-1]))
    left = count - before - behind
    return (low.const + before, high.const - behind) if 0 < left * LEAST <= count else None


def _of_index_alone(expr: Expr, dim: str) -> Iterator[Expr]:
    """The largest parts of an expression that depend on an index, and on constants alone besides."""
    order, _ = postorder(expr)
    alone: dict[int, bool] = {}
    for node in order:
        known = not isinstance(node, Load | Parameter) and not (
            isinstance(node, Variable) and node.name != dim
        )
        alone[id(node)] = known and all(alone[id(part)] for part in children(node))
    for node in walk(expr, lambda node: () if alone[id(node)] else children(node)):
        if alone[id(node)]:
            if any(isinstance(each, Variable) for each in walk(node)):
                yield node
        elif isinstance(node, Load) and any(dim in form.names() for form in without_computed(node.indices)):
            yield index_variable(dim, Long)


def _alike(values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> int:
    """How many values behind the first are the same to the last bit, without a gap."""
    bits = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    others = np.flatnonzero((bits != bits[0]).any(axis=1))
    return int(others[0]) - 1 if others.size else len(values) - 1


def _is_looked_up(table: Stage, pipeline: Pipeline, ends: Ends) -> bool:
    """Whether a table is read at computed places alone, of types that hold its ends."""
    reads = [load for stage in pipeline.stages for load in stage.loads() if load.source.name == table.name]
    return bool(reads) and all(_limits(load, ends) is not None for load in reads)


def _limits(load: Load, ends: Ends) -> Ends | None:
    """Between which values the index of a load is to be kept; None where it is not one value and a number."""
    match load.indices:
        case (Affine(terms=((Computed(value=value), 1),), const=const),):
            return _held(value, ends[0] - const, ends[1] - const)
        case _:
            return None


def _held(value: Expr, low: int, high: int) -> Ends | None:
    """Two limits as values of the type of what they limit; None where that is all below or all above."""
    if value.dtype.kind not in "iu" or value.dtype.weak:
        return None
    info = np.iinfo(value.dtype.dtype)
    least, most = int(info.min), int(info.max)
    return (max(low, least), min(high, most)) if low <= most and high >= least else None


def _narrowed(pipeline: Pipeline, table: Stage, ends: Ends) -> Pipeline:
    """The pipeline with a part of a table, and look-ups within that."""
    low, high = ends
    bounds = ((Affine((), low), Affine((), high)),)
    domain = Domain.box(table.domain.params, table.dims, bounds)
    (part,) = table.parts
    kept = replace(table, bounds=bounds, domain=domain, parts=(replace(part, domain=domain),))

    def within(expr: Expr) -> Expr:
        return rebuild(expr, lambda leaf: leaf, instead=instead)

    def instead(node: Expr) -> Expr | None:
        if isinstance(node, Load) and node.source.name == table.name:
            return _clamped(node, ends, within)
        return None

    stages = []
    for stage in pipeline.stages:
        reads = any(load.source.name == table.name for load in stage.loads())
        stages.append(kept if stage is table else map_expressions(stage, within) if reads else stage)
    note = f"{table.name}: from {low} to {high}, beyond which it is the same"
    return replace(pipeline, stages=tuple(stages), notes=(*pipeline.notes, note))


def _clamped(load: Load, ends: Ends, change: Callable[[Expr], Expr]) -> Load:
    """A load at a value that is kept between the ends of its table.

    change: of the value, in which tables may be read as well.
    """
    limits, (form,), (atom,) = _limits(load, ends), load.indices, computed_in(load.indices)
    assert limits is not None, "only those are narrowed"
    value = change(atom.value)
    least, most = (Const(limit, value.dtype) for limit in limits)
    inside = binary("min", binary("max", value, least), most)
    kept = Affine(((computed(inside, atom.place, ranges_of(inside)), 1),), form.const)
    return replace(load, indices=(kept,))
