"""Estimated scalar operations of a stage, as C: what decides whether threads are worth it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import prod

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Literal
from polymat.graph.pointwork import counted_boxes
from polymat.graph.stage import Bounds, Stage
from polymat.lang.affine import Affine


def stage_work(stage: Stage, size: Callable[[Affine], CExpr], skip: int = 0) -> CExpr:
    """Operations of all its points (of the enclosing box), without the `skip` outermost dimensions."""
    alike = Counter[Bounds]()
    for each, box in counted_boxes(stage):
        alike[box] += each
    terms = [box_points(box, size, skip, each) for box, each in alike.items()]
    return total_of(terms)


def total_of(terms: Sequence[CExpr]) -> CExpr:
    """The sum of real numbers; 0 of none."""
    return reduce(partial(CBinary, "+"), terms) if terms else Literal("0.0")


def box_points(box: Bounds, size: Callable[[Affine], CExpr], skip: int = 0, each: int = 1) -> CExpr:
    """Points of a box without its `skip` outermost dimensions, each counted so many times."""
    return times_extents(each, [high - low + 1 for low, high in box[skip:]], size)


def times_extents(number: float, extents: Sequence[Affine], size: Callable[[Affine], CExpr]) -> CExpr:
    """A number times extents, as a real number: those that are constant are multiplied with it here."""
    known = prod(max(0, extent.const) for extent in extents if extent.is_constant)
    product: CExpr = Literal(f"{float(number * known)}")
    for extent in extents:
        if not extent.is_constant:
            product = CBinary("*", product, CCall("_pm_extent", (size(extent),)))
    return product
