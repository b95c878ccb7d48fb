"""The width of tiles whose innermost loop goes across the rows of arrays, found at run time."""

from __future__ import annotations

from collections.abc import Callable

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, CUnary, Declare, Literal
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.lang.affine import Affine
from polymat.model.associativity import rows_kept
from polymat.plan.tileloops import Crossing

WIDTH = "_pm_width"


def declare_width(crossing: Crossing, size: Callable[[Affine], CExpr]) -> Declare:
    """The variable of that name: `associativity.rows_that_stay` of every array, and `most` at most."""
    way = crossing.cache.sets * crossing.cache.line_bytes
    width: CExpr = Literal(str(crossing.most))
    for factor, extents in crossing.apart:
        apart: CExpr = Literal(str(factor))
        for extent in extents:
            apart = CBinary("*", apart, size(extent))
        power: CExpr = CBinary("&", apart, CUnary("-", apart))
        power = CCall(MAX_I64.function, (power, Literal(str(crossing.cache.line_bytes))))
        power = CCall(MIN_I64.function, (power, Literal(str(way))))
        rows = CBinary("/", Literal(str(rows_kept(crossing.cache) * way)), power)
        width = CCall(MIN_I64.function, (width, rows))
    return Declare("const ptrdiff_t", WIDTH, width)
