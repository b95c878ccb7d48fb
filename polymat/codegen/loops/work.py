"""Estimated scalar operations of a stage, as C: what decides whether threads are worth it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Literal
from polymat.graph.operations import expression_operations
from polymat.graph.stage import Accumulation, Bounds, Stage
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import walk
from polymat.memo import remembered


def stage_work(stage: Stage, size: Callable[[Affine], CExpr], skip: int = 0) -> CExpr:
    """Operations of all its points (of the enclosing box), without the `skip` outermost dimensions."""
    terms = [box_points(stage.box, size, skip, operations(part.expr)) for part in stage.parts]
    terms += [box_points(stage.counted(a), size, skip, accumulated(a)) for a in stage.accumulations]
    return reduce(partial(CBinary, "+"), terms)


def accumulated(item: Accumulation) -> int:
    """Operations of one point of a sum, with those that its place is computed by."""
    return operations(item.expr) + sum(operations(atom.value) for atom in computed_in(item.target))


@remembered
def operations(expr: Expr) -> int:
    """Operations of one point: loads and arithmetic count one, functions as `graph.operations` says."""
    return 1 + int(expression_operations(expr)) + sum(isinstance(node, Load) for node in walk(expr))


def box_points(box: Bounds, size: Callable[[Affine], CExpr], skip: int = 0, each: int = 1) -> CExpr:
    """Points of a box without its `skip` outermost dimensions, each counted so many times."""
    product: CExpr = Literal(f"{float(each)}")
    for low, high in box[skip:]:
        product = CBinary("*", product, CCall("_pm_extent", (size(high - low + 1),)))
    return product
