"""Running sums, products and extremes of whole arrays along a dimension: each reads the one before it.

before:  A.cumsum(axis=1)
after:   f(i, 0) = A(i, 0);  f(i, j) = f(i, j - 1) + A(i, j)
"""

from __future__ import annotations

from typing import Any

from polymat.lang import later
from polymat.lang.algebra import Result, fresh_variables, merged_sizes, names_in, span
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast
from polymat.lang.expr import binary
from polymat.lang.function import Case, Source
from polymat.lang.reducing import dimension_of
from polymat.lang.types import computed_with, summed_type
from polymat.lang.whole import makers_of

OPERATIONS = {"cumsum": "+", "cumprod": "*", "minimum.accumulate": "min", "maximum.accumulate": "max"}


@later.running.given
def running(source: Source, method: str, axis: Any, dtype: Any = None) -> Result:
    """The elements up to each one, added up, say; integers in 64 bits, where no type is given."""
    op, elements = OPERATIONS[method], source if dtype is None else source.astype(dtype)
    along = dimension_of(elements, method, axis)
    found = summed_type(elements.dtype) if op in ("+", "*") else computed_with(elements.dtype)
    kind = found if dtype is None else elements.dtype
    sizes, at = merged_sizes(elements), fresh_variables(elements.rank, names_in((elements,)))
    spans = [span(extent, sizes) for extent in elements.shape]
    stage: Result = makers_of((elements,)).computed((at, spans), kind)
    here, before = (
        Cast(kind, elements(*at)),
        stage(*(each - 1 if k == along else each for k, each in enumerate(at))),
    )
    first, others = Condition(at[along], "==", 0), Condition(at[along], ">=", 1)
    stage.defn = [Case(first, here), Case(others, binary(op, before, here))]
    stage.text = f"{source.label}.{method}({'' if axis is None else f'axis={axis}'})"
    return stage
