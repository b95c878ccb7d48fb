"""The statements of a stage that reads itself, for the search of an order."""

from __future__ import annotations

from collections.abc import Iterator

from polymat.graph.accesses import reads_of
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from polymat.poly.isltext import affine_text, encode
from polymat.poly.lifespan import Copying
from polymat.poly.order import Assignment


def recurrence_statements(stage: Stage, context: Domain) -> tuple[Assignment, ...]:
    """One statement a part (tags 0, 1, ...), then one an accumulation."""
    inner = max((len(a.reduced_dims) for a in stage.accumulations), default=0)
    statements: list[Assignment] = []
    own = tuple(encode(d) for d in stage.dims)
    for part in stage.parts:
        where = part.domain.assume(context)
        statements.append(
            Assignment(
                tag=len(statements),
                domain=where,
                writes=Access.of(where, [Affine.name(d) for d in stage.dims]),
                reads=reads_of(where, part.expr, stage.name),
                phase=0,
                lexicographic=(*own, "0", *["0"] * inner),
            )
        )
    for accumulation in stage.accumulations:
        where = accumulation.domain.assume(context)
        statements.append(
            Assignment(
                tag=len(statements),
                domain=where,
                writes=Access.of(where, accumulation.target),
                reads=reads_of(where, accumulation.expr, stage.name),
                phase=1,
                lexicographic=_lexicographic(accumulation, inner, len(statements)),
            )
        )
    return tuple(statements)


def _lexicographic(accumulation: Accumulation, inner: int, tag: int) -> tuple[str, ...]:
    """The element first, then the statement, then the reduced dimensions."""
    outer = tuple(affine_text(form) for form in accumulation.target)
    reduced = [encode(d) for d in accumulation.reduced_dims]
    return (*outer, str(tag), *reduced, *["0"] * (inner - len(reduced)))


def later_reads(pipeline: Pipeline, stage: Stage) -> Iterator[Access]:
    """The elements of a stage that others read."""
    for reader in pipeline.stages:
        if reader.name != stage.name:
            for domain, expr in reader.expressions():
                yield from reads_of(domain.assume(pipeline.context), expr, stage.name)


def leaves_steps_out(pipeline: Pipeline, stage: Stage) -> bool:
    """Whether all that others read of a recurrence is of steps that do not depend on where they are.

    yes:  others read path(N - 1, i, j)
    no:   others read path(k, i, j), or it is a result
    """
    readers = (other for other in pipeline.stages if other.name != stage.name)
    fixed = all(_reads_fixed_steps(other, stage.name) for other in readers)
    return fixed and stage.name not in pipeline.outputs


def _reads_fixed_steps(reader: Stage, array: str) -> bool:
    """Whether what a stage reads of an array is of one step for each of its reads."""
    dims = {*reader.dims, *(dim for item in reader.accumulations for dim in item.dims)}
    return all(
        dims.isdisjoint(load.indices[0].names()) for load in reader.loads() if load.source.name == array
    )


def copies(stage: Stage) -> Iterator[Copying]:
    """The parts of a definition that only say that an element is one at another index of one dimension."""
    for tag, part in enumerate(stage.parts):
        expr = part.expr
        if not isinstance(expr, Load) or expr.source.name != stage.name:
            continue
        apart = [Affine.name(dim) - form for dim, form in zip(stage.dims, expr.indices, strict=True)]
        moved = [dim for dim, form in enumerate(apart) if form != Affine()]
        if len(moved) == 1 and apart[moved[0]].is_constant:
            yield Copying(tag, moved[0], abs(apart[moved[0]].const))
