"""Where the ranges of products are cut for threads, of rows alone and of rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Literal
from polymat.codegen.loops.nestfunction import NestFunction, RangeGrid
from polymat.lang.affine import Affine
from polymat.plan.kernel import KernelPlan
from polymat.product.contraction import Contraction
from polymat.product.shares import beside_each, unit_of, work_across


def laid_out(
    nest: NestFunction, plan: KernelPlan, along: Sequence[str | None], size: Callable[[Affine], CExpr]
) -> NestFunction:
    """The nest of a product with where its ranges are cut: between whole register blocks of rows.

    Where threads share its rows and its columns, between whole vectors of columns as well; of complex ones
    each is two real columns.  size: a form over the sizes in C.
    """
    found, blocks = plan.contraction, plan.blocks
    if plan.across is None or tuple(along) != (plan.parallel, plan.across):
        return replace(nest, block=blocks.rows if tuple(along[:1]) == (found.rows,) else 1)
    dims = (plan.parallel, plan.across)
    reals = [2 if plan.pairs and dim == found.columns else 1 for dim in dims]
    units = [unit_of(found, dim, blocks.rows, blocks.lanes) for dim in dims]
    first, second = (max(1, unit // real) for unit, real in zip(units, reals, strict=True))
    high, wide = (_each(found, dim, float(real), size) for dim, real in zip(dims, reals, strict=True))
    return replace(nest, block=first, grid=RangeGrid(work_across(found, plan.across), second, high, wide))


def _each(found: Contraction, dim: str | None, reals: float, size: Callable[[Affine], CExpr]) -> CExpr:
    """Rows or columns that a point of a dimension stands for; reals: those of real values, of one of them."""
    extents: list[CExpr] = [
        CCall("_pm_extent", (size(found.extent(other)),)) for other in beside_each(found, dim)
    ]
    factors = extents if reals == 1.0 and extents else [Literal(f"{reals!r}"), *extents]
    return reduce(lambda product, other: CBinary("*", product, other), factors)
