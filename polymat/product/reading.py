"""Products of few rows or few columns whose large operand is read where it is, and when these are taken.

The conditions are written down once, here: generated code asks the same at run time, before it multiplies and
where it prices a product (`polymat.codegen.products.reading`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod
from typing import Literal

from polymat.graph.monomials import Factor
from polymat.product.access import Access, access_of
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction, reach
from polymat.product.inequality import Inequality, all_hold

FEW_STRIPS = 4  # of rows
READ_PANELS = 2  # of columns
GROUP = 16  # panels that are requested together
LEAST_DEPTH = 16
WAYS = 16  # lines that share a set of the second level

# m, n: all rows and columns; width: columns of a segment; k: the depth; strips and panels of rows x columns,
# of vectors of `lanes`; kc: the deepest block; small: elements that the second level holds; sets: in one of
# its ways, of lines as far apart as steps of the depth.
DEEP = (Inequality(("k",), ">=", (LEAST_DEPTH,)), Inequality(("k",), "<=", ("kc",)))
# Steps of the depth find place in the second level twice: their lines may share sets of it.
SPREAD = Inequality((2, "k"), "<=", (WAYS, "sets"))
BESIDE_ROWS = (
    Inequality(("strips",), ">", (1,)),
    Inequality(("strips",), "<=", (FEW_STRIPS,)),
    Inequality(("width",), ">=", ("columns",)),
    Inequality(("k", "n"), ">", (2, "small")),
    Inequality((4, "rows", "strips", "k"), "<=", ("small",)),
)
BESIDE_COLUMNS = (
    Inequality(("panels",), "<=", (READ_PANELS,)),
    Inequality(("width",), ">", ("lanes",)),
    Inequality(("k", "m"), ">", (2, "small")),
    Inequality((4, "columns", "panels", "k"), "<=", ("small",)),
)

Reading = Literal["right", "left"]


def reading(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> Reading | None:
    """The operand that is read where it is beside few rows ("right") or columns ("left"), if one is."""
    access = access_of(found)
    m, n, k = (found.length(dim, estimates) for dim in (found.rows, found.columns, found.depth))
    all_m, all_n = (
        length * prod(found.length(dim, estimates) for dim in more)
        for length, more in ((m, found.more_rows), (n, found.more_columns))
    )
    strips, panels = ceil(m / blocks.rows) * (all_m / max(m, 1.0)), ceil(n / blocks.columns)
    values = {"m": all_m, "n": all_n, "width": n, "k": k, "strips": strips, "panels": panels}
    values |= {"rows": blocks.rows, "columns": blocks.columns, "lanes": blocks.lanes}
    values |= {"kc": blocks.kc, "small": blocks.small}
    if not all_hold(DEEP, values):
        return None
    if Access.FEW_ROWS in access and all_hold(BESIDE_ROWS, values):
        return "right" if _spreads(k, _step(found.right, found, estimates), blocks) else None
    if Access.FEW_COLUMNS in access and all_hold(BESIDE_COLUMNS, values):
        return "left" if _spreads(k, _step(found.left, found, estimates), blocks) else None
    return None


def group_columns(n: float, k: float, blocks: Blocks) -> int:
    """Columns of a segment of n that are requested together, where B of depth k is read beside few rows."""
    panels = max(1, ceil(n / blocks.columns))
    most = min(GROUP, max(3, int(blocks.small / 4 / (k * blocks.columns))))
    return min(ceil(panels / ceil(panels / most)) * blocks.columns, ceil(n))


def _step(factor: Factor, found: Contraction, estimates: Mapping[str, int]) -> int:
    """Elements between neighbours along the depth, of an array no larger than what is read of it."""
    lengths = {dim: found.length(dim, estimates) for dim in found.bounds}
    position = next(at for at, form in enumerate(factor.indices) if form.coefficient(found.depth))
    within = prod(reach(form, lengths) for form in factor.indices[position + 1 :])
    return int(within * abs(factor.indices[position].coefficient(found.depth)))


def _spreads(k: float, step: int, blocks: Blocks) -> bool:
    power = step & -step
    return SPREAD.holds({"k": k, "sets": max(1, blocks.small // WAYS // max(power, 1))})
