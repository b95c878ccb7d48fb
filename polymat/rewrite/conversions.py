"""Stencils over small integers: conversions in stages of their own, once for each element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Part, Ref, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Load
from polymat.lang.traverse import children, postorder, rebuild, walk
from polymat.lang.types import ScalarType
from polymat.poly.domain import Domain

FEWEST_READS = 3  # of one array at a point: with one, a conversion by itself is a pass through a cache more


def convert_once(pipeline: Pipeline) -> Pipeline:
    """Let stencils compute with floating-point copies of the small integers that they read.

    Loops over elements of one size are vectors throughout; with bytes beside numbers of four C compilers
    convert every element anew wherever it is read, and spread it over four vectors.  The new stages are rows
    in a cache where tiles keep them.

    before:  f(i, j) = (uint8)min(sum of w * (float)a(i, j + k), 255)
    after:   b(i, j) = (float)a(i, j);  g(i, j) = sum of w * b(i, j + k);  f(i, j) = (uint8)min(g(i, j), 255)
    """
    made = _Conversions(pipeline, names_taken(pipeline))
    stages = tuple(new for stage in pipeline.stages for new in made.of(stage))
    if not made.notes:
        return pipeline
    return replace(pipeline, stages=stages, notes=(*pipeline.notes, *made.notes))


@dataclass(slots=True)
class _Conversions:
    """The copies that there are so far, by array and type."""

    pipeline: Pipeline
    taken: set[str]
    copies: dict[tuple[str, ScalarType], Ref] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of(self, stage: Stage) -> Iterator[Stage]:
        """The stage, after those that are made for it."""
        if stage.is_reduction or stage.reads_itself or len(stage.parts) != 1 or len(stage.dims) < 2:
            yield stage
            return
        computed = _unconverted(stage.parts[0].expr)
        if computed.dtype.kind != "f" or computed.dtype.weak:
            yield stage
            return
        converted = [source for source in _small(computed) if _is_converted(computed, source)]
        for source in converted:
            if (source.name, computed.dtype) not in self.copies:
                copy = self._copy(source, computed.dtype, stage)
                self.copies[source.name, computed.dtype] = copy.ref
                yield copy
        if not converted:
            yield stage
            return
        refs = {source.name: self.copies[source.name, computed.dtype] for source in converted}
        yield from self._apart(stage, computed, refs)

    def _copy(self, source: Ref, dtype: ScalarType, reader: Stage) -> Stage:
        pipeline, rank = self.pipeline, len(self.pipeline.extents[source.name])
        own = [f"_pm_x{k}" for k in range(rank)]
        dims = reader.dims if len(reader.dims) == rank else tuple(own)
        bounds = _bounds(pipeline, source.name)
        domain = Domain.box(pipeline.context.params, dims, bounds)
        value = CastExpr(Load(source, tuple(map(Affine.name, dims)), source.dtype), dtype)
        name = free_name(f"{source.name}_{dtype.suffix}", self.taken)
        self.taken.add(name)
        self.notes.append(f"{source.name} is converted to {dtype} once, as {name}")
        return Stage(name, dtype, dims, bounds, domain, (Part(domain, None, value, None),), None, (), None)

    def _apart(self, stage: Stage, computed: Expr, refs: dict[str, Ref]) -> Iterator[Stage]:
        """The arithmetic, and what makes the stage's elements of its results."""

        def leaf(node: Expr) -> Expr:
            if isinstance(node, Load) and node.source.name in refs:
                return Load(refs[node.source.name], node.indices, computed.dtype, node.at)
            return node

        (part,) = stage.parts
        value = rebuild(computed, leaf)
        if computed is part.expr:
            yield replace(stage, parts=(replace(part, expr=value),))
            return
        name = free_name(f"{stage.name}_{computed.dtype.suffix}", self.taken)
        self.taken.add(name)
        inner = replace(stage, name=name, dtype=computed.dtype, parts=(replace(part, expr=value),))
        here = Load(inner.ref, tuple(map(Affine.name, stage.dims)), computed.dtype, part.at)
        yield inner
        yield replace(stage, parts=(replace(part, expr=_with(part.expr, computed, here)),))


def _unconverted(expr: Expr) -> Expr:
    """What is converted, compared with constants or rounded last."""
    while True:
        match expr:
            case CastExpr(operand) if expr.dtype.kind in "iu" or operand.dtype.kind == "f":
                expr = operand
            case Binary("min" | "max", operand, Const()) | Binary("min" | "max", Const(), operand):
                expr = operand
            case _:
                return expr


def _with(expr: Expr, inner: Expr, instead: Expr) -> Expr:
    """An expression with another one in the place of that within it which was found by `_unconverted`."""
    if expr is inner:
        return instead
    match expr:
        case CastExpr(operand):
            return CastExpr(_with(operand, inner, instead), expr.dtype)
        case Binary(op, left, Const() as right):
            return Binary(op, _with(left, inner, instead), right, expr.dtype)
        case Binary(op, left, right):
            return Binary(op, left, _with(right, inner, instead), expr.dtype)
        case _:
            return expr


def _small(expr: Expr) -> list[Ref]:
    """The arrays of integers, smaller than the results, whose elements several points read."""
    reads: dict[tuple[object, ...], set[tuple[Affine, ...]]] = {}
    for node in walk(expr):
        if isinstance(node, Load) and isinstance(node.source, Ref):
            reads.setdefault((node.source, *map(_walked, node.indices)), set()).add(node.indices)
    often = dict.fromkeys(key[0] for key, found in reads.items() if len(found) >= FEWEST_READS)
    return [
        source
        for source in often
        if isinstance(source, Ref) and source.dtype.kind in "iu" and source.dtype.size < expr.dtype.size
    ]


def _walked(form: Affine) -> tuple[Affine, int]:
    """What is equal for two indices that different points give the same values: 3 j + 1 and 3 j + 4."""
    step = abs(form.terms[0][1]) if len(form.terms) == 1 else min((1, len(form.terms)))
    return form - form.const, form.const % step if step else form.const


def _is_converted(expr: Expr, source: Ref) -> bool:
    """Whether all reads of an array are converted to the type of the result before anything is computed."""
    order, _ = postorder(expr)
    for node in order:
        if any(isinstance(child, Load) and child.source.name == source.name for child in children(node)):
            match node:
                case CastExpr(_, dtype) if dtype == expr.dtype:
                    continue
                case Binary("+" | "-" | "*" | "/", _, _, dtype) if dtype == expr.dtype:
                    continue
                case _:
                    return False
    return not isinstance(expr, Load)


def _bounds(pipeline: Pipeline, name: str) -> tuple[tuple[Affine, Affine], ...]:
    for array in pipeline.inputs:
        if array.name == name:
            return tuple((Affine(), extent - 1) for extent in array.extents)
    return pipeline.stage(name).box
