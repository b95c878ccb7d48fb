"""Operations of a point, with the loads that it takes: what work is counted in where threads are weighed."""

from __future__ import annotations

from collections.abc import Iterator

from polymat.graph.operations import expression_operations
from polymat.graph.stage import Accumulation, Bounds, Stage
from polymat.lang.affine import computed_in
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import walk
from polymat.memo import remembered


@remembered
def operations(expr: Expr) -> int:
    """Operations of one point: loads and arithmetic count one, functions as `graph.operations` says."""
    return 1 + int(expression_operations(expr)) + sum(isinstance(node, Load) for node in walk(expr))


def accumulated(item: Accumulation) -> int:
    """Operations of one point of a sum, with those that its place is computed by."""
    return operations(item.expr) + sum(operations(atom.value) for atom in computed_in(item.target))


def counted_boxes(stage: Stage) -> Iterator[tuple[int, Bounds]]:
    """The boxes around the points of a stage, each with the operations of one of them."""
    yield from ((operations(part.expr), stage.box) for part in stage.parts)
    yield from ((accumulated(item), stage.counted(item)) for item in stage.accumulations)
