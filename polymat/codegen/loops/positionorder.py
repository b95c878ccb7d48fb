"""What comes before what among elements of which an extreme is looked for: NaN before all others."""

from __future__ import annotations

from polymat.codegen.c.ctree import CBinary, CExpr, CUnary
from polymat.codegen.c.shorthand import all_of
from polymat.graph.stage import Stage
from polymat.lang.reduction import Op


def is_better(stage: Stage, value: CExpr, best: CExpr) -> CExpr:
    """Whether a value takes the place of the best one so far: not where it is equal, nor that is NaN."""
    return all_of(better_where(stage, value, best))


def better_where(stage: Stage, value: CExpr, best: CExpr) -> tuple[CExpr, ...]:
    """Comparisons that all hold where a value is better: of floating-point numbers two."""
    smaller = stage.operation is Op.Min
    if stage.dtype.kind != "f":
        return (CBinary("<" if smaller else ">", value, best),)
    no_worse = CBinary("<=" if smaller else ">=", best, value)
    return CUnary("!", no_worse), CBinary("==", best, best)
