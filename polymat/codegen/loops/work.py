"""Estimated scalar operations of a stage, as C: what decides whether threads are worth it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Literal
from polymat.graph.pointwork import counted_boxes
from polymat.graph.stage import Bounds, Stage
from polymat.lang.affine import Affine


def stage_work(stage: Stage, size: Callable[[Affine], CExpr], skip: int = 0) -> CExpr:
    """Operations of all its points (of the enclosing box), without the `skip` outermost dimensions."""
    terms = [box_points(box, size, skip, each) for each, box in counted_boxes(stage)]
    return reduce(partial(CBinary, "+"), terms)


def box_points(box: Bounds, size: Callable[[Affine], CExpr], skip: int = 0, each: int = 1) -> CExpr:
    """Points of a box without its `skip` outermost dimensions, each counted so many times."""
    product: CExpr = Literal(f"{float(each)}")
    for low, high in box[skip:]:
        product = CBinary("*", product, CCall("_pm_extent", (size(high - low + 1),)))
    return product
